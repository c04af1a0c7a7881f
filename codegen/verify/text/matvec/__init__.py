"""Printed matrix-vector products: the kernel lane by lane, and the block that calls it."""
