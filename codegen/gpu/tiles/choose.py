"""Products in tiles on a device: builds and proves those that a plan's directives ask for (`tiled_products`), and adds
such directives to the tool's own plans, with the first sizes in a table that fit the device (`in_tiles`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from codegen.ast.ctree import Bin, CNode, For, Fun, Instance, Int, walk
from codegen.diagnostics import Diagnostic, Severity
from codegen.gpu.plan.device import Device
from codegen.gpu.tiles.find import (
    LEAST_COPY,
    Nest,
    NoTiles,
    TiledProduct,
    product_nest,
    staged_arrays,
    sum_of_products,
    tiled,
)
from codegen.gpu.tiles.model import UNITS, DepthStaging, ThreadTile
from codegen.gpu.tiles.prove import MOST_SHARED, shared_bytes, wrong_tile
from codegen.plan.model import BlockTile, LoopRef, Registers, StageShared
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import GRID
from codegen.strategy.choice import Decision
from codegen.transform.program import Program

SHALLOW = 64  # steps: an element goes to memory and back in that time
PAD = 4  # elements: lines of 16 and 4 more begin in other banks


@record
class TileShapes:
    """Tiles for a kind of product, the depth that is staged at a time, and how often, best first. Of tiles: the larger,
    the fewer loads for each step, and the fewer blocks there are to share out."""

    tiles: tuple[ThreadTile, ...]
    depth: int
    stages: tuple[int, ...]


SMALL = (ThreadTile((8, 16), (8, 8)), ThreadTile((8, 16), (8, 4)), ThreadTile((8, 16), (4, 4)))
# Three blocks of the largest are on a multiprocessor: while one waits at its barrier, others compute.
SUMS = TileShapes(SMALL, 16, (4, 2))
PLAIN = TileShapes((ThreadTile((8, 32), (16, 8)), *SMALL), 16, (4, 2))  # steps of any kind
HALF = TileShapes((ThreadTile((16, 16), (8, 8)), *SMALL[1:]), 16, (4, 2))  # elements of 8 bytes
UNIT = TileShapes((ThreadTile((32, 8), (4, 16)), ThreadTile((16, 8), (4, 8)), ThreadTile((16, 8), (2, 8))), 16, (4, 2))


def tiled_products(p: Program, code: CNode) -> tuple[TiledProduct, ...]:
    """The products in tiles that the plan asks for, proven. Raises NoTiles."""
    wanted: dict[str, list[Registers]] = {}
    stages: dict[str, list[StageShared]] = {}
    for d in p.tiles:
        if isinstance(d, Registers):
            wanted.setdefault(d.loops[0][0].stmt, []).append(d)
        elif isinstance(d, StageShared):
            stages.setdefault(d.loop.stmt, []).append(d)
    return tuple(_planned(p.scop, code, wanted[n], stages.get(n, ())) for n in sorted(wanted))


def _planned(scop: Scop, code: CNode, tiles: Sequence[Registers], stages: Sequence[StageShared]) -> TiledProduct:
    name = tiles[0].loops[0][0].stmt
    nest = nest_of(scop, code, name)
    for d in tiles:
        if [ref.name for ref, _ in d.loops] != [nest.rows.loop.name, nest.columns.loop.name]:
            raise NoTiles(f"rows and columns of {name} are {nest.rows.loop.name} and {nest.columns.loop.name}")
        if d.unit and d.unit not in UNITS:
            raise NoTiles(f"there is no matrix unit {d.unit}; there are {', '.join(UNITS)}")
    sizes = {(d.loop.name, d.size, d.stages) for d in stages}
    if len(sizes) != 1 or min(sizes)[0] != nest.depth.loop.name:
        raise NoTiles(f"arrays of {name} are staged along {nest.depth.loop.name}, all in the same way")
    staging = DepthStaging(stages[0].size, stages[0].stages)
    made = tiled(scop, nest, [_tile(d) for d in tiles], staging, {d.array: d.pad for d in stages})
    proven(made)
    return made


def _tile(d: Registers) -> ThreadTile:
    (_, rows), (_, columns) = d.loops
    return ThreadTile(d.threads, (rows, columns), UNITS[d.unit] if d.unit else None)


def proven(p: TiledProduct) -> None:
    """All proofs, for tiles of each size, with copies of 16 bytes and of single elements. Raises NoTiles."""
    for t in p.tiles:
        if shared_bytes(t, p.staging, p.operands) > MOST_SHARED:
            raise NoTiles("no device has so much shared memory")
        for vector in sorted({1, p.vector}):
            problem = wrong_tile(t, p.staging, p.operands, vector, p.order)
            if problem:
                raise NoTiles(problem)


def nest_of(scop: Scop, code: CNode, stmt: str) -> Nest:
    """The nest on threads around a statement. Raises NoTiles."""
    for node in walk(code):
        if isinstance(node, For) and node.loop.kind == GRID:
            inside = {x.stmt for x in walk(node) if isinstance(x, Instance)}
            if stmt in inside:
                return product_nest(scop, node)
    raise NoTiles(f"{stmt} does not run on threads")


def in_tiles(d: Decision, code: CNode, processor: Device) -> Decision:
    """A plan of the tool's own, with tiles for the products in it."""
    for s in d.program.scop.statements:
        try:
            nest = nest_of(d.program.scop, code, s.name)
            found = _proposed(d.program.scop, nest, processor)
        except NoTiles:
            continue
        program = replace(d.program, tiles=(*d.program.tiles, *found))
        plan = replace(d.plan, directives=(*d.plan.directives, *found))
        first = next(x for x in found if isinstance(x, Registers))
        rows, columns = (n * m for n, (_, m) in zip(first.threads, first.loops, strict=True))
        text = f"tiles of {rows} by {columns} elements and less, operands in shared memory"
        text += f", on matrix units {first.unit}" if first.unit else ""
        remark = Diagnostic(Severity.REMARK, "kernel", text, s.loc, kind="passed")
        d = Decision(plan, (*d.remarks, remark), program)
    return d


