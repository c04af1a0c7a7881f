"""What `inspect` and `scan` print: text, headers and pages."""
