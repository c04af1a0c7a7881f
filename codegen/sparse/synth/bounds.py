"""Returns the lowest and highest value of an expression over dense coordinates (None if unknown), and sizes and
row-major indices of a format's arrays."""
from __future__ import annotations

from collections.abc import Mapping

from codegen.sparse.algebra.expr import Call, Code, Div, Exp, Mod, Name, div, num, product
from codegen.sparse.algebra.relation import Relation
from codegen.sparse.algebra.terms import coefficient, rewrite, solve
from codegen.sparse.formats.model import Descriptor

Bounds = tuple[Exp, Exp]


def bounds(e: Exp, coords: Mapping[str, Exp]) -> Bounds | None:
    """Lowest and highest value where coordinate x runs from 0 to coords[x] - 1; None when that is not known."""
    low = high = num(e.const)
    for a, c in e.terms:
        inside = _atom(a, coords)
        if inside is None:
            return None
        low, high = low + inside[c < 0] * c, high + inside[c > 0] * c
    return low, high


def _atom(a: object, coords: Mapping[str, Exp]) -> Bounds | None:
    if isinstance(a, Name) and a.id in coords:
        return num(0), coords[a.id] - 1
    if isinstance(a, Mod):
        return num(0), num(a.by - 1)
    if isinstance(a, Div):
        inside = bounds(a.of, coords)
        return (div(inside[0], a.by), div(inside[1], a.by)) if inside else None
    return None


def extents(domain: Relation) -> tuple[Exp, ...]:
    """Elements along each argument of a function: upper bound + 1; lower bounds are 0."""
    out = []
    for v in domain.ins:
        tops = [solve(c.exp, Name(v)) for c in domain.cons if not c.equal and coefficient(c.exp, Name(v)) == -1]
        top = next((t for t in tops if t is not None), None)
        out.append(top + 1 if top is not None else num(0))
    return tuple(out)


def volume(sizes: tuple[Exp, ...]) -> Exp:
    out = sizes[0]
    for s in sizes[1:]:
        out = product(out, s)
    return out


def linear(sizes: tuple[Exp, ...], args: tuple[Exp, ...]) -> Exp:
    """The index of an element in row-major order."""
    out = args[0]
    for s, a in zip(sizes[1:], args[1:], strict=True):
        out = product(s, out) + a
    return out


def data_size(d: Descriptor, tops: Mapping[str, Exp]) -> Exp:
    """How many values there are: the access at the end of every range, plus one. `tops`: last value of a variable."""
    return rewrite(d.access, lambda a: tops.get(a.id) if isinstance(a, Name) else None) + 1


def is_key(e: Exp) -> bool:
    """MORTON, a code or a user's key: no integer of known bounds."""
    return any(isinstance(a, (Call, Code)) for a, _ in e.terms)
