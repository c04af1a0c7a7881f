"""Proofs that a format descriptor determines the arrays of its format."""
