"""Lowering of the C tree before it is proven: vectors, unroll-and-jam, reductions, scalar replacement, hoisting."""
