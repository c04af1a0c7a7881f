"""Feasibility of linear constraints on printed integers, asked of isl.

Polynomials are taken as linear in their monomials, minima and maxima as what they are; any other operation, and a
product of names, may have any value. So the answer "never" is sure, and the other one says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import gcd

import islpy as isl

from codegen.verify.poly import Monomial, Poly, var
from codegen.verify.text.facts import Facts

Linear = tuple[tuple[int, int], ...]  # coefficients by number of the unknown, 0 is the number 1


def never(conditions: Sequence[Poly], facts: Facts) -> bool:
    """Are these never all at least 0, as far as is known of their names?"""
    chosen: dict[str, tuple[Poly, ...]] = {}
    about = dict.fromkeys(_reached(conditions, facts, chosen))
    number = {m: k for k, m in enumerate([(), *about])}
    lines = [_linear(p, number) for p in conditions]
    choices = []
    for name, args in chosen.items():
        sign = -1 if facts.defined[name].op == "min" else 1
        lines += [_linear((var(name) - a) * sign, number) for a in args]
        choices.append(tuple(_linear((a - var(name)) * sign, number) for a in args))
    lines += [c[0] for c in choices if len(c) == 1]
    several = tuple(c for c in choices if len(c) > 1)
    # Mostly it follows from what names mean, and then the same from case to case.
    if _empty(len(number), tuple(lines), several):
        return True
    known = [_linear(f, number) for f in facts.known if number.keys() >= f.terms.keys()]
    return _empty(len(number), (*lines, *known), several)


def _reached(polys: Iterable[Poly], facts: Facts, chosen: dict[str, tuple[Poly, ...]]) -> Iterator[Monomial]:
    """All monomials of polynomials, and of what their names stand for; names that are one of several values, with
    these, are added to `chosen`."""
    for p in polys:
        for m in filter(None, p.terms):
            yield m
            d = facts.defined.get(m[0]) if len(m) == 1 else None
            if d is not None and d.op in ("min", "max", "is") and m[0] not in chosen:
                chosen[m[0]] = d.args
                yield from _reached(d.args, facts, chosen)


def _linear(p: Poly, number: Mapping[Monomial, int]) -> Linear:
    return tuple((c, number[m]) for m, c in p.terms.items())


@cache
def _empty(size: int, lines: tuple[Linear, ...], choices: tuple[tuple[Linear, ...], ...]) -> bool:
    """Is there no point where lines are at least 0, and of each choice one?"""
    lines, choices = _in_units(size, lines, choices)
    names = [f"x{k}" for k in range(1, size)]
    return _none_in(isl.BasicSet(f"{{ [{', '.join(names)}] : {' and '.join(map(_text, lines))} }}"), names, choices)


def _in_units(
    size: int, lines: tuple[Linear, ...], choices: tuple[tuple[Linear, ...], ...]
) -> tuple[tuple[Linear, ...], tuple[tuple[Linear, ...], ...]]:
    """With multiples of unknowns as unknowns where nothing else of them occurs. There may be more points then, and they
    are quicker to find."""
    unit = [0] * size
    for line in (*lines, *(x for c in choices for x in c)):
        for c, k in line:
            unit[k] = gcd(unit[k], c)
    unit[0] = 1

    def scaled(line: Linear) -> Linear:
        return tuple((c // unit[k], k) for c, k in line)

    return tuple(map(scaled, lines)), tuple(tuple(map(scaled, c)) for c in choices)


def _none_in(some: isl.BasicSet, names: Sequence[str], choices: Sequence[tuple[Linear, ...]]) -> bool:
    """Choices are taken apart only where a point is found that none of their values fits."""
    point = some.sample_point()
    if point.is_void():
        return True
    at = [1, *(point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(len(names)))]
    for one in choices:
        if all(sum(c * at[x] for c, x in line) < 0 for line in one):
            parts = (isl.BasicSet(f"{{ [{', '.join(names)}] : {_text(line)} }}") for line in one)
            return all(_none_in(some.intersect(p), names, choices) for p in parts)
    return False


def _text(line: Linear) -> str:
    return " + ".join(f"{c} x{k}" if k else str(c) for c, k in line) + " >= 0"
