"""Proofs that read printed C back: what templates print is parsed again, and its subscripts, bounds and buffers are
proven for symbolic sizes. Nothing here knows how a template came to its text."""
