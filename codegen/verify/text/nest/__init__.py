"""Kernels of products in a given order of loops, for sizes that are numbers: run on symbols, and what they cover."""
