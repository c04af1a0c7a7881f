"""Loops of threads whose operands a block copies to shared memory together: matrix times vector, sums of rows."""
