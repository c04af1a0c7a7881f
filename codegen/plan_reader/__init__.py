"""Plans as text, read against a region: every word is checked, and every error says where it is."""
