"""Variables of which every iteration can have its own: private, lastprivate and expanded ones."""
