"""What names stand for: arrays, members, pointers and where they come from."""
