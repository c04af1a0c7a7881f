"""The C tree: what will be printed and what the proofs read back; made from the schedule tree by isl."""
