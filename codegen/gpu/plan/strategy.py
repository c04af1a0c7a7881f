"""The planner for devices: returns the cheapest of several plans by a cost model, each with a loop order (by dependence
levels, isl's, with instances split, or wavefronts), the loops of each nest that become threads, and the threads of a
block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from codegen.diagnostics import Diagnostic, InputError, Severity
from codegen.gpu.plan.device import Device
from codegen.gpu.plan.order import as_axes, device_order
from codegen.gpu.plan.strips import strip_loop
from codegen.gpu.plan.waves import waves
from codegen.plan.model import Directive, Grid, LoopRef, Order, Plan, Schedule
from codegen.recognize.access.boxes import cuts
from codegen.recognize.access.extent import longest
from codegen.recognize.products.contraction import NoContraction, contraction
from codegen.record import record
from codegen.scop.model import Scop, Statement
from codegen.scop.product import Contraction
from codegen.scop.tree import GRID, Band, Loop, Node, enclosing, kids, statements, with_kids
from codegen.strategy.choice import Decision
from codegen.strategy.orders.isl_schedule import isl_schedule
from codegen.strategy.orders.reshape import active
from codegen.strategy.orders.split import split_at
from codegen.transform.apply import apply
from codegen.transform.program import Program

SIZE = 1000.0  # what a loop of unknown length is taken for
LATENCY = 4e-7  # seconds for one step of a thread that waits for memory
STEPS = 4e11  # steps that all threads make in a second, if there are enough of them
SCATTERED = 4.0  # how much longer steps take whose neighbours do not touch neighbours in memory


def device_plan(source: Program, processor: Device, tiles: bool = False) -> Decision:
    """The cheaper of two orders: by levels, in the iterators of the source, and isl's, which may skew. Products stand
    apart where they can run in tiles."""
    products = frozenset(s.name for s in source.scop.statements if tiles and is_product(source.scop, s))
    found = [planned(source, device_order(source, products), processor)]
    if _cost(found[0].program, processor) > _bound(source):
        found += _other(source, processor)
    if not any(_grids(d) for d in found):
        found += _split(source, processor)
    if not any(_all_on_threads(d) for d in found):
        found += _waves(source, processor)
    return min(found, key=lambda d: _cost(d.program, processor))


def is_product(scop: Scop, s: Statement) -> bool:
    """Is the statement a product of its last three loops, which run over a box, or over one of which rows and columns
    are cut off at all depths alike?"""
    outer = range(len(s.iterators) - 3)
    try:
        found = contraction(scop, s, outer)
    except NoContraction:
        return False
    return is_flat(scop, found)


def is_flat(scop: Scop, what: Contraction) -> bool:
    """Are there rows and columns, and are those that do not belong to it none of its at any depth?"""
    s = scop.statement(what.stmt)
    outer = [d for d in range(len(s.iterators)) if d not in what.inner]
    cut = cuts(s.domain.intersect_params(scop.context), outer, what.depth)
    flat = cut is not None and not any(a.involves_dims(isl.dim_type.in_, d, 1) for a in cut for d in what.depth)
    return bool(what.columns) and flat


def _grids(d: Decision) -> bool:
    return any(isinstance(x, Grid) for x in d.plan.directives)


def _other(source: Program, processor: Device) -> list[Decision]:
    try:
        tree = isl_schedule(source.scop, source.deps, source.tree, "smart")
        return [planned(source, _threads_first(source, tree), processor)]
    except (InputError, isl.Error):
        return []


def _all_on_threads(d: Decision) -> bool:
    """Are there threads wherever there are loops?"""
    p = d.program
    return all(shape(p, s.name).threads or not enclosing(p.tree, s.name) for s in p.scop.statements)


def _waves(source: Program, processor: Device) -> list[Decision]:
    """With launches that follow wavefronts, where nothing else runs on threads: in the order of the source, and in
    isl's, which may skew."""
    ties = source.must
    for array in sorted(source.deps.folds):
        ties = ties.union(source.deps.folds[array])
    out = []
    for skewed in (False, True):
        try:
            tree = isl_schedule(source.scop, source.deps, source.tree, "smart") if skewed else source.tree
            d = planned(source, _threads_first(source, waves(source.scop, ties, tree)), processor)
        except (InputError, isl.Error):
            continue
        out.append(d)
        if _all_on_threads(d):
            break
    return out


def _split(source: Program, processor: Device) -> list[Decision]:
    """With instances told apart that stand in each other's way: the row and the column of a step."""
    cut = split_at(source)
    if cut is None:
        return []
    try:
        apart = apply(source, cut)
        found = planned(apart, device_order(apart), processor)
    except (InputError, isl.Error):
        return []
    return [replace(found, plan=replace(found.plan, directives=(cut, *found.plan.directives)))]


def _bound(source: Program) -> float:
    """What no order of this region can do without, with a little room: then there is no need to look for others."""
    steps = sum(SIZE ** len(enclosing(source.tree, s.name)) for s in source.scop.statements)
    return 4e-5 + 2 * steps / STEPS


def in_strips(source: Program, plain: Decision, processor: Device) -> Decision:
    """The same plan with strips for the threads of stencils."""
    first = plain.plan.directives[0] if plain.plan.directives else None
    return planned(source, first.tree, processor, strips=True) if isinstance(first, Schedule) else plain


