"""Facts read off the syntax tree: names, declared types, members, calls, jumps."""
