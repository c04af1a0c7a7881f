"""Parameters of a region: which there are, when they may be read, and what is assumed of them."""
