"""Passes over finished text: repeated parts, names, lines that are too long, `#line`, C++."""
