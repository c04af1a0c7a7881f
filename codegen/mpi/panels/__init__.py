"""Products in panels: operands in blocks come to ranks piece by piece, into buffers."""
