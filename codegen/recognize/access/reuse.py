"""Temporal reuse, for scalar replacement: finds the reads of an innermost loop whose element one of the last four
iterations has read or written (`used_again`), or another statement of the iteration has written (`just_written`)."""

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
    body = [scop.statement(n) for n in statements(band)]
    uses: dict[Element, list[Access]] = {}
    for s in body:
        for a in s.accesses:
            if (place := _element(scop, s, a)) is not None:
                uses.setdefault(place, []).append(a)
    for s in body:
        for number, a in enumerate(s.accesses):
            element = None if a.write else _element(scop, s, a)
            steps = None if element is None else move(scop, s, a, around, len(around) - 1).steps
            if element is None or steps is None:
                continue
            for age in range(1, AGE + 1):
                if same := [u for u in uses.get(_ahead(element, steps, age), ()) if u is not a]:
                    yield Reuse(s.name, number, age, any(u.write for u in same))
                    break


def just_written(scop: Scop, body: Sequence[Statement]) -> Iterator[tuple[int, int, int]]:
    """The reads that find what another statement of the iteration has written: the position of the statement, of those
    before it the last that did so, and the number of the access."""
    writers: dict[Element, int] = {}
    for now, s in enumerate(body):
        for number, a in enumerate(s.accesses):
            element = None if a.write else _element(scop, s, a)
            if element in writers:
                yield now, writers[element], number
        written = _element(scop, s, s.accesses[s.target])
        if written is not None:
            writers[written] = now


def worth_keeping(array: Array) -> bool:
    """Elements of arrays, and variables that a store elsewhere might change as far as a compiler knows: it keeps the
    function's own variables in registers itself."""
    number = array.elem.kind in ("int", "float") and "_Complex" not in array.elem.spelling
    return number and not array.inside and (array.rank > 0 or array.place == "global")


# Coefficients of iterators, coefficients of parameters, and the constant: one subscript.
Subscript = tuple[tuple[Fraction, ...], tuple[Fraction, ...], Fraction]
Element = tuple[str, tuple[Subscript, ...]]


def _element(scop: Scop, s: Statement, a: Access) -> Element | None:
    """What an access touches in an iteration, to be compared and looked up: isl is asked once for an access, not once
    for a pair of them. None where a subscript is no linear form, or keeping the element is no gain."""
    if not worth_keeping(scop.arrays[a.array]):
        return None
    out = []
    for k in range(a.index.dim(isl.dim_type.out)):
        value = a.index.get_pw_aff(k)
        iterators = coefficients(value, len(s.iterators))
        if iterators is None:
            return None
        aff = value.get_pieces()[0][1]
        n = aff.dim(isl.dim_type.param)
        params = tuple(_fraction(aff.get_coefficient_val(isl.dim_type.param, d)) for d in range(n))
        out.append((tuple(iterators), params, _fraction(aff.get_constant_val())))
    return a.array, tuple(out)


def _ahead(element: Element, steps: Sequence[Fraction], age: int) -> Element:
    """The element that the same access touched so many iterations later, by how its subscripts move."""
    array, subscripts = element
    return array, tuple((i, p, c + m * age) for (i, p, c), m in zip(subscripts, steps, strict=True))


def _fraction(value: isl.Val) -> Fraction:
    return Fraction(value.get_num_si(), value.get_den_val().get_num_si())
