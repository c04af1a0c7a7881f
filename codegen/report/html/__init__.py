"""The report as one HTML page: what the template needs, as plain values, and how it is found."""
