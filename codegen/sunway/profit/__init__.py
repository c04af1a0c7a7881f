"""What a region takes on the compute cores and on the management core, without running anything."""
