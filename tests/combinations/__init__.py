"""Every target with every technique, and every two techniques in one file."""
