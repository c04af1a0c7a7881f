"""Synthesis of conversions: from two descriptors to a chain of steps."""
