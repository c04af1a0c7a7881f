"""Targets: the interface that each kind of generated code implements, and the list of those there are."""
