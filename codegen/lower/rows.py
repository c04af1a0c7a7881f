"""Interleaves the statements of unrolled iterations: each statement for all of them before the next statement, with
common loads shared."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import replace

from codegen.ast.ctree import Instance
from codegen.ast.lowered import (
    Backwards,
    Body,
    Braces,
    Do,
    InVariable,
    Item,
    One,
    Place,
    PutBoth,
    StoreValue,
    Value,
    Work,
)
from codegen.ast.normal_forms import forms
from codegen.lower.lane_accesses import Maker
from codegen.lower.shift import shifted
from codegen.lower.statements import Statements
from codegen.scop.expr import Affine, Gather, Ref, walk
from codegen.scop.model import Statement


def side_by_side(
    make: Maker, found: Statements, var: str, n: int, times: int = 1, alike: Collection[tuple[str, int]] = ()
) -> Body:
    """Each statement for `n` iterations of the loop `var`, and `times` vectors in each: all values first, so that the
    compiler may keep what they share. Reads in `alike` find the same value in all of them, so the first one's does."""

    def rows_of(s: Statement, at: Instance) -> list[Instance]:
        rows = [_sharing(s, at, shifted(at, var, k), alike) for k in range(n)]
        if make.lanes is not None:
            rows = [shifted(x, make.var, make.vectors(k)) for k in range(times) for x in rows]
        return rows

    out: list[Item] = []
    left = list(found)
    while left:
        (s, at), left = left[0], left[1:]
        rows = rows_of(s, at)
        order = make.pair((s, at), left[0]) if make.lanes is not None and left else None
        if order is not None:
            lines = _in_turn(make, ((s, rows), (left[0][0], rows_of(*left[0]))), order)
            left = left[1:]
            out.extend(lines if len(found) == 2 else (Braces(lines),))
            continue
        works = [make.work(s, x) for x in rows]
        if not make.apart(s, at) and (len(rows) == 1 or _stored_at_once(s, works)):
            out.extend(map(Do, works))
            continue
        values = [value_of(s, w) for w in works]
        own = [f"v.{values.index(v)}" for v in values]
        first = [k for k, v in enumerate(values) if values.index(v) == k]
        lines = (
            *(Value(own[k], works[k]) for k in first),
            *(StoreValue(w, name) for w, name in zip(works, own, strict=True)),
        )
        out.extend(lines if len(found) == 1 else (Braces(lines),))
    return tuple(out)


def _stored_at_once(s: Statement, works: list[Work]) -> bool:
    """Is there a vector to turn, and nothing in memory that two of the vectors share? Of all such values ahead of all
    stores gcc moves some from register to register. Neoverse N1, the update of durbin, 2000: 1.07 times as fast."""
    read = [p for w in works for k, p in enumerate(w.places) if k != s.target or s.op != "="]
    keys = [_key(p) for p in read if not isinstance(p, One) or p.at]
    return any(isinstance(p, Backwards) for p in read) and len(set(keys)) == len(keys)


def value_of(s: Statement, w: Work) -> Hashable:
    """What tells the value of a statement from that of another iteration: what it reads."""
    leaves = list(walk(s.rhs))
    reads = sorted({e.access for e in leaves if isinstance(e, (Ref, Gather))} | ({s.target} if s.op != "=" else set()))
    places = tuple(_key(w.places[k] if w.places else One(w.at.accesses[k])) for k in reads)
    return places, tuple(forms(w.at.values[e.value : e.value + 1]) for e in leaves if isinstance(e, Affine))


def _key(p: Place) -> Hashable:
    if isinstance(p, InVariable):
        return p.name
    nested = p.at if p.at and isinstance(p.at[0], tuple) else (p.at,)
    return type(p).__name__, tuple(forms(x) for x in nested), getattr(p, "places", ())  # type: ignore[arg-type]


def _in_turn(make: Maker, both: tuple[tuple[Statement, list[Instance]], ...], order: tuple[int, int]) -> Body:
    """Two statements whose elements lie in turn: the values of both, and whole vectors of them."""
    many = len(both[0][1])
    works = [[make.work(s, x) for x in rows] for s, rows in both]
    names = [[f"v.{many * k + r}" for r in range(many)] for k in (0, 1)]
    values = (Value(name, w) for k in (0, 1) for w, name in zip(works[k], names[k], strict=True))
    a, b = order
    return (*values, *(PutBoth(works[a][r], works[b][r], (names[a][r], names[b][r])) for r in range(many)))


def _sharing(s: Statement, first: Instance, at: Instance, alike: Collection[tuple[str, int]]) -> Instance:
    """An instance that reads some of what it reads where the first one does."""
    if not any(name == s.name for name, _ in alike):
        return at
    reads = ((first if (s.name, n) in alike else at).accesses[n] for n in range(len(at.accesses)))
    return replace(at, accesses=tuple(reads))
