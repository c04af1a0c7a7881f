"""The walk over statements: loops, branches, jumps, bodies."""
