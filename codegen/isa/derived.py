"""Tables of vector operations as expressions of other operations, for instruction sets that lack an instruction:
`derived` maps each operation of an element type (min, ge, fmin, neg, wrap8, ...) to a `Lane` in x and y.

Exact for every type in the table. `scop/lanes.py` defines `Lane`."""

from __future__ import annotations

from functools import cache

from codegen.isa.model import bits_of, is_float
from codegen.scop.lanes import Lane

X, Y = Lane("x"), Lane("y")


def _op(name: str, *args: Lane) -> Lane:
    return Lane(name, args)


def number(value: int) -> Lane:
    """A literal in every lane."""
    return Lane("number", (), value)


_ANY = {
    "min": _op("select", _op("lt", X, Y), X, Y),
    "max": _op("select", _op("gt", X, Y), X, Y),
    "anymin": _op("min", X, Y),
    "anymax": _op("max", X, Y),
    "gt": _op("lt", Y, X),
    "ge": _op("le", Y, X),
    "ne": _op("mnot", _op("eq", X, Y)),
}
_FLOAT = {
    "le": _op("mor", _op("lt", X, Y), _op("eq", X, Y)),
    # Of one NaN, min and max return y: right when x is the NaN, so only y needs a look.
    "fmin": _op("select", _op("ne", Y, Y), X, _op("min", X, Y)),
    "fmax": _op("select", _op("ne", Y, Y), X, _op("max", X, Y)),
    "nan": _op("ne", X, X),
    "nought": _op("mnot", _op("mor", _op("lt", X, number(0)), _op("lt", number(0), X))),
}
_INT = {
    "neg": _op("sub", number(0), X),
    "not": _op("xor", X, number(-1)),
    "le": _op("mnot", _op("lt", Y, X)),
}


def _wrap(bits: int, signed: bool, elem: str) -> Lane:
    if bits >= bits_of(elem):
        return X
    low = _op("and", X, number((1 << bits) - 1))
    sign = number(1 << (bits - 1))
    return _op("sub", _op("xor", low, sign), sign) if signed else low


@cache
def derived(elem: str) -> dict[str, Lane]:
    """What can be composed for this type, as functions of x and y."""
    if is_float(elem):
        return {**_ANY, **_FLOAT}
    wraps = {f"wrap{'' if s else 'u'}{n}": _wrap(n, s, elem) for n in (8, 16) for s in (True, False)}
    return {**_ANY, **_INT, **wraps}
