"""Integer expressions with uninterpreted functions: sums of atoms with integer coefficients.

An atom is a name (tuple variable or symbolic constant), a call of an uninterpreted function, a floor division or
remainder by a literal, a product of two expressions, the code of several numbers, or a number read back from a code.
poly.py expands products; nothing else solves through them.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Union

from codegen.record import record


@record
class Name:
    """A tuple variable or a symbolic constant."""

    id: str

    def __hash__(self) -> int:
        return hash(show(self))


@record
class Call:
    """An uninterpreted function at some arguments; in C an array element."""

    id: str
    args: tuple["Exp", ...]

    def __hash__(self) -> int:
        return hash(show(self))


@record
class Div:
    """Floor division by a positive literal."""

    of: "Exp"
    by: int

    def __hash__(self) -> int:
        return hash(show(self))


@record
class Mod:
    """Remainder of floor division by a positive literal."""

    of: "Exp"
    by: int

    def __hash__(self) -> int:
        return hash(show(self))


@record
class Prod:
    """A product of two expressions that are not constant."""

    left: "Exp"
    right: "Exp"

    def __hash__(self) -> int:
        return hash(show(self))


@record
class Code:
    """Numbers from 0 up to their `extents` as one: their bits interleaved, bit b of all before bit b + 1 of any, the
    last number's lowest. Each has as many bits as its extent needs, so that other numbers have another code."""

    args: tuple["Exp", ...]
    extents: tuple["Exp", ...]

    def __hash__(self) -> int:
        return hash(show(self))


@record
class Decoded:
    """Number `at` of those whose code is `of`."""

    of: "Exp"
    at: int
    extents: tuple["Exp", ...]

    def __hash__(self) -> int:
        return hash(show(self))


Atom = Union[Name, Call, Div, Mod, Prod, Code, Decoded]


@record
class Exp:
    """The sum of `terms` and `const`; terms are sorted, without zero coefficients."""

    terms: tuple[tuple[Atom, int], ...] = ()
    const: int = 0

    def __add__(self, other: "Exp | int") -> "Exp":
        other = lift(other)
        total = dict(self.terms)
        for atom, c in other.terms:
            total[atom] = total.get(atom, 0) + c
        return make(total, self.const + other.const)

    def __sub__(self, other: "Exp | int") -> "Exp":
        return self + lift(other) * -1

    def __mul__(self, factor: int) -> "Exp":
        return make({a: c * factor for a, c in self.terms}, self.const * factor)

    def __str__(self) -> str:
        return text(self)

    def __hash__(self) -> int:
        return hash(text(self))


def make(terms: Mapping[Atom, int], const: int) -> Exp:
    """The normal form: equal sums are equal objects."""
    kept = [(a, c) for a, c in terms.items() if c]
    return Exp(tuple(sorted(kept, key=lambda t: (show(t[0]), t[1]))), const)


def num(value: int) -> Exp:
    return Exp((), value)


def var(name: str) -> Exp:
    return Exp(((Name(name), 1),), 0)


def atom(a: Atom) -> Exp:
    return Exp(((a, 1),), 0)


def call(function: str, *args: Exp | int) -> Exp:
    return atom(Call(function, tuple(lift(a) for a in args)))


def lift(value: Exp | int) -> Exp:
    return num(value) if isinstance(value, int) else value


def product(left: Exp, right: Exp) -> Exp:
    if not left.terms:
        return right * left.const
    if not right.terms:
        return left * right.const
    return atom(Prod(left, right))


def div(of: Exp, by: int) -> Exp:
    """of div by, folded where the coefficients allow it."""
    if by == 1:
        return of
    if not of.terms:
        return num(of.const // by)
    if of.const % by == 0 and all(c % by == 0 for _, c in of.terms):
        return Exp(tuple((a, c // by) for a, c in of.terms), of.const // by)
    return atom(Div(of, by))


def mod(of: Exp, by: int) -> Exp:
    if by == 1:
        return num(0)
    return atom(Mod(of, by)) if of.terms else num(of.const % by)


def single(e: Exp) -> Atom | None:
    """The atom when the expression is just that."""
    return e.terms[0][0] if e.const == 0 and len(e.terms) == 1 and e.terms[0][1] == 1 else None


def as_name(e: Exp) -> str | None:
    a = single(e)
    return a.id if isinstance(a, Name) else None


def as_call(e: Exp) -> Call | None:
    a = single(e)
    return a if isinstance(a, Call) else None


def show(a: Atom) -> str:
    """An atom as text; kept with the object, since order and hashes ask for it all the time."""
    kept = a.__dict__.get("_text")
    if kept is None:
        kept = a.__dict__["_text"] = _shown(a)
    return str(kept)


def _shown(a: Atom) -> str:
    if isinstance(a, Name):
        return a.id
    if isinstance(a, Call):
        return f"{a.id}({', '.join(text(x) for x in a.args)})"
    if isinstance(a, Prod):
        return f"{_factor(a.left)}*{_factor(a.right)}"
    if isinstance(a, (Code, Decoded)):
        extents = ", ".join(text(x) for x in a.extents)
        if isinstance(a, Decoded):
            return f"DECODE{a.at}[{extents}]({text(a.of)})"
        return f"INTERLEAVE[{extents}]({', '.join(text(x) for x in a.args)})"
    return f"{_factor(a.of)} {'div' if isinstance(a, Div) else 'mod'} {a.by}"


def _factor(e: Exp) -> str:
    return text(e) if isinstance(single(e), (Name, Call)) else f"({text(e)})"


def text(e: Exp) -> str:
    """As the descriptor language writes it."""
    kept = e.__dict__.get("_text")
    if kept is None:
        kept = e.__dict__["_text"] = _sum(e)
    return str(kept)


def _sum(e: Exp) -> str:
    out = ""
    for a, c in sorted(e.terms, key=lambda t: t[1] < 0):
        body = show(a) if abs(c) == 1 else f"{abs(c)}*{_grouped(a)}"
        sign = "-" if c < 0 else "+"
        out += (f" {sign} " if out else "-" if c < 0 else "") + body
    if e.const or not out:
        sign = "-" if e.const < 0 else "+"
        out += f" {sign} {abs(e.const)}" if out else str(e.const)
    return out


def _grouped(a: Atom) -> str:
    return f"({show(a)})" if isinstance(a, (Div, Mod, Prod)) else show(a)
