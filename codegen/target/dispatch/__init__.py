"""Versions of functions for instruction sets that programs ask for at run time."""
