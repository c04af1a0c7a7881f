"""Tiling techniques, as rows of the planner's table: interleaved recurrences, vectors through a recurrence, tiles
shared by several nests, wavefronts, strip-mining for the first-level cache, and tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from codegen.plan.model import Distribute, LoopRef, Tile
from codegen.scop.distance import is_zero
from codegen.scop.tree import Band, Loop, Seq, enclosing, has_band, loops, statements
from codegen.strategy import remarks as sentences
from codegen.strategy.author import Author
from codegen.strategy.cost.latency import worth_skewed_rows
from codegen.strategy.cost.predicted import iteration_cycles
from codegen.strategy.cost.tile_sizes import (
    STRIP,
    bring_back,
    comes_back,
    constant_extent,
    few_lines,
    footprint,
    tile_sizes,
    worth_strips,
    worth_tiling,
)
from codegen.strategy.knobs.rows import vectors
from codegen.strategy.knobs.tiles import new_tiles, tile_lengths
from codegen.strategy.loops.interleaved_recurrences import chain_of
from codegen.strategy.loops.outer_vectors import around_recurrence
from codegen.strategy.loops.wavefronts import ROWS, behind, side_by_side, tile_shape, whole_rows
from codegen.strategy.technique import NOT_THIS_KIND, Site, Technique, Unsuited, carry_out_steps, suited
from codegen.transform.program import Program, pending


def _rows_in_turn(author: Author, site: Site) -> None:
    free = partial(_all_tilable, author.p)
    names, steps = suited(chain_of(author.p, site.band, free, author.machine))
    carry_out_steps(author, *steps)
    author.remark("passed", "rows", sentences.rows(steps), names[-1])


ROWS_IN_TURN = Technique(
    "interleaved recurrences",
    "several rows of a recurrence take turns, so that none waits for its own last result",
    "a recurrence along an innermost loop right inside a parallel one, which waits for its own results",
    _rows_in_turn,
    price="alone in its pass: `cost/latency.py` has compared how long a row waits with how long it works",
    knobs=(tile_lengths,),
)


def _through_recurrence(author: Author, site: Site) -> None:
    found = suited(around_recurrence(author.p, site.band, author.machine))
    carry_out_steps(author, *found.steps)
    lane, row = site.band.loops[-1].name, site.band.loops[-2].name
    text = f"{found.vector.times} vectors along loop {lane}, through loop {row} in registers"
    author.remark("passed", "vector", text, site.stmts[0])
    author.remark("analysis", "register-tile", found.tile.reason, site.stmts[0])


THROUGH_RECURRENCE = Technique(
    "vectors through a recurrence",
    "vectors along a parallel innermost loop go through the sequential loop around it in registers",
    "a parallel innermost loop inside one that goes on with its results",
    _through_recurrence,
    price="alone in its pass: what it keeps in registers would be loaded and stored in every step otherwise",
    knobs=(tile_lengths, vectors),
)


def _shared_tiles(author: Author, site: Site) -> None:
    """A loop around several nests, one of which wants tiles: cut the loop, give each nest its own point loop, and tile
    the nests below the shared tile loop."""
    band, p = site.band, author.p
    if len(band.loops) != 1 or not isinstance(band.child, Seq):
        raise Unsuited(NOT_THIS_KIND)
    scop, shared = p.scop, band.loops[0]
    wanting = []
    for part in band.child.children:
        if not isinstance(part, Band) or has_band(part.child) or not part.permutable:
            continue
        names = statements(part)
        stmts = [scop.statement(n) for n in names]
        members = [_restrict(shared, names), *_tilable(p, part)]
        around = enclosing(p.tree, names[0])
        if len(members) == len(part.loops) + 1 and worth_tiling(scop, stmts, around, members):
            wanting.append((names[0], members, tile_sizes(scop, stmts, members, author.machine)))
    if not wanting or shared not in _tilable(p, band):
        raise Unsuited(NOT_THIS_KIND)
    size = min(sizes[0] for _, _, sizes in wanting)
    ref = LoopRef(shared.name, statements(band)[0])
    if not size:
        raise Unsuited("tiles of the loop they share would be all of it")
    carry_out_steps(author, Tile(((ref, size),)), Distribute(ref))
    for name, members, sizes in wanting:
        inner = tuple((LoopRef(lp.name, name), s) for lp, s in zip(members[1:], sizes[1:], strict=True))
        author.attempt(Tile(((LoopRef(shared.name, name), 0), *inner), site.full))
        text = ", ".join(f"{lp.name}:{s}" for lp, s in zip(members, (size, *sizes[1:]), strict=True) if s)
        _tiled_remark(author, text, footprint(scop, [scop.statement(name)], members, sizes), name)


SHARED_TILES = Technique(
    "tiles below a shared loop",
    "a loop around several nests is cut, and the nests are tiled below its tiles",
    "a loop around several nests, one of which uses data again that has left the cache",
    _shared_tiles,
    price="alone in its pass: `worth_tiling` has asked whether a nest fetches again what has left the cache",
    knobs=(tile_lengths,),
)


def _wavefront(author: Author, site: Site) -> None:
    """No loop of the band is parallel, but tiles on a diagonal are: cut all loops, and let threads take rows of tiles
    in turn, each behind the one before it."""
    names, scop = site.stmts, author.p.scop
    loops_ = _tilable(author.p, site.band)
    if len(loops_) != len(site.band.loops) or len(loops_) < 2 or any(lp.coincident for lp in loops_):
        raise Unsuited(NOT_THIS_KIND)
    if any(constant_extent(scop, lp, n) for lp in loops_ for n in names):
        raise Unsuited("a loop has a fixed number of iterations: too few for tiles on a diagonal")
    size = min(x for x in tile_sizes(scop, [scop.statement(n) for n in names], loops_, author.machine) if x)
    waits = waits_along(author.p, loops_[-1].name, names)
    sizes = tile_shape(size, len(loops_)) if waits or len(loops_) < 3 else whole_rows(len(loops_))
    if not any(author.all_or_none(steps) for steps in behind(author.p.scop, loops_, names[0], sizes)):
        raise Unsuited(author.why)
    shape = " by ".join(str(n) if n else "all" for n in sizes)
    text = f"tiles of {shape}; threads take rows of them in turn, one behind the other"
    pays = waits and worth_skewed_rows(author.p, names, author.machine)
    rows = side_by_side(author.p.scop, loops_, names[0]) if pays else ()
    if any(author.all_or_none(steps) for steps in rows):
        text += f", {ROWS} rows of a tile side by side"
    author.remark("passed", "wavefront", text, names[0])


WAVEFRONT = Technique(
    "wavefront",
    "all loops are cut, and threads take rows of tiles, each behind the one before it",
    "at least two loops, none of them parallel, that can be cut into tiles",
    _wavefront,
    price=iteration_cycles,
    knobs=(tile_lengths,),
)


def waits_along(p: Program, name: str, names: tuple[str, ...]) -> bool:
    """Does an iteration of the innermost loop use what the one before computes? If it only has to come before that is
    overwritten, compilers make vectors of it. advection-upwind: 0.58 of gcc with rows side by side."""
    place = next(q for q in loops(p.tree) if q.loop.name == name and names[0] in statements(q.band))
    flows = (d for d in p.deps.all if d.kind == "flow")
    return any(not is_zero(pending(p, d, place), place.loop.exprs) for d in flows)


def _strips(author: Author, site: Site) -> None:
    """Strips of the innermost loop, outermost: they run on threads."""
    scop, names = author.p.scop, site.stmts
    members = _tilable(author.p, site.band)
    stmts, around = [scop.statement(n) for n in names], enclosing(author.p.tree, names[0])
    if len(members) != len(site.band.loops) or not worth_strips(scop, stmts, around, site.band.loops):
        raise Unsuited(NOT_THIS_KIND)
    refs = [LoopRef(lp.name, names[0]) for lp in members]
    carry_out_steps(author, Tile((*((r, 0) for r in refs[:-1]), (refs[-1], STRIP))))
    text = f"strips of {STRIP} along loop {members[-1].name} stay in the first-level cache"
    author.remark("passed", "tiled", text, names[0])


STRIPS = Technique(
    "strips",
    "the innermost loop is cut into strips that stay in the first-level cache while the loops around go over them",
    "sums along outer loops of rows that are longer than the first-level cache",
    _strips,
    price=iteration_cycles,
    knobs=(tile_lengths,),
)


def _tiles(author: Author, site: Site) -> None:
    scop, names = author.p.scop, site.stmts
    stmts, around = [scop.statement(n) for n in names], enclosing(author.p.tree, names[0])
    members = _tilable(author.p, site.band)
    if len(members) < 2 or not worth_tiling(scop, stmts, around, site.band.loops):
        raise Unsuited(NOT_THIS_KIND)
    members = bring_back(scop, stmts, around, members)
    whole = () if comes_back(scop, stmts, around, members) else (0,)
    sizes = (*whole, *tile_sizes(scop, stmts, members[len(whole) :], author.machine))
    sizes = few_lines(scop, stmts, around, members, sizes, author.machine)
    loops_ = tuple((LoopRef(lp.name, names[0]), s) for lp, s in zip(members, sizes, strict=True))
    carry_out_steps(author, Tile(loops_, site.full))
    text = ", ".join(f"{lp.name}:{s}" for lp, s in zip(members, sizes, strict=True) if s)
    _tiled_remark(author, text, footprint(scop, stmts, members, sizes), names[0])


TILES = Technique(
    "tiles",
    "the loops are cut into tiles that use what the second-level cache holds again and again",
    "at least two loops that can be interchanged, and data that they use again after it has left the cache",
    _tiles,
    price=iteration_cycles,
    knobs=(tile_lengths, new_tiles),
)


def _tiled_remark(author: Author, text: str, bytes_: int, stmt: str) -> None:
    author.remark(
        "passed",
        "tiled",
        f"tiled {text}; a tile touches about {bytes_ // 1024} KiB, to stay in the "
        f"second-level cache of {author.machine.name}",
        stmt,
    )


def _tilable(p: Program, band: Band) -> list[Loop]:
    """Loops along which no variable of the region stays alive: cutting those keeps it a scalar."""
    inside = [r for name, r in p.deps.flows.items() if p.scop.arrays[name].inside]
    return [lp for lp in band.loops if all(_local(r, lp, statements(band)) for r in inside)]


def _all_tilable(p: Program, band: Band) -> bool:
    return len(_tilable(p, band)) == len(band.loops)


def _restrict(lp: Loop, names: Sequence[str]) -> Loop:
    return replace(lp, exprs={n: lp.exprs[n] for n in names})


def _local(relation: isl.UnionMap, lp: Loop, names: tuple[str, ...]) -> bool:
    own: dict[str, isl.PwAff] = {n: lp.exprs[n] for n in names}
    return is_zero(relation, own)
