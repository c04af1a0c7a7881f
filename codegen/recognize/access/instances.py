"""How often statements run at given sizes (`instances`), and how many of their runs need the value before (`updates`).

Points of a set are counted one by one, which takes too long for large ones. For most nests their number is a polynomial
of the sizes: it is found from small ones on the line to the sizes asked for, and tried on one more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import islpy as isl

from codegen.machine.believable import Work
from codegen.scop.isl_helpers import val
from codegen.scop.model import Scop, Statement

STEP = 8  # between the values of the smallest size, where sizes differ
SMALL = 4  # the first size, where all are equal
COUNTED = 2_000_000  # points of a box that are counted; about a second


def updates(scop: Scop, sizes: Mapping[str, int]) -> Work:
    """Updates of floating-point elements, which no compiler leaves out: each needs the value that it changes. What
    could not be counted is not in it."""
    total, least = 0, 8
    for s in scop.statements:
        if _updates(s, scop):
            total += instances(s, scop, sizes) or 0
            least = min(least, *(scop.arrays[a.array].elem.bytes for a in s.accesses))
    return Work(total, least)


def _updates(s: Statement, scop: Scop) -> bool:
    write = s.accesses[s.target]
    own = any(a.array == write.array and not a.partial and a.relation.is_equal(write.relation) for a in s.reads)
    return own and not scop.arrays[write.array].elem.is_int


def fixed(set_: isl.Set, params: Mapping[str, int]) -> isl.Set:
    """A set with values for parameters."""
    for k in range(set_.dim(isl.dim_type.param)):
        name = set_.get_dim_name(isl.dim_type.param, k)
        if name is not None and name in params:
            set_ = set_.fix_val(isl.dim_type.param, k, val(params[name]))
    return set_


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
