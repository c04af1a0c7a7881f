"""Stencils in three dimensions whose tiles are marched along the first axis, several time steps at once."""