def tiled_by(d: Decision) -> frozenset[str]:
    """Statements that a plan has tiles for."""
    return frozenset(x.loops[0][0].stmt for x in d.plan.directives if isinstance(x, Registers))


def _proposed(scop: Scop, nest: Nest, processor: Device) -> tuple[BlockTile, ...]:
    """Directives for a product, if they can be proven. Raises NoTiles."""
    pads = {a: max(PAD, 16 // n) for a, n in staged_arrays(scop, nest).items()}
    for unit in _units(processor):
        if unit and nest.what.step.lane.op == "sub" and _is_shallow(nest):
            continue
        shapes = _shapes(scop, nest, unit)
        for stages in shapes.stages:
            try:
                made = tiled(scop, nest, shapes.tiles, DepthStaging(shapes.depth, stages), pads)
                kept = tuple(t for t in made.tiles if _fits(made, t, processor))
            except NoTiles:
                continue
            if kept:
                return _directives(replace(made, tiles=kept), pads)
    raise NoTiles("no tiles fit the device")


def _fits(p: TiledProduct, t: ThreadTile, processor: Device) -> bool:
    """Has the device room for tiles of this size, and do all proofs go through for them?"""
    if shared_bytes(t, p.staging, p.operands) > processor.shared_per_block:
        return False
    try:
        proven(replace(p, tiles=(t,)))
    except NoTiles:
        return False
    return True


def _directives(p: TiledProduct, pads: Mapping[str, int]) -> tuple[BlockTile, ...]:
    name = p.nest.statement.name
    rows, columns, depth = (LoopRef(lp.loop.name, name) for lp in (p.nest.rows, p.nest.columns, p.nest.depth))
    registers = (Registers(((rows, t.registers[0]), (columns, t.registers[1])), t.threads, p.unit) for t in p.tiles)
    return (*registers, *(StageShared(a, depth, p.staging.depth, p.staging.stages, n) for a, n in pads.items()))


def _is_shallow(nest: Nest) -> bool:
    """Are there so few steps that the result's way through memory takes longer than they do without matrix units? With
    these, panels of cholesky's factorization took an H200 1.2 times as long, those of lu as long."""
    high, low = nest.depth.upper, nest.depth.lower
    ends = high.args if isinstance(high, Fun) and high.name == "min" else (high,)
    return any(
        isinstance(e, Bin) and e.op == "+" and e.left == low and isinstance(e.right, Int) and e.right.value <= SHALLOW
        for e in ends
    )


def _units(processor: Device) -> Iterator[str]:
    """Matrix units for f64, if the device has them, and none."""
    generation = processor.architecture.removeprefix("sm_")
    if processor.matrix_units and generation.isdigit() and int(generation) in (80, 90):
        yield "m16n8k4" if int(generation) == 90 else "m8n8k4"
    yield ""


def _shapes(scop: Scop, nest: Nest, unit: str) -> TileShapes:
    if unit:
        return replace(UNIT, tiles=tuple(replace(t, unit=UNITS[unit]) for t in UNIT.tiles))
    sizes = {scop.arrays[a.array].elem.bytes for a in nest.statement.accesses}
    if max(sizes) > LEAST_COPY:
        return HALF
    if min(sizes) < LEAST_COPY:  # what is too small for copies beside the computation goes through registers
        return SUMS
    return SUMS if sum_of_products(scop, nest) else PLAIN
