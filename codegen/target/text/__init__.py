"""C as text: expressions, statements, names, long lines, `#line`, templates."""
