"""Devices: the targets `cuda`, `hip` and `opencl`. A region becomes kernels and a launcher that calls them."""
