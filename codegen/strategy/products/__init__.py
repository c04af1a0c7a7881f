"""Products: which statements become blocked matrix products, panels and sweeps, and in which blocks."""
