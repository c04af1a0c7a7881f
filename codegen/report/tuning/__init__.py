"""The page about a search for plans: how it went, and what it ended with."""
