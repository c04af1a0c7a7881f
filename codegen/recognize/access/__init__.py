"""How accesses behave: strides, extents, invariants, reuse, the C types of what they read."""
