"""What a walk over the region knows at a point of it, and what it leaves behind."""
