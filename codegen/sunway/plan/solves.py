"""Plans triangular solves in blocks for a core group: rows that need earlier rows of the same array take those by
blocks. Returns the plan (`Decision`), or None for other regions.

In `B[i][j] -= L[i][k] * B[k][j]` row i needs every row before it, for which local memory has no room. Counted in blocks
of rows, what comes from earlier blocks is a product of tiles: it goes first, block by block, while the rows of this
block stay in local memory; then the block's own rows follow in the order of the source. Columns are shared by the
cores.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

import islpy as isl

from codegen.diagnostics import Diagnostic, InputError, Severity
from codegen.plan.model import Directive, Distribute, LoopRef, Parallel, Plan, Schedule, StripMine, Tile
from codegen.record import record
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import Band, Leaf, Loop, Node, kids, loops, seq, walk
from codegen.strategy.choice import Decision
from codegen.strategy.orders.isl_schedule import isl_schedule
from codegen.strategy.orders.split import iterator_of, movers
from codegen.sunway.plan.machine import CoreGroup
from codegen.transform.apply import apply
from codegen.transform.block import fresh
from codegen.transform.program import Program

SIDES = (64, 32, 16, 8)
TILES = 5  # of so many elements squared: the block's rows, earlier ones, and the matrix, of which some come ahead


@record
class SolvedRows:
    """Statements that need earlier rows, with the iterator of those; and the iterator of the row that each writes."""

    needs: dict[str, int]
    rows: dict[str, int]


def solved_rows(scop: Scop) -> SolvedRows | None:
    """The rows of the one array that a region writes, where a statement reads others of them."""
    arrays = {s.accesses[s.target].array for s in scop.statements}
    if len(arrays) != 1 or any(not s.iterators for s in scop.statements):
        return None
    for d in range(scop.arrays[min(arrays)].rank):
        needs, rows = {}, {}
        for s in scop.statements:
            written = movers(s.accesses[s.target], s)[d]
            if len(written) != 1:
                break
            rows[s.name] = written[0]
            others = _other_rows(s, d, written[0])
            if len(others) == 1:
                needs[s.name] = min(others)
        if needs and len(rows) == len(scop.statements):
            return SolvedRows(needs, rows)
    return None


def _other_rows(s: Statement, d: int, row: int) -> set[int]:
    """The iterators of rows that a statement reads beside its own."""
    reads = [a for a in s.accesses if not a.write and a.array == s.accesses[s.target].array]
    found = [movers(a, s)[d] for a in reads]
    return {k[0] for k in found if len(k) == 1 and k[0] != row}


def solve_plan(source: Program, group: CoreGroup, share: float) -> Decision | None:
    """A plan for a solve, with tiles for a part of local memory; None where the region is none."""
    found = solved_rows(source.scop)
    if found is None or _columns(source) is None:
        return None
    scop, room = source.scop, share * (group.ldm_bytes - group.reserve)
    bytes_ = max(a.elem.bytes for a in scop.arrays.values())
    side = next((n for n in SIDES if TILES * n * n * bytes_ <= room), SIDES[-1])
    values = {n: iterator_of(scop.statement(n), k) for n, k in found.rows.items()}
    apart = {n: ((iterator_of(scop.statement(n), found.needs[n]),) if n in found.needs else ()) for n in values}
    cut = StripMine(fresh(scop, f"{scop.statement(min(found.rows)).iterators[found.rows[min(found.rows)]]}b"), values,
                    side, apart)  # fmt: skip
    p = apply(source, cut)
    early = {s.name for s in p.scop.statements} - set(found.rows)
    columns = _columns(p)
    if columns is None or not early or not _from_other_blocks(p, early):
        return None
    blocks = Loop(cut.name, {s.name: iterator_of(s, len(s.iterators) - 1) for s in p.scop.statements})

    def inside(stmts: Set[str]) -> Node | None:
        return _without(p.tree, stmts, lambda lp: _same(lp, columns))

    parts = [inside(early), inside(set(found.rows))]
    order = Schedule(Band((columns, blocks), seq([x for x in parts if x is not None]), permutable=True))
    return _in_tiles(source, p, (cut, order), early, (columns.name, cut.name, side))


def _in_tiles(
    source: Program, p: Program, begin: tuple[StripMine, Schedule], early: Set[str], names: tuple[str, str, int]
) -> Decision | None:
    """Tiles of columns on the cores; what comes from earlier blocks one by one."""
    cut, order = begin
    columns, block, side = names
    first = min(early)
    steps: list[Directive] = [
        order,
        Tile(((LoopRef(columns, first), side), (LoopRef(block, first), 1))),
        Parallel(LoopRef(f"{columns}t", first)),
        Distribute(LoopRef(block, first)),
        Distribute(LoopRef(columns, first)),
    ]
    try:
        for d in steps:
            p = apply(p, d)
        for stmt in sorted(early):
            inner = [lp.name for lp in _around(p.tree, stmt) if not lp.tile]
            points = tuple((LoopRef(n, stmt), side if n == inner[-1] else 0) for n in inner)
            steps.append(Tile(points))
            p = apply(p, steps[-1])
    except InputError:
        return None
    text = f"rows in blocks of {side}, tiles {columns}:{side} on the compute cores; earlier blocks come one by one"
    remark = Diagnostic(Severity.REMARK, "kernel", text, source.scop.statements[0].loc, kind="passed")
    return Decision(Plan(source.scop.region, (cut, *steps)), (remark,), p)


def _around(tree: Node, stmt: str) -> list[Loop]:
    return [f.loop for f in loops(tree) if stmt in f.loop.exprs]


def _columns(p: Program) -> Loop | None:
    """The outermost loop, where its iterations have nothing to do with each other."""
    tree = isl_schedule(p.scop, p.deps, p.tree, "smart")
    first = next((n for _, n in walk(tree) if isinstance(n, Band)), None)
    everywhere = first is not None and len(first.loops[0].exprs) == len(p.scop.statements)
    return first.loops[0] if first is not None and everywhere and first.loops[0].coincident else None


def _from_other_blocks(p: Program, early: Set[str]) -> bool:
    """Do rows need what the region itself has computed, in another block?"""
    for flow in p.deps.flows.values():
        for m in maps_of(flow):
            if m.get_tuple_name(isl.dim_type.out) not in early:
                continue
            ends = m.dim(isl.dim_type.in_) - 1, m.dim(isl.dim_type.out) - 1
            if not m.is_subset(m.equate(isl.dim_type.in_, ends[0], isl.dim_type.out, ends[1])):
                return True
    return False


def _same(lp: Loop, columns: Loop) -> bool:
    return all(e.is_equal(columns.exprs[s]) for s, e in lp.exprs.items())


def _without(node: Node, stmts: Set[str], dropped: Callable[[Loop], bool]) -> Node | None:
    """The tree of some statements, without some of its loops."""
    if isinstance(node, Leaf):
        return node if node.stmt in stmts else None
    inner = [x for x in (_without(k, stmts, dropped) for k in kids(node)) if x is not None]
    if not inner:
        return None
    if not isinstance(node, Band):
        return seq(inner)
    kept = [lp for lp in node.loops if not dropped(lp)]
    left = [replace(lp, exprs={s: e for s, e in lp.exprs.items() if s in stmts}) for lp in kept]
    return replace(node, loops=tuple(left), child=inner[0]) if left else inner[0]
