"""Child processes: one function with limits, and many one after another."""
