"""Kernels on sparse operands from index notation: products, sums, triangular solves."""
