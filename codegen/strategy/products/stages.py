"""Finds recurrences to run in blocks that follow each other: threads own blocks of results, and go through the steps in
stages. Returns the region cut that way with its products (`Panels`), or None.

In a table of intervals (nussinov) a result needs those of all shorter ones inside. Counted in blocks by the results and
by the steps of the outer loop, what lies apart from both blocks is a product of finished results. Every dependence runs
forward along both counts, so a thread can take a block of results and go from stage to stage behind the thread of the
block before.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.diagnostics import InputError
from codegen.machine import Machine
from codegen.plan.model import LoopRef, Pipeline, StripMine
from codegen.recognize.access.strides import coefficients
from codegen.recognize.products.contraction import folds_others
from codegen.record import record
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import Band, Leaf, Node, parts_of, seq, statements
from codegen.strategy.orders.distribution import only
from codegen.strategy.orders.isl_schedule import is_costly, isl_schedule
from codegen.strategy.orders.reshape import arranged
from codegen.strategy.orders.row_loops import over, plain, rows_innermost, value_of
from codegen.strategy.orders.row_reductions import row_order
from codegen.strategy.products.block_parts import product_in_blocks, product_loops, size
from codegen.strategy.products.panels import Panel, Panels
from codegen.transform.block import apply as apply_block
from codegen.transform.block import fresh
from codegen.transform.pipeline import apply as pipeline
from codegen.transform.program import Program, legal


@record
class _Forms:
    """The region in new names, in the order of the source and in the scheduler's."""

    source: Program
    order: Program

    def blocked(self, d: StripMine) -> _Forms:
        return _Forms(apply_block(self.source, d), apply_block(self.order, d))


def find_stages(p: Program, machine: Machine, fusion: str) -> Panels | None:
    """The region `p`, given in the order of the source, with such recurrences in blocks; None where it has none."""
    if not any(_recurs(p.scop, s) for s in p.scop.statements) or is_costly(p.scop, p.deps, p.tree, fusion):
        return None
    order = rows_innermost(arranged(p, isl_schedule(p.scop, p.deps, p.tree, fusion)))
    by_rows = row_order((p, order), machine)
    if by_rows is not None and by_rows.pays:
        order, words = by_rows.program, by_rows.remarks
    else:
        words = ()
    now, out = _Forms(p, order), list[Panel | tuple[str, ...]]()
    for node in parts_of(order.tree):
        found = _staged(now, node, machine)
        if found is not None:
            now, panel = found
            out.append(panel)
        elif out and not isinstance(out[-1], Panel):
            out[-1] = (*out[-1], *statements(node))
        else:
            out.append(statements(node))
    if not any(isinstance(x, Panel) for x in out):
        return None
    return Panels(now.source, tuple(out), words)


def _recurs(scop: Scop, s: Statement) -> bool:
    """Does the statement gather from other elements of the array it gathers in?

    A triangular solve, with two loops, would be of the kind, too, but short pieces of lines come slowly: f64, stages of
    40 columns in place of whole lines, n = 8000, one Neoverse N1: 38 ms in place of 17.5. Wide blocks around short ones
    (`panels.py`) take whole lines: n = 2000 on 16 x86-64 cores 0.20 ms, where stages take 0.34.
    """
    target = s.accesses[s.target]
    if len(s.iterators) < 3:
        return False
    others = [a for a in s.accesses if a.array == target.array and not a.index.plain_is_equal(target.index)]
    return bool(others) and folds_others(scop, s)


