"""Solves a descriptor for its tuple variables and returns the `Layout`: what its constraints say about each variable,
seen from the dense coordinates; raises a located error where positions depend on one another.

A variable is resolved when equalities give it as a function of the coordinates; it is a position when an array or a
symbol bounds it, and then its key says which entries share one: the values of the functions at that position, and
what its parent is keyed on.
"""
from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from codegen.sparse.formats.model import Descriptor
from codegen.sparse.synth.members import members
from codegen.sparse.synth.model import Layout, Position, unsolved
from codegen.sparse.synth.order import order_of
from codegen.sparse.synth.resolve import position_of, resolve, segment_of, stairs


@lru_cache(maxsize=256)
def layout(d: Descriptor) -> Layout:
    resolved = resolve(d)
    done: list[Position] = [*stairs(d, resolved)]
    placed = {v for p in done for v in (p.var, p.at[0])}
    todo = [v for v in d.map.ins if v not in resolved and v not in placed]
    while todo:
        ready = [v for v in todo if not set(segment_of(d, v).above) & set(todo)]
        if not ready:
            raise unsolved(d, f"the positions {', '.join(todo)} depend on one another")
        done.append(position_of(d, ready[0], resolved, tuple(done)))
        todo.remove(ready[0])
    out = Layout(d, tuple(resolved.items()), tuple(done))
    out = replace(out, members=members(out))
    return replace(out, positions=tuple(replace(p, order=order_of(out, p)) for p in done))
