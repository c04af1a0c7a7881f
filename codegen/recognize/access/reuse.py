"""Elements that the next iterations of a loop use again: the reason to keep them in variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import islpy as isl

from codegen.recognize.access.strides import coefficients, move
from codegen.record import record
from codegen.scop.model import Access, Array, Scop, Statement
from codegen.scop.tree import Band, Loop, statements

AGE = 4  # iterations that it may take


@record
class Reuse:
    """A read of what another access touched `age` iterations before: access `number` of a statement."""

    stmt: str
    number: int
    age: int
    written: bool  # by a write: the value comes from there


def reused(scop: Scop, band: Band, around: Sequence[Loop]) -> bool:
    """Does an innermost loop read what an iteration shortly before it has read or written?"""
    return next(used_again(scop, band, around), None) is not None


def used_again(scop: Scop, band: Band, around: Sequence[Loop]) -> Iterator[Reuse]:
    """The reads of an innermost loop that find their element in one of the last iterations, each with the nearest."""
    uses = [(s, a) for n in statements(band) for s in (scop.statement(n),) for a in s.accesses]
    for s in (scop.statement(n) for n in statements(band)):
        for number, a in enumerate(s.accesses):
            if a.write:
                continue
            found = [(age, not u[1].write) for u in uses if u[1] is not a for age in (_age(scop, around, (s, a), u),)]
            best = min(((age, read) for age, read in found if age), default=None)
            if best is not None:
                yield Reuse(s.name, number, best[0], not best[1])


def just_written(scop: Scop, body: Sequence[Statement], now: int) -> Iterator[tuple[int, int]]:
    """The reads of a statement that find what another one of the iteration has written: which of the statements before
    it was the last to do so, and the number of the access."""
    for number, a in enumerate(body[now].accesses):
        if a.write or not worth_keeping(scop.arrays[a.array]):
            continue
        for before in reversed(range(now)):
            w = body[before]
            write = w.accesses[w.target]
            if write.array == a.array and all(x == 0 for x in _apart((body[now], a), (w, write))):
                yield before, number
                break


def worth_keeping(array: Array) -> bool:
    """Elements of arrays, and variables that a store elsewhere might change as far as a compiler knows: it keeps the
    function's own variables in registers itself."""
    number = array.elem.kind in ("int", "float") and "_Complex" not in array.elem.spelling
    return number and not array.inside and (array.rank > 0 or array.place == "global")


Use = tuple[Statement, Access]


def _age(scop: Scop, around: Sequence[Loop], read: Use, use: Use) -> int:
    """How many iterations ago the other access touched the element that is read now; 0 if not in one of the last."""
    if read[1].array != use[1].array or not worth_keeping(scop.arrays[read[1].array]):
        return 0
    steps = move(scop, read[0], read[1], around, len(around) - 1).steps
    apart = list(_apart(read, use))
    if steps is None or any(x is None for x in apart):
        return 0
    ages = range(1, AGE + 1)
    return next((age for age in ages if all(x == -m * age for x, m in zip(apart, steps, strict=True))), 0)


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
