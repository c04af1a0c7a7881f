"""Sparse formats as descriptors, conversions between them synthesised, kernels over any of them."""
