"""`tilewright bench`: regions timed before and after, against what the machine can do."""
