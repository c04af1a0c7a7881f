"""What orders and tiles cost, and whether a change pays: estimates from the processor's description."""
