"""Elements that the next iterations of a loop use again: the reason to keep them in variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import islpy as isl

from codegen.recognize.strides import coefficients, move
from codegen.scop.model import Access, Array, Scop, Statement
from codegen.scop.tree import Band, Loop, statements

AGE = 4  # iterations that it may take


def reused(scop: Scop, band: Band, around: Sequence[Loop]) -> bool:
    """Does an innermost loop read what an iteration shortly before it has read or written?"""
    uses = [(s, a) for n in statements(band) for s in (scop.statement(n),) for a in s.accesses]
    return any(_ages(scop, around, read, use) for read in uses if not read[1].write for use in uses if use is not read)


def worth_keeping(array: Array) -> bool:
    """Elements of arrays, and variables that a store elsewhere might change as far as a compiler knows: it keeps the
    function's own variables in registers itself."""
    number = array.elem.kind in ("int", "float") and "_Complex" not in array.elem.spelling
    return number and not array.inside and (array.rank > 0 or array.place == "global")


Use = tuple[Statement, Access]


def _ages(scop: Scop, around: Sequence[Loop], read: Use, use: Use) -> bool:
    """Was the element that is read now touched by the other access in one of the last iterations?"""
    if read[1].array != use[1].array or not worth_keeping(scop.arrays[read[1].array]):
        return False
    steps = move(scop, read[0], read[1], around, len(around) - 1).steps
    apart = list(_apart(read, use))
    if steps is None or any(x is None for x in apart):
        return False
    return any(all(x == -m * age for x, m in zip(apart, steps, strict=True)) for age in range(1, AGE + 1))


def _apart(read: Use, use: Use) -> Iterator[Fraction | None]:
    """By how much the subscripts differ, for each dimension; None where that is no constant."""
    (s, a), (t, b) = read, use
    for k in range(a.index.dim(isl.dim_type.out)):
        x, y = a.index.get_pw_aff(k), b.index.get_pw_aff(k)
        same = len(s.iterators) == len(t.iterators) and coefficients(x, len(s.iterators)) is not None
        if not same or coefficients(x, len(s.iterators)) != coefficients(y, len(t.iterators)):
            yield None
            continue
        one, other = (v.get_pieces()[0][1] for v in (x, y))
        n = one.dim(isl.dim_type.param)
        alike = n == other.dim(isl.dim_type.param) and all(
            one.get_coefficient_val(isl.dim_type.param, d).eq(other.get_coefficient_val(isl.dim_type.param, d))
            for d in range(n)
        )
        c, e = one.get_constant_val(), other.get_constant_val()
        yield Fraction(c.get_num_si() - e.get_num_si()) if alike else None
