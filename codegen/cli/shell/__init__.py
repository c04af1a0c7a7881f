"""What shells and build systems ask the command: completions, the manual page, tables."""
