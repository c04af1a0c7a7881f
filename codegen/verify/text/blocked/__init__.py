"""Blocked products, read back from their text."""
