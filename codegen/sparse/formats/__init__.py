"""Descriptors of sparse formats: built in, read from files, and checked."""
