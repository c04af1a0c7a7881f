"""Dead code elimination: removes names in nests, statements, arrays and symbols that nobody reads, until none is
left."""
from __future__ import annotations

from dataclasses import replace

from codegen.sparse.ir.counting import Count, Distinct, Scatter
from codegen.sparse.ir.model import Alloc, Computation, Define, Free, Loop, Step
from codegen.sparse.ir.nest import Let, Nest, Tick
from codegen.sparse.ir.read_write_sets import reads, writes
from codegen.sparse.ir.sorting import Radix
from codegen.sparse.ir.statement import Find, Stmt, Store


def prune(c: Computation) -> Computation:
    """Repeat until nothing more is dead."""
    while True:
        new = _names(_dead(c))
        if new.steps == c.steps:
            return new
        c = new


def _dead(c: Computation) -> Computation:
    used = frozenset().union(c.live, *(_needs(s) for s in c.steps))
    steps, log = [], []
    for s in c.steps:
        if isinstance(s, (Alloc, Free)) and s.array not in used:
            log += [f"{s.array} is never read"] if isinstance(s, Alloc) else []
        elif isinstance(s, Define) and s.name not in used:
            pass
        elif isinstance(s, Loop) and s.body and not writes(s) & used and all(isinstance(x, Store) for x in s.body):
            log.append(f"dead: {s.note}")
        else:
            steps.append(s)
    return replace(c, steps=tuple(steps), log=(*c.log, *log))


def _needs(s: Step) -> frozenset[str]:
    """What a step reads; that it writes an array again does not keep the array alive, unless it is read too."""
    return reads(s)


def _names(c: Computation) -> Computation:
    return replace(c, steps=tuple(_trimmed(s) for s in c.steps))


def _trimmed(s: Step) -> Step:
    if not isinstance(s, (Loop, Count, Distinct, Scatter, Radix)):
        return s
    if isinstance(s, (Loop, Scatter)):
        s = replace(s, body=_used_names(s.body))
    rest = replace(s, nest=())
    return replace(s, nest=used_levels(s.nest, reads(rest)))


def _used_names(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Without names for values that no later statement uses."""
    out: list[Stmt] = []
    used: frozenset[str] = frozenset()
    for x in reversed(body):
        if isinstance(x, (Let, Find)) and x.var not in used:
            continue
        used |= reads(x)
        out.append(x)
    return tuple(reversed(out))


def used_levels(nest: Nest, used: frozenset[str]) -> Nest:
    """Without names that neither the body nor a level further in uses."""
    out = []
    for level in reversed(nest):
        if isinstance(level, (Let, Tick)) and level.var not in used:
            continue
        used |= reads(level)
        out.append(level)
    return tuple(reversed(out))
