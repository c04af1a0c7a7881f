"""The sizes at which a region is run, and the elements that it touches there."""
