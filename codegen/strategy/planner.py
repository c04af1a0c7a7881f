"""The planner: returns a plan for a region (`default_plan`) by the first technique that suits of a table (products,
tiles over time, reductions by rows, nest by nest); further tables have the techniques for nests: tiles, threads,
vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from codegen.diagnostics import Diagnostic, Severity
from codegen.machine import Machine
from codegen.plan.model import Directive, Plan, Schedule, Substitute
from codegen.recognize.access.domain_shape import leaves_out
from codegen.recognize.access.strides import coefficients, move
from codegen.record import record
from codegen.scop.dependences import compute_dependences
from codegen.scop.memo import remember
from codegen.scop.model import Statement
from codegen.scop.tree import Band, enclosing, has_band, loops, statements, walk
from codegen.strategy import remarks as sentences
from codegen.strategy.author import Author, Considered
from codegen.strategy.choice import GAIN, Decision, no_slower
from codegen.strategy.cost.cycles import cycles, short
from codegen.strategy.knobs.knob import KnobMaker
from codegen.strategy.knobs.orders import orders
from codegen.strategy.knobs.products import panels, product_sizes
from codegen.strategy.knobs.rows import jam_factors, vectors
from codegen.strategy.knobs.threads import thread_loops
from codegen.strategy.knobs.tiles import tile_lengths
from codegen.strategy.loops.interleaved_recurrences import has_chains
from codegen.strategy.orders.fusion import AUTO, Fusion, fuse
from codegen.strategy.orders.isl_schedule import is_large, isl_schedule
from codegen.strategy.orders.reshape import arranged, with_flags
from codegen.strategy.orders.root_loops import has_root_loops, with_root_loops
from codegen.strategy.orders.row_loops import rows_innermost
from codegen.strategy.orders.row_reductions import row_order, would_be
from codegen.strategy.products.expansion import Expanded, blocked, expand_for_products
from codegen.strategy.products.forwarding import forwarded
from codegen.strategy.products.selection import Products, find_products, in_panels
from codegen.strategy.products.substitution import remark as substitution_remark
from codegen.strategy.products.substitution import substituted
from codegen.strategy.sharing import REDUCTION_STRIPS, ROOT_STRIPS, WORK_SHARING, rows_behind, worth_threads
from codegen.strategy.technique import (
    NOT_THIS_KIND,
    RegionTechnique,
    Request,
    Site,
    Technique,
    Unsuited,
    best_that_suits,
    suited,
)
from codegen.strategy.tiling import ROWS_IN_TURN, SHARED_TILES, STRIPS, THROUGH_RECURRENCE, TILES, WAVEFRONT
from codegen.strategy.vectors import (
    DATA_DECIDES,
    EXPLICIT,
    FEW_STEPS,
    IN_ORDER,
    MARKED,
    OUTER,
    REDUCTION,
    STRIDED,
    TRANSPOSED,
    WRITTEN_OUT,
    worth_vectors,
)
from codegen.transform.program import Program


def default_plan(
    source: Program, machine: Machine, fusion: str = AUTO, effort: int = 2, layouts: bool = True
) -> Decision:
    """A plan for a region given in source order. `fusion` is none, smart, max, or auto for the best of them. Lower
    effort leaves out isolation (1) and tiling (0); without `layouts` arrays stay where they are."""
    asked, lost = Request(source, machine, fusion, effort, layouts), list[Considered]()
    for k, t in enumerate(REGIONS):
        try:
            made = t.propose(asked)
        except Unsuited as error:
            lost.append(Considered(t.name, (), str(error) or f"needs {t.needs}"))
            continue
        behind = (Considered(x.name, (), f"not asked after `{t.name}`: {t.first}") for x in REGIONS[k + 1 :])
        return replace(made, considered=(*lost, Considered(t.name, ()), *behind, *made.considered))
    raise AssertionError("the last technique suits every region")


def _products(asked: Request) -> Decision:
    best, first = _with_products(asked.source, asked.machine, asked.kind)
    if not best.products.directives:
        raise Unsuited(NOT_THIS_KIND)
    p = best.program.with_tree(best.products.tree)
    begun = Begun((*first, *best.directives), best.remarks, best.products.rows)
    return decorate(p, asked.machine, asked.effort, best.products, begun)


def _time_tiles(asked: Request) -> Decision:
    if asked.effort < 2:
        raise Unsuited("left out: a plan with it took too much work")
    made = _over_time(_in_order(asked.source), asked.machine, asked.kind)
    return replace(made, program=replace(made.program, deps=asked.source.deps))


def _column_panels(asked: Request) -> Decision:
    if asked.effort < 2 or not asked.layouts:
        raise Unsuited("left out: a plan with it took too much work" if asked.layouts else "arrays stay where they are")
    if not isinstance(asked.source.tree, Band) or max(len(s.iterators) for s in asked.source.scop.statements) < 3:
        raise Unsuited(NOT_THIS_KIND)
    from codegen.strategy.products.column_panels import column_panels

    found = suited(column_panels(asked.source, asked.machine))
    text = f"panels of columns, with {', '.join(found.arrays)} in memory of their own, on threads"
    told = Diagnostic(Severity.REMARK, "column-panels", text, asked.source.scop.loc, kind="passed")
    shape = Products(found.program.tree, (), (), shape=found.vectors)
    return decorate(found.program, asked.machine, asked.effort, shape, Begun(found.cuts, (told,), alone=found.alone))


def _reduced_rows(asked: Request) -> Decision:
    fused = _fused(asked.source, asked.machine, asked.fusion)
    order = suited(row_order((asked.source, fused.program), asked.machine) if asked.effort else None)
    if not order.pays:
        raise Unsuited(f"about {short(order.cycles)} cycles against {short(order.other)} in another order")
    products = _with_products(asked.source, asked.machine, asked.kind)[0].products
    begun = Begun(remarks=order.remarks, rows=order.threads)
    return decorate(order.program, asked.machine, asked.effort, products, begun)


def _nests(asked: Request) -> Decision:
    source, machine = asked.source, asked.machine
    fused = _with_or_without_permission(source, machine, asked.fusion)
    products = _with_products(source, machine, asked.kind)[0].products
    words = (*fused.remarks, *would_be(source, machine))
    made = decorate(fused.program, machine, asked.effort, products, Begun(remarks=words))
    if asked.fusion != AUTO or has_root_loops(fused.program):  # the model does not see what has no vectors
        return made
    return no_slower(source, fused.program, made, lambda: _in_source_order(source, machine, asked.effort), machine)


# Whole regions, the best first: a product runs at the speed of the arithmetic units, tiles over time at that of the
# cache, and whatever is left at that of its nests, each by the techniques below.
REGIONS = (
    RegionTechnique("products", "statements become blocked matrix products or sweeps of a matrix and vectors",
                    "sums of products over at least two loops", _products,
                    "a blocked product runs at the speed of the arithmetic units, which no order of its loops reaches",
                    (panels, product_sizes)),
    RegionTechnique("panels of columns", "columns that change with each other are changed panel by panel, from copies",
                    "a loop over columns each of which changes all those behind it", _column_panels,
                    "a panel stays in the cache for all steps of a block, which no order of the loops gives"),
    RegionTechnique("tiles over time", "several time steps of a stencil go through a tile while it is in the cache",
                    "a time loop around stencils that overwrite what they read", _time_tiles,
                    "a tile goes through several time steps for what one fetches, and the model counts each by itself",
                    (tile_lengths, jam_factors, thread_loops, vectors)),
    RegionTechnique("reductions row by row", "reductions along rows run side by side, along the lines of their arrays",
                    "reductions into rows whose elements the innermost loop does not step through", _reduced_rows,
                    "it was compared with the orders of the others before it was taken", (tile_lengths,)),
    RegionTechnique("nest by nest", "isl's order or the source's, whichever costs less, and the techniques for nests",
                    "nothing", _nests, "", (orders,)),
)  # fmt: skip
# Nests, pass by pass. Of the techniques in one pass a nest gets the first that suits; what got one is left out of the
# passes behind. Recurrences come first: what they wait for costs more than any cache.
TILING = ((ROWS_IN_TURN,), (THROUGH_RECURRENCE,), (SHARED_TILES,), (WAVEFRONT, STRIPS, TILES))
THREADS = (REDUCTION_STRIPS, ROOT_STRIPS, WORK_SHARING)
# Innermost loops. What compilers do better by themselves comes before what asks them for vectors.
VECTORS = (WRITTEN_OUT, DATA_DECIDES, REDUCTION, TRANSPOSED, STRIDED, FEW_STEPS, EXPLICIT, MARKED, OUTER, IN_ORDER)


def knob_makers() -> tuple[KnobMaker, ...]:
    """What can be changed about plans, by the rows of all tables; what several rows have in common, once."""
    nests = (t.knobs for part in (*TILING, THREADS, VECTORS) for t in part)
    return tuple(dict.fromkeys(maker for knobs in (*(t.knobs for t in REGIONS), *nests) for maker in knobs))


def _cut(author: Author, full: bool) -> None:
    """Cut loops, pass by pass."""
    done: set[str] = set()
    for techniques in TILING:
        for _, node in list(walk(author.p.tree)):
            if not isinstance(node, Band) or done & set(statements(node)) or not _concerns(techniques[-1], node):
                continue
            if best_that_suits(author, Site(node, full=full), techniques) is not None or techniques is TILING[-1]:
                done |= set(statements(node))


def _concerns(t: Technique, node: Band) -> bool:
    """Is it a band for the techniques of a pass? Tiles are for innermost ones."""
    return t is not TILES or (node.permutable and not has_band(node.child))


def _share(author: Author, alone: tuple[str, ...]) -> None:
    """The outermost legal loop of every nest becomes parallel."""
    for place in sorted(loops(author.p.tree), key=lambda q: (len(q.names), q.path)):
        if not set(statements(place.band)) <= set(alone) and worth_threads(author.p, place):
            best_that_suits(author, Site(place.band, place), THREADS)


def _vectorize(author: Author) -> None:
    """Innermost loops get vectors, or are left to the compiler."""
    for _, node in list(walk(author.p.tree)):
        if isinstance(node, Band) and worth_vectors(author.p, node):
            best_that_suits(author, Site(node), VECTORS)


@remember(1)
def _fused(source: Program, machine: Machine, fusion: str) -> Fusion:
    found = fuse(source, machine, fusion, usual_order)
    return replace(found, program=with_root_loops(found.program))


def _with_or_without_permission(source: Program, machine: Machine, fusion: str) -> Fusion:
    """The order that costs less: of sums in any order, or the order that isl finds with the source's order of sums
    kept. With fewer dependences isl looks for parallel loops alone, and takes sums apart that stay in registers
    otherwise (conv2d-dilated with --reassociate: 0.58 of its speed without)."""
    free, kept = _fused(source, machine, fusion), _in_order(source)
    if kept is source or fusion != AUTO:
        return free
    strict = _fused(kept, machine, fusion)
    if GAIN * cycles(strict.program, machine) >= cycles(free.program, machine):
        return free
    return replace(strict, program=replace(strict.program, deps=source.deps))


def loop_plan(
    source: Program, machine: Machine, fusion: str, effort: int, products: Products | None = None
) -> Decision:
    """isl's order with tiles, threads and vectors; no products but those given, and no tiles over time."""
    return decorate(usual_order(source, fusion), machine, effort, products)


