"""Evaluates an integer expression in Python at given values of its names; KeyError for a name without a value, and for
uninterpreted functions."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.sparse.algebra.expr import Call, Code, Decoded, Div, Exp, Mod, Name, Prod


def evaluate(e: Exp, values: Mapping[str, int]) -> int:
    """KeyError for a name without a value."""
    total = e.const
    for a, c in e.terms:
        if isinstance(a, Name):
            total += c * values[a.id]
        elif isinstance(a, Prod):
            total += c * evaluate(a.left, values) * evaluate(a.right, values)
        elif isinstance(a, (Div, Mod)):
            of = evaluate(a.of, values)
            total += c * (of // a.by if isinstance(a, Div) else of % a.by)
        elif isinstance(a, Code):
            total += c * interleaved([evaluate(x, values) for x in a.args], [evaluate(x, values) for x in a.extents])
        elif isinstance(a, Decoded):
            total += c * decoded(evaluate(a.of, values), [evaluate(x, values) for x in a.extents])[a.at]
        else:
            assert isinstance(a, Call)
            raise KeyError(a.id)
    return total


def code_bits(extents: Sequence[int]) -> list[tuple[int, int]]:
    """Which number and which bit of it each bit of a code is, the lowest first."""
    widths = [max(n - 1, 0).bit_length() for n in extents]
    return [(d, b) for b in range(max(widths, default=0)) for d in reversed(range(len(widths))) if b < widths[d]]


def interleaved(numbers: Sequence[int], extents: Sequence[int]) -> int:
    """The code of numbers that lie below their extents."""
    return sum((numbers[d] >> b & 1) << at for at, (d, b) in enumerate(code_bits(extents)))


def decoded(code: int, extents: Sequence[int]) -> list[int]:
    """The numbers of a code."""
    out = [0] * len(extents)
    for at, (d, b) in enumerate(code_bits(extents)):
        out[d] |= (code >> at & 1) << b
    return out
