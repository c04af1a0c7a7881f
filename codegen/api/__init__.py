"""The tool as a Python library; the public names are those of `codegen` itself, see docs/python.md."""
