"""Pointers of the region as subscripts of the arrays they point into."""
