"""Vector instruction sets as data: how each lane operation is written in C."""
