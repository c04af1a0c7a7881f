"""Sums of products: contractions, matrix-vector products, and the step that they repeat."""
