"""Directives of plans as functions from one program (schedule tree) to the next, each checked for legality."""
