"""Products whose panels rows and columns of cores share: what the tree asks for, and their text."""
