"""Local copies in a core's own memory, and the transfers that fill and empty them."""
