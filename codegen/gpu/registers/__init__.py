"""How many registers a thread of a kernel takes: its operations, and a count of the values that are live among them."""
