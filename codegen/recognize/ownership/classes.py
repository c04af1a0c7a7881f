"""Blocks that answer differently: classes told apart by which of their coordinates coincide."""

from __future__ import annotations

from itertools import combinations, product

import islpy as isl

from codegen.recognize.ownership.exact import blocks
from codegen.recognize.ownership.model import Frame, Reference
from codegen.record import record


@record
class BlockClass:
    """The blocks for which `text` holds. An empty text means all blocks."""

    text: str
    blocks: isl.Set


def classes(frame: Frame) -> tuple[BlockClass, ...]:
    """All blocks, by which tile coordinates are equal: only those matter that meet in a subscript of some array."""
    every = blocks(frame)
    pairs = _meeting(frame)
    out = []
    for equal in product((True, False), repeat=len(pairs)):
        part = every
        for (x, y), same in zip(pairs, equal, strict=True):
            part = part.intersect(_compared(every.get_space(), x, y, same))
        if not part.is_empty():
            names = [(frame.blocks[x].name, frame.blocks[y].name) for x, y in pairs]
            text = " and ".join(f"{a} {'==' if e else '!='} {b}" for (a, b), e in zip(names, equal, strict=True))
            out.append(BlockClass(text, part))
    return tuple(out)


def _meeting(frame: Frame) -> list[tuple[int, int]]:
    """Pairs of tile coordinates of one size whose loops move the same subscript of an array."""
    where: dict[int, set[tuple[str, int]]] = {}
    for k, c in enumerate(frame.blocks):
        if c.size and any(x.name == c.of for x in frame.inner):
            where[k] = {(r.array, d) for r in frame.references for d in _moved(frame, r, c.of)}
    return [
        (y, x)
        for x, y in combinations(sorted(where), 2)
        if frame.blocks[x].size == frame.blocks[y].size and where[x] & where[y]
    ]


def _moved(frame: Frame, ref: Reference, loop: str) -> list[int]:
    row = frame.axis(loop).forms[ref.stmt]
    if row is None or ref.form is None:
        return []
    moving = {k for k, x in enumerate(row.matrix[0]) if x}
    return [d for d, r in enumerate(ref.form.matrix) if any(r[k] for k in moving)]


def _compared(space: isl.Space, x: int, y: int, same: bool) -> isl.Set:
    total = isl.Set.universe(space)
    local = isl.LocalSpace.from_space(space)
    a, b = (isl.Aff.var_on_domain(local, isl.dim_type.set, k) for k in (x, y))
    equal = a.eq_set(b)
    return total.intersect(equal) if same else total.subtract(equal)
