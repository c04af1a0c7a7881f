"""Decides which arrays are resident, with tiles that stay in the local memory of their cores from kernel to kernel of a
launch, and says why others are not.

The kernels of a launch deal their tiles out to the cores in the same way every time. Where an element is used in one
tile only, whichever kernel it is and however often it comes, one core owns it: its tiles may stay in that core's local
memory until the launch is over, and no barrier is needed for its sake. The tests of `recognize/ownership` decide that,
with tiles as threads and the launch as the block; what they say is shown once more for the boxes that are printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

import islpy as isl

from codegen.ast.ctree import CExpr, For, Int, Name, expr_names, substitute
from codegen.diagnostics import Unsupported
from codegen.recognize.ownership.decide import verdict
from codegen.recognize.ownership.extract import affine, reference
from codegen.recognize.ownership.model import NestFrame, ThreadAxis
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.sunway.plan.threads import CoreGrid
from codegen.sunway.staging.local import LocalBuffer, SNode, Stage, staged_nodes
from codegen.sunway.staging.shared_boxes import differ, renamed
from codegen.sunway.survey import KernelSite

EXTENT = 4096  # that loops of unknown length are taken to have: all tiles of so many iterations find room, if any do
MOST = 64  # tiles of one array on one core


@record
class Owned:
    """An array whose elements belong to one tile each, in all kernels that use it, and which test shows it."""

    array: str
    sites: tuple[KernelSite, ...]
    why: str


@record
class Resident:
    """Tiles of an array that stay in local memory: so many on each core, until the launch ends."""

    array: str
    slots: int
    first: str  # the first statement that uses it: names the launch in a plan
    box: LocalBuffer
    site: KernelSite  # whose loops deal the tiles out
    loops: tuple[For, ...]  # nothing of it happens unless all of these run
    get: bool
    why: str


def owned_arrays(
    scop: Scop, sites: Sequence[KernelSite], elsewhere: frozenset[str]
) -> tuple[list[Owned], dict[str, str]]:
    """Arrays that are used again, with their owners, and why others have none. `elsewhere` are the launch's statements
    outside of these kernels."""
    found: list[Owned] = []
    missed: dict[str, str] = {}
    written = {a.array for s in sites for n in s.statements for a in scop.statement(n).accesses if a.write}
    for name in sorted(n for n in written if scop.arrays[n].rank and not scop.arrays[n].inside):
        mine = tuple(s for s in sites if _uses(scop, s.statements, name))
        if len(mine) < 2 and not mine[0].loops:
            continue
        if _uses(scop, elsewhere, name):
            missed[name] = "it is used outside of kernels as well"
            continue
        deal = {(s.in_turn, *_shares_of_cores(s)) for s in mine}
        if len(deal) > 1 or any(s.mesh is not None or not s.bound or not _fixed(s) for s in mine):
            missed[name] = "kernels that use it share out their tiles in different ways"
            continue
        good, why = _one_tile_each(scop, name, mine)
        if good:
            found.append(Owned(name, mine, why))
        else:
            missed[name] = why
    return found, missed


def _uses(scop: Scop, stmts: Sequence[str] | frozenset[str], array: str) -> bool:
    return any(a.array == array for n in stmts for a in scop.statement(n).accesses)


def _shares_of_cores(site: KernelSite) -> tuple[object, ...]:
    """How the tiles of a kernel go to the cores: equal for two kernels if a tile always goes to the same core."""
    names = _canonical(site)
    return tuple((substitute(b.lower, names), b.op, substitute(b.upper, names), b.step) for b in site.bound)


def _canonical(site: KernelSite) -> dict[str, CExpr]:
    return {b.var: Name(f"tile{k}") for k, b in enumerate(site.bound)}


def _fixed(site: KernelSite) -> bool:
    """Are the tiles the same whenever the kernel comes?"""
    return not any(expr_names(e) & set(site.at.vars) for b in site.bound for e in (b.lower, b.upper))


def _one_tile_each(scop: Scop, array: str, sites: Sequence[KernelSite]) -> tuple[bool, str]:
    """Is every element used in one tile only? The answer of the ownership tests, in words."""
    stmts = [scop.statement(n) for n in dict.fromkeys(n for s in sites for n in s.statements)]
    refs = tuple(reference(scop, s, k) for s in stmts for k, a in enumerate(s.accesses) if a.array == array)
    names = {r.stmt for r in refs}
    frame = NestFrame({s.name: s.domain.intersect_params(scop.context) for s in stmts if s.name in names}, refs, (), ())
    axes = [_axis(scop, sites, k, names) for k in range(len(sites[0].bound))]
    if any(x is None for x in axes):
        return False, "its tiles are not told apart by loops"
    threads = [x for x in axes if x is not None]
    answer = None
    for r in refs:
        answer = verdict(frame, r, threads, ())
        if answer.answer != "yes":
            return False, answer.why
    return True, verdict(frame, refs[0], threads, ()).why


def _axis(scop: Scop, sites: Sequence[KernelSite], number: int, stmts: set[str]) -> ThreadAxis | None:
    """A bound loop as a thread coordinate, in all kernels: its tiles are the threads."""
    values: dict[str, isl.PwAff] = {}
    tiles: dict[str, isl.PwAff] = {}
    for s in sites:
        loop = s.bound[number].loop
        tiles |= {n: e for n, e in loop.exprs.items() if n in stmts}
        inside = [n.loop for n in staged_nodes(s.tree) if isinstance(n, For) and n.loop.name == loop.of]
        values |= {n: e for lp in inside if not lp.tile for n, e in lp.exprs.items() if n in stmts}
    if set(tiles) != stmts or set(values) != stmts:
        return None
    first = sites[0].bound[number]
    return ThreadAxis(first.loop.of, first.step, values, tiles, {n: affine(v, scop) for n, v in values.items()})


def residents(
    scop: Scop, grid: CoreGrid, owned: Sequence[Owned], room: int, wanted: Mapping[tuple[str, str], int] | None
) -> tuple[list[Resident], dict[str, str]]:
    """What stays, and why the rest does not: as much as there is room for, or what a plan asks for."""
    out: list[Resident] = []
    missed: dict[str, str] = {}
    for o in sorted(owned, key=lambda o: (-len(o.sites), o.array)):
        boxes = [s.tile(o.array) for s in o.sites]
        why = _unfit(o, boxes)
        if why:
            missed[o.array] = why
            continue
        box = next(b for b in boxes if b is not None)
        first = next(n for s in o.sites for n in s.statements if _uses(scop, (n,), o.array))
        need = _tiles(o.sites[0], grid)
        slots = min(MOST, need, room // (box.size * box.bytes)) if wanted is None else wanted.get((o.array, first), 0)
        if wanted is None and slots < need and any(b is not None and b.ahead for b in boxes):
            slots = 0  # tiles that do not stay would no longer be fetched ahead
        if wanted is not None and slots * box.size * box.bytes > room:
            head = f"{slots} tiles of `{o.array}` that stay take {slots * box.size * box.bytes} bytes of local memory"
            raise Unsupported("sunway-ldm", f"{head}, and kernels leave {room}", scop.loc, "let fewer tiles stay")
        if not slots:
            missed[o.array] = f"{need} tiles of {box.size * box.bytes} bytes do not fit into the {room} that are left"
            continue
        room -= slots * box.size * box.bytes
        loops = min((s.loops for s in o.sites), key=len)
        get = any(b is not None and b.get for b in boxes[:1]) or len(o.sites[0].loops) > len(loops)
        put = any(b is not None and b.put for b in boxes)
        out.append(Resident(o.array, slots, first, replace(box, ahead=False, put=put), o.sites[0], loops, get, o.why))
    return out, missed


def _unfit(o: Owned, boxes: Sequence[LocalBuffer | None]) -> str:
    """Why tiles of an owned array cannot stay; empty if they can."""
    shapes = set()
    for s, b in zip(o.sites, boxes, strict=True):
        if b is None:
            return "not all of its uses are in one box of a tile"
        names = _canonical(s)
        lows, lens = (tuple(substitute(e, names) for e in part) for part in (b.lows, b.lens))
        if any(expr_names(e) & set(s.at.vars) for e in (*lows, *lens)):
            return "its tiles differ from step to step"
        shapes.add((lows, lens, b.most))
    if len(shapes) > 1:
        return "kernels use different parts of its tiles"
    loops = min((s.loops for s in o.sites), key=len)
    if any(s.loops[: len(loops)] != loops for s in o.sites) or any(
        expr_names(e) & set(o.sites[0].at.vars) for lp in loops for e in (lp.lower, lp.upper)
    ):
        return "it is not known beforehand whether it is used at all"
    return "" if _apart(o) else "boxes of its tiles meet"


def _apart(o: Owned) -> bool:
    """Do the boxes as they are printed hold different elements for different tiles, in all kernels?"""
    parts = [elements_of_tiles(s, o.array) for s in o.sites]
    count = len(o.sites[0].bound)
    for mine in parts:
        for theirs in parts:
            for k in range(count):
                theirs = renamed(theirs, f"tile{k}", f"other{k}")
            meet = mine.intersect(theirs)
            for k in range(count):
                if not meet.intersect_params(differ(meet.get_space(), f"tile{k}", f"other{k}")).is_empty():
                    return False
    return True


def elements_of_tiles(site: KernelSite, array: str) -> isl.Set:
    """The elements of the tile's box, with the bound loops as parameters tile0 and tile1, in any iteration around."""
    b = site.tile(array)
    assert b is not None
    part = site.stager.touched[b.name]
    for v in site.at.vars:
        pos = part.find_dim_by_name(isl.dim_type.param, v)
        part = part.project_out(isl.dim_type.param, pos, 1) if pos >= 0 else part
    for k, lp in enumerate(site.bound):
        part = renamed(part, lp.var, f"tile{k}")
        if part.find_dim_by_name(isl.dim_type.param, f"tile{k}") < 0:
            n = part.dim(isl.dim_type.param)
            part = part.add_dims(isl.dim_type.param, 1).set_dim_name(isl.dim_type.param, n, f"tile{k}")
    return part


