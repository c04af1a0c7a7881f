"""Printed loops, conditions and statements, read beside the proven tree."""
