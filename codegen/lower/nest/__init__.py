"""Contractions in exactly the loop order of a tree: registers, vectors and unrolling are chosen here."""
