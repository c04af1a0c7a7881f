"""Loops in other forms: those that count, with other words or with other counters, and those that data end."""
