"""From pycparser's tree to the polyhedral model (`Scop`) of a region."""
