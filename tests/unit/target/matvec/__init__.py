"""Matrix-vector products as text."""
