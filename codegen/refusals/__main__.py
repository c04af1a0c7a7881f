"""Prints docs/refusals.md."""

from __future__ import annotations

import sys

from codegen.refusals.table import markdown

sys.stdout.write(markdown())
