"""Tilewright: C with marked loop nests in, proven, tiled, parallel C out."""

__version__ = "0.1.0"
