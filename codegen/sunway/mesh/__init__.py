"""Panels that rows and columns of cores share."""
