"""What single techniques for nests look for, and the directives they propose."""
