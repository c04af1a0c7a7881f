"""`check`: the original and the result are compiled, run on the same memory, and compared."""
