"""Where things stand in a text: lines, columns, declarations, statements, found without a parser."""
