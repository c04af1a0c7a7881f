"""Loop fusion: neighbouring loops over the same nest become one, where no iteration needs another's result."""
from __future__ import annotations

from dataclasses import replace

from codegen.sparse.algebra.expr import Exp
from codegen.sparse.algebra.terms import calls
from codegen.sparse.ir.model import Computation, Copy, Loop, Step, Sweep
from codegen.sparse.ir.read_write_sets import reads, writes
from codegen.sparse.ir.statement import Stmt, Store
from codegen.sparse.ir.walk import expressions


def fuse(c: Computation) -> Computation:
    """Every legal fusion; a loop may move up past steps that it has nothing to do with."""
    steps: list[Step] = []
    log: list[str] = []
    for s in c.steps:
        at = _partner(steps, s)
        if at is None:
            steps.append(s)
            continue
        first = steps[at]
        assert isinstance(first, Loop) and isinstance(s, Loop)
        steps[at] = _both(first, s)
        log.append(f"fused: {s.note} with {first.note}")
    return replace(c, steps=tuple(steps), log=(*c.log, *log))


def _both(a: Loop, b: Loop) -> Loop:
    """One loop that does what two did; `b` goes second."""
    marks = {(x.grouped, x.follow) for x in (a, b) if x.grouped is not None}
    grouped, follow = next(iter(marks)) if len(marks) == 1 else (None, False)
    if any(x.carried and x.grouped is None for x in (a, b)):
        grouped, follow = None, False  # what is carried by all iterations is not carried by groups alone
    carried = a.carried or b.carried or len(marks) > 1
    return Loop(a.nest, (*a.body, *b.body), _note(a.note, b.note), carried, grouped=grouped, follow=follow)


def _note(first: str, second: str) -> str:
    return first if second in first.split("; ") else f"{first}; {second}"


def _partner(steps: list[Step], s: Step) -> int | None:
    if not isinstance(s, Loop):
        return None
    for at in range(len(steps) - 1, -1, -1):
        other = steps[at]
        if isinstance(other, Loop) and other.nest == s.nest and legal(other, s):
            return at
        if not independent(other, s) or not isinstance(other, (Loop, Copy, Sweep)):
            return None
    return None


def independent(a: Step, b: Step) -> bool:
    return not (writes(a) & (reads(b) | writes(b)) or writes(b) & reads(a))


def legal(a: Loop, b: Loop) -> bool:
    """What one writes the other touches only at the same element in the same iteration."""
    shared = (writes(a) & (reads(b) | writes(b))) | (writes(b) & reads(a))
    return all(_same_element(a.body, b.body, name) for name in shared)


def _same_element(a: tuple[Stmt, ...], b: tuple[Stmt, ...], name: str) -> bool:
    places = {s.index for s in (*a, *b) if isinstance(s, Store) and s.target == name}
    if not all(isinstance(s, Store) for s in (*a, *b)) or len(places) != 1:
        return False
    (index,) = places
    return index is not None and all(args == (index,) for args in _read_at((*a, *b), name))


def _read_at(body: tuple[Stmt, ...], name: str) -> list[tuple[Exp, ...]]:
    return [k.args for e in expressions(body) for k in calls(e) if k.id == name]
