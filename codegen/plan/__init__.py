"""Plans: directives as types, and their text."""
