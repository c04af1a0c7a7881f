"""What ranks will take, and what they send each other: counted from the sets, timed by the description of a network."""
