"""Recognizes copy loops: X(p) = Y(p) for every position p becomes a block copy."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codegen.sparse.algebra.expr import Exp, as_call
from codegen.sparse.algebra.terms import names, subst
from codegen.sparse.ir.model import Computation, Copy, Loop, Step
from codegen.sparse.ir.nest import Guard, Let, Tick
from codegen.sparse.ir.statement import Store


def copies(c: Computation, numbered: Mapping[str, Exp]) -> Computation:
    """`numbered`: loop variables that take every value from 0 up to a count once, and that count."""
    steps: list[Step] = []
    log: list[str] = []
    for s in c.steps:
        copy = _copy(s, numbered)
        steps.append(copy or s)
        if copy:
            log.append(f"{copy.target}: an identity, copied as a block")
    return replace(c, steps=tuple(steps), log=(*c.log, *log))


def _copy(s: Step, numbered: Mapping[str, Exp]) -> Copy | None:
    if not isinstance(s, Loop) or len(s.body) != 1 or any(isinstance(x, (Guard, Tick)) for x in s.nest):
        return None
    (store,) = s.body
    if not isinstance(store, Store) or store.op != "=" or store.index is None:
        return None
    values = _expanded(s)
    source = as_call(subst(store.value, values))
    index = subst(store.index, values)
    if source is None or "[]" in source.id or source.args != (index,) or len(index.terms) != 1 or index.const:
        return None
    (v,) = names(index) if len(names(index)) == 1 else ("",)
    return Copy(store.target, source.id, numbered[v]) if v in numbered and str(index) == v else None


def _expanded(s: Loop) -> dict[str, Exp]:
    out: dict[str, Exp] = {}
    for x in s.nest:
        if isinstance(x, Let):
            out[x.var] = subst(x.value, out)
    return out


