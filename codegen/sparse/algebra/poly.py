"""Turns an index expression with products and exact divisions into a polynomial over names with rational coefficients,
None where it is no such thing; adds, multiplies and substitutes polynomials, for the proofs of prove/access.py."""
from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product as every

from codegen.sparse.algebra.expr import Call, Code, Decoded, Div, Exp, Mod, Name, num, product, var

Monomial = tuple[str, ...]  # names, sorted; a square has its name twice
Poly = Mapping[Monomial, Fraction]


def poly_of(e: Exp) -> dict[Monomial, Fraction] | None:
    """None where an element of an array, a code, a remainder or a division that may not come out even is inside."""
    out: dict[Monomial, Fraction] = {(): Fraction(e.const)}
    for a, c in e.terms:
        part: Poly | None
        if isinstance(a, Name):
            part = {(a.id,): Fraction(1)}
        elif isinstance(a, (Call, Mod, Code, Decoded)):
            return None
        elif isinstance(a, Div):
            of = poly_of(a.of)
            part = {m: f / a.by for m, f in of.items()} if of is not None else None
            if part is None or not _whole(part):
                return None
        else:
            left, right = poly_of(a.left), poly_of(a.right)
            part = times(left, right) if left is not None and right is not None else None
        if part is None:
            return None
        out = plus(out, part, c)
    return out


def plus(p: Poly, q: Poly, factor: int | Fraction = 1) -> dict[Monomial, Fraction]:
    out = dict(p)
    for m, c in q.items():
        out[m] = out.get(m, Fraction(0)) + c * factor
    return {m: c for m, c in sorted(out.items()) if c}


def times(p: Poly, q: Poly) -> dict[Monomial, Fraction]:
    out: dict[Monomial, Fraction] = {}
    for (m, c), (n, d) in every(p.items(), q.items()):
        key = tuple(sorted((*m, *n)))
        out[key] = out.get(key, Fraction(0)) + c * d
    return {m: c for m, c in sorted(out.items()) if c}


def substituted(p: Poly, name: str, value: Poly) -> dict[Monomial, Fraction]:
    """The polynomial with a polynomial in place of a name."""
    out: dict[Monomial, Fraction] = {}
    for m, c in p.items():
        term: dict[Monomial, Fraction] = {tuple(x for x in m if x != name): c}
        for _ in range(m.count(name)):
            term = times(term, value)
        out = plus(out, term)
    return out


def names_of(p: Poly) -> frozenset[str]:
    return frozenset(x for m in p for x in m)


def scaled(p: Poly) -> Exp:
    """The expression of a positive multiple of the polynomial, which has the same sign everywhere."""
    common = 1
    for c in p.values():
        common = common * c.denominator
    out = num(0)
    for m, c in p.items():
        term = num(1)
        for x in m:
            term = product(term, var(x))
        out = out + term * int(c * common)
    return out


def _whole(p: Poly) -> bool:
    """Is it an integer at all integers? So many points in a row decide that, one more than the degree in each name."""
    free = sorted(names_of(p))
    degree = {x: max(m.count(x) for m in p) for x in free}
    for values in every(*(range(degree[x] + 1) for x in free)):
        at = dict(zip(free, values, strict=True))
        total = Fraction(0)
        for m, c in p.items():
            for x in m:
                c *= at[x]
            total += c
        if total.denominator != 1:
            return False
    return True
