"""Stencils on tiles that overlap: several iterations of the loop over time in one launch."""
