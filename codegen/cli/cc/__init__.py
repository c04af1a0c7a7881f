"""Command lines of compilers, one by one and from a compilation database."""
