"""C text of conversions: structs, steps, threads, checks."""