def usual_order(source: Program, fusion: str) -> Program:
    """isl's order, with statements of different depth apart and the lines of arrays innermost; the source's, where isl
    would take too long to find one."""
    if is_large(source.scop, source.deps, source.tree):
        return with_flags(source)
    tree = isl_schedule(source.scop, source.deps, source.tree, fusion)
    return rows_innermost(arranged(source, tree))


def _in_order(source: Program) -> Program:
    """With the order of all sums and extremes kept. What is updated step by step over time is a sum, too: isl makes no
    band of it once its steps are free (fdtd-2d with --reassociate: 0.68 of its speed without)."""
    if not source.deps.folds:
        return source
    return replace(source, deps=compute_dependences(source.scop, source.tree, {}))


def _over_time(source: Program, machine: Machine, fusion: str) -> Decision:
    """Tiles over time, when the region is of that kind and each of them can be written as vector loops. Not where all
    steps are kept: those have to go to memory in any case (wave-1d: 0.87 of gcc). Raises Unsuited."""
    if any(leaves_out(s) for s in source.scop.statements) or _kept_apart(source):
        raise Unsuited(NOT_THIS_KIND)
    if is_large(source.scop, source.deps, source.tree):
        raise Unsuited("the region is too large: to find an order takes too much work")
    from codegen.strategy.loops.time_tiles import time_tiles

    usual = isl_schedule(source.scop, source.deps, source.tree, fusion)
    found = suited(time_tiles(source, machine, usual))
    author = Author(source, [], [], machine)
    first = source.scop.statements[0].name
    cut = next((c for c in found.cuts if author.all_or_none((found.schedule, *c.tiles, *found.inside))), None)
    if cut is None:
        raise Unsuited(author.why)
    threads = machine.cores > 1 and author.all_or_none(cut.threads)
    if not all(author.attempt(d) for d in found.vectors):
        raise Unsuited(author.why)
    for d in found.rows:
        author.attempt(d)
    author.remark("passed", "time-tiles", cut.text + (f"; {cut.way}" if threads else ""), first)
    for stmt, why in found.why:
        author.remark("analysis", "register-tile", why, stmt)
    return Decision(Plan(source.scop.region, tuple(author.directives)), tuple(author.remarks), author.p)


