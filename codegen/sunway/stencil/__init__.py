"""Time steps on tiles that stay in local memory."""
