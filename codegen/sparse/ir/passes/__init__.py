"""Optimization passes over the steps of a conversion: fusion, flattening, copy elimination, dead code."""