def _staged(now: _Forms, node: Node, machine: Machine) -> tuple[_Forms, Panel] | None:
    """One part of the region in blocks of its results and of the steps of its outermost loop."""
    if not isinstance(node, Band) or node.loops[0].coincident:
        return None
    scop, names, steps = now.source.scop, statements(node), node.loops[0].exprs
    deepest = max(len(scop.statement(n).iterators) for n in names)
    deep = [s for n in names for s in [scop.statement(n)] if len(s.iterators) == deepest and _recurs(scop, s)]
    if len(deep) != 1 or not all(plain(steps[n]) for n in names):
        return None
    s = deep[0]
    gathered, step = _gathered(s), steps[s.name]
    if gathered is None or step.involves_dims(isl.dim_type.in_, gathered, 1):
        return None
    # A thread's stage lies on the way from the first result to the last one, so it has to be short.
    length = max(8, size(scop, deep, machine) // 2 // 8 * 8)
    apart = _signed(value_of(s, gathered), not _upwards(step))
    stage = StripMine(fresh(scop, node.loops[0].name + "b"), dict(steps), length, {s.name: (apart,)})
    ways = (_in_blocks(now, names, stage, gathered, x, machine) for x in (False, True) if _forward(s, x))
    return next((made for made in ways if made is not None), None)


def _forward(s: Statement, downwards: bool) -> bool:
    """Does the statement read no result that is counted behind its own? Not so where each step needs all results of the
    one before (viterbi), which no blocks can follow."""
    target = s.accesses[s.target]
    last = target.index.dim(isl.dim_type.out) - 1
    if last < 0:
        return False
    own = _signed(target.index.get_pw_aff(last), downwards)
    read = (_signed(a.index.get_pw_aff(last), downwards) for a in s.reads if a.array == target.array)
    return all(value.gt_set(own).intersect(s.domain).is_empty() for value in read)


def _signed(value: isl.PwAff, downwards: bool) -> isl.PwAff:
    return value.neg() if downwards else value


def _results(scop: Scop, names: Sequence[str], downwards: bool) -> dict[str, isl.PwAff] | None:
    """What each statement's result is counted by: its last subscript, upwards or downwards."""
    out = {}
    for n in names:
        s = scop.statement(n)
        index = s.accesses[s.target].index
        last = index.dim(isl.dim_type.out) - 1
        if last < 0 or not plain(index.get_pw_aff(last)):
            return None
        out[n] = _signed(index.get_pw_aff(last), downwards)
    return out


def _gathered(s: Statement) -> int | None:
    """The one iterator that the statement gathers over."""
    index = s.accesses[s.target].index
    values = [index.get_pw_aff(d) for d in range(index.dim(isl.dim_type.out))]
    free = [k for k in range(len(s.iterators)) if not any(v.involves_dims(isl.dim_type.in_, k, 1) for v in values)]
    return free[0] if len(free) == 1 else None


def _upwards(value: isl.PwAff) -> bool:
    return sum(coefficients(value, value.dim(isl.dim_type.in_)) or ()) > 0


def _in_blocks(
    now: _Forms, names: tuple[str, ...], stage: StripMine, depth: int, downwards: bool, machine: Machine
) -> tuple[_Forms, Panel] | None:
    """Blocks of results around stages, the products in them before or after the rest, as dependences want it."""
    try:
        cut = now.blocked(stage)
        results = _of_results(cut.source.scop, names, stage, depth, downwards)
        if results is None:
            return None
        cut = cut.blocked(results)
    except InputError:
        return None
    q = cut.source
    mine = tuple(s.name for s in q.scop.statements if stage.name in s.iterators)
    loops = over(q.scop, results, mine), over(q.scop, stage, mine)
    found = [product_in_blocks(q, n, loops, machine) for n in mine if n not in names]
    products = tuple(what for what in found if what is not None)
    done = {what.stmt for what in products}
    part = next(x for x in parts_of(cut.order.tree) if set(names) & set(statements(x)))
    rest = only(part, [n for n in mine if n not in done])
    nests = [Band(product_loops(q, what), Leaf(what.stmt), True) for what in products]
    behind = Pipeline(LoopRef(results.name, mine[0]), LoopRef(stage.name, mine[0]))
    for parts in ([*nests, rest], [rest, *nests]) if nests else ():
        trial = q.with_tree(Band(loops, seq(parts), True))
        if legal(trial) and _follow(trial, behind):
            return cut, Panel((stage, results), trial.tree, products, stage.size, (behind,))
    return None


def _of_results(scop: Scop, names: tuple[str, ...], stage: StripMine, depth: int, downwards: bool) -> StripMine | None:
    """Blocks of twice as many results as a stage has steps: they lie side by side in memory. Operands are finished
    when the iterator `depth` lies outside the block, too."""
    mine = [s for s in scop.statements if stage.name in s.iterators]
    values = _results(scop, [s.name for s in mine], downwards)
    if values is None:
        return None
    apart = {s.name: (_signed(value_of(s, depth), downwards),) for s in mine if s.name not in names}
    return StripMine(fresh(scop, stage.name[:-1] + "r"), values, 2 * stage.size, apart)


def _follow(p: Program, behind: Pipeline) -> bool:
    try:
        pipeline(p, behind)
    except InputError:
        return False
    return True
