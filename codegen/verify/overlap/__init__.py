"""The run-time overlap test, read back: which memory it compares, and which it has to compare."""
