"""Blocked products as text: packing, edges, register kernels."""
