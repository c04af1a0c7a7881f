"""A preprocessor of C that runs in this process and opens no file, for text that nobody may trust."""