def _tiles(site: KernelSite, grid: CoreGrid) -> int:
    """Tiles of one core, for loops of the length that those of unknown length are taken to have."""
    counts = []
    for lp in site.bound:
        known = isinstance(lp.lower, Int) and isinstance(lp.upper, Int)
        extent = lp.upper.value - lp.lower.value + (lp.op == "<=") if known else EXTENT  # type: ignore[union-attr]
        counts.append(-(-max(1, extent) // lp.step))
    if len(counts) < 2 or site.in_turn:
        return -(-prod(counts) // grid.count)
    return -(-counts[0] // grid.rows) * -(-counts[1] // grid.columns)


def without_ahead(tree: SNode, arrays: frozenset[str]) -> SNode:
    """The kernel with one copy of the buffers of these arrays, which stand in the tile's stage."""
    if isinstance(tree, Stage):
        plain = tuple(replace(b, ahead=False) if b.array in arrays else b for b in tree.buffers)
        return Stage(plain, tree.body) if plain != tree.buffers else Stage(plain, without_ahead(tree.body, arrays))
    if isinstance(tree, For) and tree.loop.kind in THREADED:
        return replace(tree, body=without_ahead(tree.body, arrays))  # type: ignore[arg-type]
    return tree


def who_owns(owned: Sequence[Owned], found: Sequence[Resident], missed: Mapping[str, str]) -> list[tuple[str, str]]:
    """Kind and text of a remark for every array that kernels hand on, or that a core keeps between them."""
    stay = {r.array: r for r in found}
    out = []
    for o in owned:
        tail = "no barrier is needed for it"
        if o.array in stay:
            tail = f"{stay[o.array].slots} tiles of it stay on every core from kernel to kernel"
        elif o.array in missed:
            tail += f", but it passes through main memory: {missed[o.array]}"
        out.append(("passed", f"`{o.array}` belongs to one core in all kernels, since {o.why}: {tail}"))
    own = {o.array for o in owned}
    shared = [(a, why) for a, why in sorted(missed.items()) if a not in own]
    return [*out, *(("missed", f"`{a}` passes through main memory between kernels: {why}") for a, why in shared)]
