"""Plans for core groups: which loops run on the cores, tile sizes, who owns which data."""