def planned(source: Program, tree: Node, processor: Device, strips: bool = False) -> Decision:
    """The plan of an order: threads for the loops in it that carry nothing."""
    p, out = source.with_tree(tree), [Schedule(tree)]
    directives: list[Directive] = [*out]
    remarks: list[Diagnostic] = []
    p = apply(p, out[0])
    for band in _kernels(tree):
        name = statements(band)[0]
        sizes = _threads(p, band, processor)
        p, cut = strip_loop(p, band) if strips else (p, ())
        if cut and len(sizes) == 3:  # blocks with few rows of many planes leave room for others
            sizes[2] = (sizes[2][0], min(sizes[2][1], processor.warp))
        names = [ref.name for d in cut if isinstance(d, Order) for ref in d.loops] or [lp.name for lp, _ in sizes]
        loops = [(loop, n) for loop, (_, n) in zip(names, sizes, strict=False)]
        directive = Grid(tuple((LoopRef(loop, name), n) for loop, n in loops))
        p = apply(p, directive)
        directives += [*cut, directive]
        words = ", ".join(f"{loop}:{n}" for loop, n in loops)
        remarks.append(_remark("kernel", f"one thread for each iteration of {words} (threads of a block)", p, name))
    return Decision(Plan(source.scop.region, tuple(directives)), tuple(remarks), p)


def _remark(id: str, text: str, p: Program, stmt: str) -> Diagnostic:
    return Diagnostic(Severity.REMARK, id, text, p.scop.statement(stmt).loc, kind="passed")


def _kernels(node: Node) -> Iterator[Band]:
    """The outermost bands that begin with loops for threads."""
    if isinstance(node, Band) and any(lp.coincident for lp in node.loops):
        yield node
        return
    for k in kids(node):
        yield from _kernels(k)


def _threads(p: Program, band: Band, processor: Device) -> list[tuple[Loop, int]]:
    """The loops that become threads with the threads of a block along each."""
    bound = [lp for lp in band.loops if lp.coincident][:3]
    wide = 2 * processor.warp
    single = wide if _works(p, band, bound) else min(4 * wide, processor.threads_per_block)
    sizes = {1: [single], 2: [4, wide], 3: [1, 4, wide]}[len(bound)]
    return [(lp, _short(p, lp, n)) for lp, n in zip(bound, sizes, strict=True)]


def _works(p: Program, band: Band, bound: Sequence[Loop]) -> bool:
    """Has a thread loops of its own? Then many small blocks fill the device better than few large ones."""
    return any(len(enclosing(band, n)) > len(bound) for n in statements(band))


def _short(p: Program, lp: Loop, threads: int) -> int:
    """No more threads than a short loop has iterations, in powers of two."""
    most = longest(p.scop, lp)
    while most is not None and threads > 1 and threads // 2 >= most:
        threads //= 2
    return threads


def _threads_first(p: Program, node: Node) -> Node:
    """isl's tree with the loops for threads in front of their bands, and those alone marked."""
    if isinstance(node, Band):
        names = statements(node)
        free = [lp for lp in node.loops if lp.coincident and any(active(p.scop, lp, n) for n in names)]
        if free and (node.permutable or node.loops[0] in free):
            front = as_axes(p.scop, free if node.permutable else _leading(node.loops, free), names)
            rest = tuple(replace(lp, coincident=False) for lp in node.loops if lp not in front)
            return replace(node, loops=(*front, *rest), child=_plain(node.child))
        node = replace(node, loops=tuple(replace(lp, coincident=False) for lp in node.loops))
    return with_kids(node, tuple(_threads_first(p, k) for k in kids(node)))


def _leading(loops: Sequence[Loop], free: Sequence[Loop]) -> list[Loop]:
    """Those in front that may be threads."""
    count = next((k for k, lp in enumerate(loops) if lp not in free), len(loops))
    return list(loops[:count])


def _plain(node: Node) -> Node:
    """Without marks."""
    if isinstance(node, Band):
        node = replace(node, loops=tuple(replace(lp, coincident=False) for lp in node.loops))
    return with_kids(node, tuple(_plain(k) for k in kids(node)))


@record
class Shape:
    """Loops around a statement that really vary: on the host, as threads, and in a thread."""

    host: int
    threads: int
    inside: int


def shape(p: Program, stmt: str) -> Shape:
    """Where the loops of a statement are."""
    around = [lp for lp in enclosing(p.tree, stmt) if active(p.scop, lp, stmt)]
    grid = [k for k, lp in enumerate(around) if lp.kind == GRID]
    if not grid:
        return Shape(max(0, len(around) - 1), 0, min(1, len(around)))
    return Shape(grid[0], len(grid), len(around) - grid[-1] - 1)


def predicted(d: Decision, processor: Device) -> float:
    """Seconds of a plan, with loops of a usual length."""
    return _cost(d.program, processor)


def _cost(p: Program, processor: Device) -> float:
    """Seconds, with loops of a usual length: launches, steps one after the other, and all steps together."""
    total = 0.0
    for s in p.scop.statements:
        x = shape(p, s.name)
        inside, width = SIZE**x.inside, SIZE**x.threads
        steps = inside * width / STEPS
        total += SIZE**x.host * (processor.launch + max(steps, inside * LATENCY / 10))
    return total
