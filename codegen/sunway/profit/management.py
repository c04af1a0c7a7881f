"""Estimates the seconds that the management core takes for a region, or some of its statements, in the order of its
source.

For every innermost loop, per iteration: what has to be issued or waited for along a chain of values, and the lines that
come from beyond the first cache. A line is there where it was used last: the data that come by in between decide in
which cache. Loops are counted in the middle (middle.py); compiled code is taken to have no vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import islpy as isl

from codegen.machine import load as load_machine
from codegen.record import record
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import Loop
from codegen.strategy.cost.groups import GroupInRegion, StatementGroup, groups, in_region
from codegen.strategy.cost.traffic import Key, keys
from codegen.sunway.plan.cost import arithmetic
from codegen.sunway.plan.machine import ManagementCore
from codegen.sunway.profit.middle import TYPICAL
from codegen.transform.program import Program

L2_WIDE = 16.0  # bytes per cycle from the second cache, along lines that follow each other


def management_seconds(
    p: Program, core: ManagementCore, sizes: Mapping[str, int], only: frozenset[str] | None = None
) -> float:
    """For the whole region, or some statements of it, with parameters of these sizes."""
    machine = load_machine("generic")
    total = 0.0
    for g in groups(p.tree, (), ()):
        if only is not None and not only & set(g.names):
            continue
        c = in_region(p, machine, g)
        lengths = _lengths(p.scop, g, c.own, sizes)
        total += _group(replace(c, lengths=lengths), core, sizes)
    return total / core.clock_hz


def _lengths(
    scop: Scop, g: StatementGroup, own: Mapping[str, tuple[Loop, ...]], sizes: Mapping[str, int]
) -> tuple[float, ...]:
    """How often each loop around the statements runs, those outside it half through."""
    found = [_lengths_of(scop.statement(n), own[n], sizes) for n in g.names]
    return tuple(max(float(x[k]) for x in found) for k in range(len(g.around)))


def _lengths_of(s: Statement, around: Sequence[Loop], sizes: Mapping[str, int]) -> list[int]:
    values = s.domain
    for name, n in sorted(sizes.items()):
        at = values.find_dim_by_name(isl.dim_type.param, name)
        if at >= 0:
            values = values.fix_val(isl.dim_type.param, at, isl.Val(n))
    maps = [isl.Map.from_pw_aff(lp.exprs[s.name]) for lp in around]
    if not maps:
        return []
    moved = maps[0]
    for m in maps[1:]:
        moved = moved.flat_range_product(m)
    space = values.apply(moved)
    out = []
    for k in range(len(around)):
        low, high = space.dim_min_val(k), space.dim_max_val(k)
        if space.is_empty() or not low.is_int() or not high.is_int():
            out.append(0 if space.is_empty() else 1)
            continue
        first, last = int(low.to_str()), int(high.to_str())
        out.append(last - first + 1)
        space = _half_through(space, k, first, last)
    return out


def _half_through(space: isl.Set, k: int, first: int, last: int) -> isl.Set:
    """The space at the middle of a loop, or next to it where a loop steps over that."""
    for v in range((first + last) // 2, last + 1):
        there = space.fix_val(isl.dim_type.set, k, isl.Val(v))
        if not there.is_empty():
            return there
    return space.fix_val(isl.dim_type.set, k, isl.Val(first))


@record
class _Use:
    """One way to go through an array: the bytes that each loop moves it by, at most a line; and the innermost one's in
    pages."""

    steps: tuple[float, ...]
    elem: int
    pages: float


def _group(c: GroupInRegion, core: ManagementCore, sizes: Mapping[str, int]) -> float:
    turns = 1.0
    for n in c.lengths:
        turns *= n
    work = sum(arithmetic(s, core) for s in c.stmts) / core.operations
    found = keys(c, len(c.lengths))
    if not c.lengths:
        return work + core.memory_latency * len(found)
    uses = [_use(c, k, core, sizes) for k in found]
    moving = sum(1 + write for (_, moves), write in found.items() if any(moves[-1]))
    chain = max((core.fma_latency for s in c.stmts if s.op != "=" and not _moves(c, s, found)), default=0.0)
    issue = max(work, (moving + 1) / core.accesses, chain)
    return turns * (issue + sum(_misses(u, uses, c.lengths, core) for u in uses))


def _moves(c: GroupInRegion, s: Statement, found: Mapping[Key, bool]) -> bool:
    """Does the written element change along the innermost loop?"""
    array = s.accesses[s.target].array
    return any(write and a == array and any(moves[-1]) for (a, moves), write in found.items())


def _use(c: GroupInRegion, key: Key, core: ManagementCore, sizes: Mapping[str, int]) -> _Use:
    array, moves = key
    elem = c.p.scop.arrays[array].elem.bytes
    jump, pitch = 0.0, float(elem)
    extents = c.p.scop.arrays[array].extents
    for k in range(len(moves[-1]) - 1, -1, -1):
        jump += abs(float(moves[-1][k])) * pitch
        pitch *= _extent(extents[k], sizes) if k < len(extents) else 1
    return _Use(tuple(_bytes(m, elem, core) for m in moves), elem, min(1.0, jump / core.page_bytes))


def _extent(text: str, sizes: Mapping[str, int]) -> int:
    return int(text) if text.isdigit() else sizes.get(text, TYPICAL)


def _bytes(steps: tuple[Fraction, ...], elem: int, core: ManagementCore) -> float:
    if not any(steps):
        return 0.0
    return float(core.line_bytes) if any(steps[:-1]) else min(float(core.line_bytes), float(abs(steps[-1]) * elem))


def _misses(u: _Use, uses: Sequence[_Use], lengths: Sequence[float], core: ManagementCore) -> float:
    """Cycles for lines from beyond the first cache, per iteration of the innermost loop."""
    new = u.steps[-1] / core.line_bytes  # lines that an iteration has not used in the one before
    along = 0 < u.steps[-1] < core.line_bytes
    total = u.pages * core.page_miss if u.pages * lengths[-1] > core.pages else 0.0
    for k in range(len(lengths) - 2, -1, -1):
        if u.steps[k] < core.line_bytes and new:
            part = u.steps[k] / core.line_bytes
            between = sum(_footprint(x, lengths[k + 1 :], k + 1, core) for x in uses)
            total += new * (1 - part) * _from(between, along, core)
            new *= part
    return total + new * _from(float("inf"), along, core)


def _footprint(u: _Use, lengths: Sequence[float], first: int, core: ManagementCore) -> float:
    """Bytes of an array that come by while these loops run once."""
    moved = [(s, n) for s, n in zip(u.steps[first:], lengths, strict=True) if s]
    apart = bool(moved) and all(s >= core.line_bytes for s, _ in moved)
    total = float(core.line_bytes if apart else u.elem)
    for _, n in moved:
        total *= n
    return total


def _from(between: float, along: bool, core: ManagementCore) -> float:
    """Cycles for a line, with so many bytes since its last use."""
    if between <= core.l1_bytes / 2:
        return 0.0
    if between <= core.l2_bytes * 0.75:
        return core.line_bytes / L2_WIDE if along else core.l2_latency
    return core.line_bytes / core.memory_bytes if along else core.memory_latency
