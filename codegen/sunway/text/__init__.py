"""The words of kernels: views, types and names of locals, and the two spellings of commands."""
