"""Copy elimination: a temporary that is copied whole into a result and then dropped becomes the result."""
from __future__ import annotations

from dataclasses import replace

from codegen.sparse.ir.model import Alloc, Computation, Copy, Free, Step
from codegen.sparse.ir.read_write_sets import reads, writes
from codegen.sparse.ir.walk import rename_array


def forward(c: Computation) -> Computation:
    while True:
        found = next((s for s in c.steps if isinstance(s, Copy) and _may(c, s)), None)
        if found is None:
            return c
        c = _without(c, found)


def _may(c: Computation, copy: Copy) -> bool:
    at = c.steps.index(copy)
    made = {s.array for s in c.steps if isinstance(s, Alloc)}
    if copy.source not in made or copy.source in c.live:
        return False
    before, after = c.steps[:at], c.steps[at + 1:]
    touched = any(copy.target in reads(s) | writes(s) for s in before if not isinstance(s, Alloc))
    changed = any(copy.target in writes(s) or copy.source in writes(s) for s in after)
    return not touched and not changed


def _without(c: Computation, copy: Copy) -> Computation:
    new: list[Step] = []
    for s in c.steps:
        if s == copy or (isinstance(s, Free) and s.array == copy.source):
            continue
        if isinstance(s, Alloc) and s.array == copy.target:
            continue
        new.append(rename_array(s, copy.source, copy.target))
    note = f"{copy.source} is {copy.target} itself"
    return replace(c, steps=tuple(new), log=(*c.log, note))
