"""C for exactly the loop order of a tree, in the registers and vectors that were chosen for it."""
