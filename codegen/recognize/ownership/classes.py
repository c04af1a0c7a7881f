"""Partitions the blocks of a nest by which of their tile coordinates coincide (`classes`), where these move the same
subscript of an array: each class can have its own ownership answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product

import islpy as isl

from codegen.recognize.ownership.exact import blocks
from codegen.recognize.ownership.model import NestFrame, Reference
from codegen.record import record

Moving = Mapping[str, Sequence[int]]  # iterators of statements, by number


@record
class BlockClass:
    """The blocks for which `text` holds. An empty text means all blocks."""

    text: str
    blocks: isl.Set


def classes(frame: NestFrame) -> tuple[BlockClass, ...]:
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


def meet(refs: Sequence[Reference], one: Moving, other: Moving) -> bool:
    """Do two loops move the same subscript of an array? Then it matters where their coordinates coincide."""
    return bool(_moved(refs, one) & _moved(refs, other))


def _meeting(frame: NestFrame) -> list[tuple[int, int]]:
    """Pairs of tile coordinates of one size whose loops meet."""
    cut = {k: _moving(frame, c.of) for k, c in enumerate(frame.blocks) if c.size and c.of in _names(frame)}
    return [
        (y, x)
        for x, y in combinations(sorted(cut), 2)
        if frame.blocks[x].size == frame.blocks[y].size and meet(frame.references, cut[x], cut[y])
    ]


def _names(frame: NestFrame) -> list[str]:
    return [x.name for x in frame.inner]


def _moving(frame: NestFrame, loop: str) -> Moving:
    """The iterators that a loop steps through, by statement."""
    forms = frame.axis(loop).forms
    return {n: [k for k, x in enumerate(f.matrix[0]) if x] for n, f in forms.items() if f is not None}


def _moved(refs: Sequence[Reference], moving: Moving) -> set[tuple[str, int]]:
    """Arrays and dimensions whose subscripts change with these iterators."""
    return {
        (r.array, d)
        for r in refs
        if r.form is not None
        for d, row in enumerate(r.form.matrix)
        if any(row[k] for k in moving.get(r.stmt, ()))
    }


def _compared(space: isl.Space, x: int, y: int, same: bool) -> isl.Set:
    total = isl.Set.universe(space)
    local = isl.LocalSpace.from_space(space)
    a, b = (isl.Aff.var_on_domain(local, isl.dim_type.set, k) for k in (x, y))
    equal = a.eq_set(b)
    return total.intersect(equal) if same else total.subtract(equal)
