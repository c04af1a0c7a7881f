"""Tests of the typed representation of generated code, and what tests of it share."""