def _kept_apart(source: Program) -> bool:
    """Does every iteration of the outermost loop write elsewhere?"""
    for s in source.scop.statements:
        around = enclosing(source.tree, s.name)
        target = s.accesses[s.target]
        if not around or move(source.scop, s, target, around, 0).still or not source.scop.arrays[target.array].rank:
            return False
    return True


def _in_source_order(source: Program, machine: Machine, effort: int) -> Decision:
    """The source's order, with rows that take turns where each keeps variables of the region."""
    return decorate(with_flags(source), machine, effort) if has_chains(source) else _marked(source, machine)


def source_plan(source: Program, machine: Machine) -> Decision:
    """Keep the source's order; only mark loops."""
    return _marked(source, machine)


@remember(1)
def _marked(source: Program, machine: Machine) -> Decision:
    return decorate(source, machine, 0)


@remember(1, failures=True)
def _with_products(source: Program, machine: Machine, fusion: str) -> tuple[Expanded, tuple[Directive, ...]]:
    """The form of the region with the most blocked products, else the first with any; and how to get there."""
    best: tuple[Expanded, tuple[Directive, ...]] | None = None
    for p, first in _forms(source):
        made = expand_for_products(p, find_products(p, machine, fusion), machine, fusion)
        panels = None if _all_products(made) else in_panels(made.program, machine, fusion)
        if panels is not None and _rank(panels[2]) > _rank(made.products):
            q, blocks, found = panels
            words = (*made.remarks, *sentences.panels(made.program.scop, blocks))
            made = replace(made, program=q, products=found, directives=(*made.directives, *blocks), remarks=words)
        names = [d.variable for d in first if isinstance(d, Substitute)]
        if names:
            if not blocked(made.products):
                continue
            made = replace(made, remarks=(substitution_remark(source.scop, names), *made.remarks))
        if best is None or _rank(made.products) > _rank(best[0].products):
            best = made, first
    assert best is not None
    return best


