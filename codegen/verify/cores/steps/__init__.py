"""Tiles in local memory that take many time steps at once: what the model says of them, and their text."""
