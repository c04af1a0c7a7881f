"""Which plan a region gets: techniques in one table, each tried in turn, and recorded with the reason where it lost."""
