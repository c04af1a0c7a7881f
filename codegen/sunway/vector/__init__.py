"""Nests of a kernel in vectors."""
