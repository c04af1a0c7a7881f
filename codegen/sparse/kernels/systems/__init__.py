"""Triangular systems: by rows, where rows wait for one another, and by columns."""
