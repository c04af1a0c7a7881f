"""Launches: what every core runs, who waits for whom, tiles that stay, and arguments."""
