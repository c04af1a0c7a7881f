"""Proofs of lowered loops: vectors, unrolled rows, reductions, scalar replacement."""
