"""Every message id of the tool: what it means and what to do. docs/refusals.md is made from this table:

python -m codegen.refusals > docs/refusals.md

    regions.py   refusals of regions
    errors.py    what must be mended
    remarks.py   warnings, notes, remarks, faults of the tool
    table.py     all of them, and the page
"""

from codegen.refusals.entry import FAMILIES, INPUT, INTERNAL, NOTE, REFUSAL, REMARK, WARNING, Entry
from codegen.refusals.table import TABLE, find, markdown, what_follows

__all__ = [
    "FAMILIES",
    "INPUT",
    "INTERNAL",
    "NOTE",
    "REFUSAL",
    "REMARK",
    "TABLE",
    "WARNING",
    "Entry",
    "find",
    "markdown",
    "what_follows",
]
