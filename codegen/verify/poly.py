"""Polynomials with integer coefficients over named quantities: the normal form of printed integer arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Union


class Unread(Exception):
    """The text is not what this reader knows."""


Monomial = tuple[str, ...]  # sorted names, one for each factor
Number = Union["Poly", int]


class Poly:
    """A sum of monomials. Immutable; equal sums are equal objects to `==` and to dictionaries."""

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = terms
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __add__(self, other: Number) -> Poly:
        terms = dict(self.terms)
        for m, c in poly(other).terms.items():
            total = terms.get(m, 0) + c
            if total:
                terms[m] = total
            else:
                del terms[m]
        return Poly(terms)

    __radd__ = __add__

    def __neg__(self) -> Poly:
        return Poly({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Number) -> Poly:
        return self.less(1, poly(other), 1)

    def less(self, scale: int, other: Poly, times: int) -> Poly:
        """So many times this less so many times another, in one step."""
        terms = dict(self.terms) if scale == 1 else {m: c * scale for m, c in self.terms.items()}
        for m, c in other.terms.items():
            total = terms.get(m, 0) - c * times
            if total:
                terms[m] = total
            else:
                del terms[m]
        return Poly(terms)

    def __rsub__(self, other: Number) -> Poly:
        return -self + other

    def __mul__(self, other: Number) -> Poly:
        if isinstance(other, int):
            return Poly({m: c * other for m, c in self.terms.items()} if other else {})
        terms: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                key = tuple(sorted(m + n)) if m and n else m or n
                terms[key] = terms.get(key, 0) + c * d
        return Poly({m: c for m, c in terms.items() if c})

    __rmul__ = __mul__

    @property
    def number(self) -> int | None:
        """Its value where it is a constant."""
        return 0 if not self.terms else self.terms[()] if len(self.terms) == 1 and () in self.terms else None

    @property
    def names(self) -> frozenset[str]:
        return frozenset(x for m in self.terms for x in m)

    @property
    def constant(self) -> int:
        return self.terms.get((), 0)

    def over(self, divisor: Poly) -> Poly | None:
        """The quotient by a polynomial of one term, where nothing is left over."""
        q, r = self.divided(divisor)
        return q if not r.terms else None

    def divided(self, divisor: Poly) -> tuple[Poly, Poly]:
        """Quotient and rest by a polynomial of one term: the rest holds the terms that it does not divide. Unread for
        others."""
        if len(divisor.terms) != 1:
            raise Unread(f"a division by {divisor}")
        ((by, factor),) = divisor.terms.items()
        q: dict[Monomial, int] = {}
        r: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            left = list(m)
            fits = c % factor == 0
            for x in by:
                if x in left:
                    left.remove(x)
                else:
                    fits = False
            if fits:
                q[tuple(left)] = c // factor
            else:
                r[m] = c
        return Poly(q), Poly(r)

    def part(self, name: str) -> Poly:
        """What a name is multiplied with; it must not occur in a higher power."""
        return self.divided(var(name))[0]

    def __str__(self) -> str:
        def term(m: Monomial, c: int) -> str:
            return "*".join([*([str(c)] if c != 1 or not m else []), *m])

        return " + ".join(term(m, c) for m, c in sorted(self.terms.items())) or "0"

    __repr__ = __str__


def poly(x: Number) -> Poly:
    return x if isinstance(x, Poly) else Poly({(): x} if x else {})


def var(name: str) -> Poly:
    return Poly({(name,): 1})


def total(parts: Iterable[Poly]) -> Poly:
    result = ZERO
    for p in parts:
        result = result + p
    return result


ZERO, ONE = poly(0), poly(1)
