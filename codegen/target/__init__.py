"""From a proven C tree to C text."""
