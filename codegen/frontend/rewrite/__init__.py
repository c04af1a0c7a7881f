"""Rewriting passes over the syntax tree of a region before it is modelled: inlining, induction variables, pointers,
canonical loops."""
