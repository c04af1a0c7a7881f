"""What stands ahead of a region: tests that its model holds, parameters that are computed, memory of its own."""
