"""Loop flattening: a nest over segments that uses only the position becomes one loop over all positions."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codegen.sparse.algebra.expr import Exp, num
from codegen.sparse.ir.counting import Count
from codegen.sparse.ir.model import Computation, Loop, Step
from codegen.sparse.ir.nest import For, Let, Nest
from codegen.sparse.ir.read_write_sets import bound, reads


def flatten(c: Computation, numbered: Mapping[str, Exp]) -> Computation:
    """`numbered`: loop variables that take every value from 0 up to a count once, and that count."""
    steps: list[Step] = []
    log: list[str] = []
    for s in c.steps:
        nest = _flat(s.nest, reads(replace(s, nest=())), numbered) if isinstance(s, (Loop, Count)) else None
        if nest is None or not isinstance(s, (Loop, Count)):
            steps.append(s)
        else:
            steps.append(replace(s, nest=nest))
            log.append(f"one loop over all positions: {s.note}")
    return replace(c, steps=tuple(steps), log=(*c.log, *log))


def _flat(nest: Nest, used: frozenset[str], numbered: Mapping[str, Exp]) -> Nest | None:
    loops = [n for n, x in enumerate(nest) if isinstance(x, For)]
    if len(loops) < 2:
        return None
    last = nest[loops[-1]]
    assert isinstance(last, For)
    inner = nest[loops[-1] + 1:]
    if last.var not in numbered or not all(isinstance(x, Let) for x in inner):
        return None
    outer = bound(nest[:loops[-1]])
    if outer & (used | frozenset().union(*(reads(x) for x in inner))):
        return None
    return (For(last.var, num(0), numbered[last.var]), *inner)
