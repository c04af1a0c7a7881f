"""Operation counts of a region at large sizes."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.recognize.access.instances import instances
from codegen.report.traffic import operations
from codegen.scop.model import Scop


def region_operations(scop: Scop, sizes: Mapping[str, int]) -> dict[str, int]:
    """Operations of each statement; nothing for one whose instances could not be counted."""
    found = {}
    for s in scop.statements:
        n = instances(s, scop, sizes)
        if n is not None:
            found[s.name] = n * operations(s)
    return found
