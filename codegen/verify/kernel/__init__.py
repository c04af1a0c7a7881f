"""Proofs about KernelIR: what a tree does, by symbolic execution of each loop for any of its iterations."""
