"""Evaluates an integer expression in Python at given values of its names; KeyError for a name without a value, and for
uninterpreted functions."""
from __future__ import annotations

from collections.abc import Mapping

from codegen.sparse.algebra.expr import Call, Div, Exp, Mod, Name, Prod


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
        else:
            assert isinstance(a, Call)
            raise KeyError(a.id)
    return total
