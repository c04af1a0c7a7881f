"""Analyses of a region: accesses, reductions, products, privatization, ownership. Facts only; nothing is decided
here."""
