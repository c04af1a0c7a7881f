"""Operation counts of a region at large sizes.

Points of a set are counted one by one, which takes too long for large ones. For most nests their number is a polynomial
of the sizes: it is found from small ones on the line to the sizes asked for, and tried on one more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import islpy as isl

from codegen.report.sample import fixed
from codegen.report.traffic import operations
from codegen.scop.model import Scop, Statement

STEP = 8  # between the values of the smallest size, where sizes differ
SMALL = 4  # the first size, where all are equal
COUNTED = 2_000_000  # points of a box that are counted; about a second


def region_operations(scop: Scop, sizes: Mapping[str, int]) -> dict[str, int]:
    """Operations of each statement; nothing for one whose instances could not be counted."""
    found = {}
    for s in scop.statements:
        n = instances(s, scop, sizes)
        if n is not None:
            found[s.name] = n * operations(s)
    return found


def instances(s: Statement, scop: Scop, sizes: Mapping[str, int]) -> int | None:
    """How often a statement runs. `sizes` are by the C text of parameters."""
    domain = s.domain.intersect_params(scop.context)
    values = {q.name: sizes[q.text] for q in scop.params if q.text in sizes}
    if len(values) < len(scop.params):
        return None
    here = _count(fixed(domain, values))
    return here if here is not None else _extrapolated(domain, values, len(s.iterators))


def _extrapolated(domain: isl.Set, values: Mapping[str, int], degree: int) -> int | None:
    equal = len(set(values.values())) == 1
    least = min(values.values())
    last = max(1, least - SMALL if equal else least // STEP)
    slope = {k: 1 if equal else v // last for k, v in values.items()}
    points = []
    for t in range(1, degree + 3):
        n = _count(fixed(domain, {k: v - (last - t) * slope[k] for k, v in values.items()}))
        if n is None:
            return None
        points.append((t, n))
    tried, known = points[-1], points[:-1]
    return int(_at(known, last)) if _at(known, tried[0]) == tried[1] else None


def _at(points: Sequence[tuple[int, int]], x: int) -> Fraction:
    """The polynomial through the points."""
    total = Fraction(0)
    for k, (a, value) in enumerate(points):
        part = Fraction(value)
        for b, _ in (*points[:k], *points[k + 1 :]):
            part *= Fraction(x - b, a - b)
        total += part
    return total


def _count(points: isl.Set) -> int | None:
    """None where there are too many."""
    if points.is_empty():
        return 0
    box = 1
    for d in range(points.dim(isl.dim_type.set)):
        if not points.dim_is_bounded(isl.dim_type.set, d):
            return None
        box *= int(points.dim_max_val(d).to_str()) - int(points.dim_min_val(d).to_str()) + 1
    return int(points.count_val().to_str()) if box <= COUNTED else None
