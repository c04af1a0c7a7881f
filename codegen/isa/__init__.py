"""Instruction sets as tables: one C pattern per lane operation and element type."""
