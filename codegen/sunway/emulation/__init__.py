"""Running and timing generated files without the machine."""
