"""Products: which statements become blocked matrix products, panels or matrix-vector products, and in which blocks."""
