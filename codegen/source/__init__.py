"""From bytes on disk to a parsed region, and from generated C back to bytes on disk."""
