"""How a region is called from outside: its memory, declarations, sizes, and the compiled cases."""