def _rank(found: Products) -> tuple[int, bool]:
    return len(blocked(found)), bool(found.directives)


def _all_products(made: Expanded) -> bool:
    """Is everything that could be a product one, and a matrix product if it could be that?"""
    any_kind = {d.stmt for d in made.products.directives}
    return all(
        s.name in (blocked(made.products) if len(s.iterators) > 2 else any_kind)
        for s in made.program.scop.statements
        if len(s.iterators) > 1 and _folds(s)
    )


def _folds(s: Statement) -> bool:
    """Does a loop around the statement go on with the same element?"""
    index, n = s.accesses[s.target].index, len(s.iterators)
    rows = [coefficients(index.get_pw_aff(k), n) for k in range(index.dim(isl.dim_type.out))]
    return any(all(c is not None and not c[d] for c in rows) for d in range(n))


def _forms(source: Program) -> Iterator[tuple[Program, tuple[Directive, ...]]]:
    """The region as it is and, first, with values in place of temporaries and with scalars forwarded: only products
    gain from that."""
    q, named = substituted(source)
    for p, first in ((q, named), (source, ())) if named else ((source, ()),):
        r, done = forwarded(p)
        if done:
            yield r, (*first, *done)
        yield p, first


@record
class Begun:
    """What is decided about a region before its nests are: directives, the reasons for them, `rows` that follow each
    other on threads, and statements that one thread runs `alone`: they have too little to do between two meetings."""

    directives: tuple[Directive, ...] = ()
    remarks: tuple[Diagnostic, ...] = ()
    rows: tuple[tuple[Directive, ...], ...] = ()
    alone: tuple[str, ...] = ()


def decorate(
    p: Program, machine: Machine, effort: int, products: Products | None = None, begun: Begun | None = None
) -> Decision:
    """Products first, and rows that follow each other on threads; then tile the rest, and mark parallel and vector
    loops."""
    begun = begun or Begun()
    author = Author(p, [*begun.directives, Schedule(p.tree)], [*begun.remarks], machine)
    if products is not None:
        for d in products.shape:
            author.attempt(d)
        for d, remark in zip(products.directives, products.remarks, strict=True):
            if author.attempt(d):
                author.remarks.append(remark)
            else:
                author.remark("missed", "no-product", f"no product: {author.why}", d.stmt)
        author.remarks.extend((*products.told, *products.missed))
    for steps in begun.rows if machine.cores > 1 else ():
        rows_behind(author, steps)
    if effort:
        _cut(author, full=effort > 1)
    _share(author, begun.alone)
    _vectorize(author)
    author.remarks.extend(sentences.nothing(p.scop, author.directives))
    return Decision(
        Plan(p.scop.region, tuple(author.directives)), tuple(author.remarks), author.p, tuple(author.considered)
    )
