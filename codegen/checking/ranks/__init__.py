"""Results that several processes run together."""
