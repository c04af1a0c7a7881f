"""Conversions and kernels as Python functions on NumPy and SciPy arrays."""
