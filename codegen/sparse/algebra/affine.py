"""Decides with isl whether affine constraints imply another one (`implied`, False where nobody can tell) and whether
they have a solution (`possible`, True where nobody can tell).

isl knows sums, floor division and remainders by literals. Everything else (an element of an index array, a product of
two unknowns, a code) is one more unknown integer: equal texts are equal values, and codes and what is read back from
them are not negative; nothing more is known of them.
"""
from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import islpy as isl

from codegen.sparse.algebra.expr import Atom, Code, Decoded, Div, Exp, Mod, show
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.algebra.terms import atoms

Facts = tuple[Constraint, ...]


def implied(facts: Iterable[Constraint], c: Constraint) -> bool:
    """Does the constraint hold wherever all facts do? False also where nobody can tell."""
    return _implied(tuple(facts), c)


def possible(facts: Iterable[Constraint]) -> bool:
    """Is there anything that all facts allow? True also where nobody can tell."""
    return not _empty(tuple(facts))


@lru_cache(maxsize=4096)
def _implied(facts: Facts, c: Constraint) -> bool:
    if c in facts or (not c.exp.terms and (c.exp.const == 0 or (c.exp.const > 0 and not c.equal))):
        return True
    below = _empty((*facts, Constraint(c.exp * -1 - 1)))
    return below and (not c.equal or _empty((*facts, Constraint(c.exp - 1))))


def _empty(facts: Facts) -> bool:
    unknown: dict[str, str] = {}
    conds = [f"{_text(c.exp, unknown)} {'=' if c.equal else '>='} 0" for c in facts]
    codes = {show(a) for c in facts for a in atoms(c.exp) if isinstance(a, (Code, Decoded))}
    conds += [f"{unknown[x]} >= 0" for x in sorted(codes & unknown.keys())]
    return bool(isl.Set(f"{{ [{', '.join(unknown.values())}] : {' and '.join(conds) or '1 = 1'} }}").is_empty())


def _text(e: Exp, unknown: dict[str, str]) -> str:
    return " + ".join([*(f"{c}*{_atom(a, unknown)}" for a, c in e.terms), str(e.const)])


def _atom(a: Atom, unknown: dict[str, str]) -> str:
    if isinstance(a, Div):
        return f"floor(({_text(a.of, unknown)})/{a.by})"
    if isinstance(a, Mod):
        of = _text(a.of, unknown)
        return f"({of} - {a.by}*floor(({of})/{a.by}))"
    return unknown.setdefault(show(a), f"x{len(unknown)}")
