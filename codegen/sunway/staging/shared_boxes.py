"""Decides which references to an array share one local copy, says why an array cannot be moved by DMA, and tests
whether anybody else writes into a box while a kernel runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import islpy as isl

from codegen.scop.model import Array, Scop
from codegen.sunway.staging.boxes import Lines, joined, lines, widths
from codegen.sunway.staging.footprint import BoxUse, elements, fed
from codegen.verify.readback import StatementRun

# Read-only references share a buffer when the box around both is no larger than their boxes by this factor.
SHARE = 1.1


def unfit(array: Array, uses: Sequence[BoxUse]) -> str:
    """Why an array cannot be moved by DMA; empty if it can."""
    if array.rank == 0:
        return "it is a single value"
    if array.elem.kind not in ("float", "int") or array.elem.bytes < 4:
        return "its elements are no multiple of 4 bytes"
    if array.depth > 1:
        return "its rows lie anywhere"
    for u in uses:
        if u.access.array == array.name and any(s.kind not in ("sub", "flat") and not s.count for s in u.access.path):
            return "it is reached through a pointer or a member"
    return ""


def gathered(
    scop: Scop, flow: isl.UnionMap, uses: list[BoxUse], runs: Sequence[StatementRun], depth: int, context: isl.Set
) -> list[list[BoxUse]]:
    """References that must share a buffer: all writes, and the reads that see them. Others may.

    A read that meets a written element but takes the value from before is right with a copy of its own: the
    order of the tree has it before the write, and the copy is made before either."""
    writes = [u for u in uses if u.write]
    found: list[list[BoxUse]] = []
    rest = [u for u in uses if not u.write]
    if writes:
        written = union([u.elements for u in writes])
        meets = [
            u
            for u in rest
            if _own(u, writes)
            or (not u.elements.is_disjoint(written) and fed(scop, flow, u, writes, runs, depth))
        ]
        found.append([*writes, *meets])
        rest = [u for u in rest if u not in meets]
    reads: list[tuple[list[BoxUse], Lines]] = []
    for u in rest:
        own = lines(u.elements, context)
        for k, (g, theirs) in enumerate(reads):
            both = joined(theirs, own)
            if _share(theirs, own, both):
                reads[k] = [*g, u], both
                break
        else:
            reads.append(([u], own))
    return found + [g for g, _ in reads]


def _own(u: BoxUse, writes: Sequence[BoxUse]) -> bool:
    """Is it the read of `x += ...`, or of an element that the same instance writes?"""
    mine = u.run.instance
    return any(w.run.instance is mine and mine.accesses[w.number] == mine.accesses[u.number] for w in writes)


def _share(group: Lines, more: Lines, together: Lines) -> bool:
    one, other = widths(group), widths(more)
    both = one and other and widths(together)
    if one is None or other is None or both is None:
        return one is None and other is None
    mine, theirs, joint = map(prod, (one, other, both))
    return joint <= SHARE * max(mine, theirs) + 64 or joint <= mine + theirs


def nobody_else_writes(scop: Scop, part: isl.Set, writes: Sequence[BoxUse], bound: Sequence[str], outer: int) -> bool:
    """Does no other core write into this part of a box? Cores differ in the variables of the `bound` loops; the `outer`
    loops around the kernel are the same for all."""
    for w in writes:
        if not all(v in w.run.point.vars for v in bound):
            return False
        theirs = elements(scop, w.run, w.number, len(w.run.point.vars))
        for v in w.run.point.vars[outer:]:
            theirs = renamed(theirs, v, v + "_other")
        for v in bound:
            meet = part.intersect(theirs)
            if not meet.intersect_params(differ(meet.get_space(), v, v + "_other")).is_empty():
                return False
    return True


def untouched(scop: Scop, members: Sequence[BoxUse], writes: Sequence[BoxUse], depth: int) -> bool:
    """Does nobody write these elements while the kernel runs?"""
    theirs = [elements(scop, w.run, w.number, depth) for w in writes]
    mine = [elements(scop, u.run, u.number, depth) for u in members]
    return all(w.is_disjoint(m) for w in theirs for m in mine)


def union(sets: Sequence[isl.Set]) -> isl.Set:
    total = sets[0]
    for s in sets[1:]:
        total = total.union(s)
    return total.coalesce()


def renamed(s: isl.Set, old: str, new: str) -> isl.Set:
    """With another name for a parameter, if it has it."""
    pos = s.find_dim_by_name(isl.dim_type.param, old)
    return s.set_dim_name(isl.dim_type.param, pos, new) if pos >= 0 else s


def differ(space: isl.Space, a: str, b: str) -> isl.Set:
    """Parameters a and b are different."""
    space = space.params()
    names = [space.get_dim_name(isl.dim_type.param, k) for k in range(space.dim(isl.dim_type.param))]
    texts = ", ".join(n for n in names if n)
    return isl.Set.read_from_str(space.get_ctx(), f"[{texts}] -> {{ : {a} < {b} or {a} > {b} }}")
