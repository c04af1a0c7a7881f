"""Proofs of the printed kernels of core groups (Sunway): local memory, DMA, vectors, barriers."""
