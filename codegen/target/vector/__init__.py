"""Loops in vectors, and values that stay in registers, as text."""
