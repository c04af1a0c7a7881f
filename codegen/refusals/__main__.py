"""Prints the text of docs/refusals.md to standard output: `python -m codegen.refusals`."""

from __future__ import annotations

import sys

from codegen.refusals.table import markdown

sys.stdout.write(markdown())
