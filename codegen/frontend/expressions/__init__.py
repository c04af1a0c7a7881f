"""C expressions as affine functions and polynomials, with C's types."""
