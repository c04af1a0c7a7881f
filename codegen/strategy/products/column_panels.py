"""Finds a sequential loop that goes over the columns of a matrix, each of which changes all those behind it, and puts
it in blocks: what a block does to the columns beyond it is done panel by panel, on threads, while a panel is in cache.
Returns the region in new names, with arrays kept in panels (`layout`) and its new order, or None.

Column by column the whole matrix comes from memory again for every step. In strips of columns without a copy each row
of a strip is on a page of its own. gramschmidt, 1200 x 1000, f64, Neoverse N1, one thread and two: 0.76 and 0.66 s
column by column, 0.45 and 0.25 s in panels; in strips of 16 columns without copies 1.79 and 1.00 s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from codegen.diagnostics import InputError
from codegen.machine import Machine
from codegen.plan.model import Directive, LoopRef, Relayout, StripMine, Vector
from codegen.recognize.access.domain_shape import extent
from codegen.recognize.access.strides import coefficients
from codegen.record import record
from codegen.scop.distance import is_zero, same_value
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.tree import Band, Leaf, Loop, Node, has_band, kids, seq, statements
from codegen.strategy.loops.outer_vectors import arithmetic, lane_type
from codegen.strategy.orders.distribution import only, universe
from codegen.strategy.orders.row_loops import over, plain, value_of
from codegen.strategy.products.block_parts import apart_of
from codegen.transform.block import apply as apply_block
from codegen.transform.block import fresh
from codegen.transform.layout import apply as apply_layout
from codegen.transform.program import Program, violation

# Columns of a panel: as many vectors of 16 bytes as hide how long a sum waits; a row of them is two lines of a cache.
COLUMNS = 16
LONG = 128  # rows from which a column leaves the first cache before it is gone down again


@record
class ColumnPanels:
    """The region with a loop in blocks and arrays in panels: how it is cut, and vectors for what panels go through."""

    program: Program
    cuts: tuple[Directive, ...]
    vectors: tuple[Vector, ...]
    arrays: tuple[str, ...]
    alone: tuple[str, ...]  # a block's own columns


@record
class _Blocks:
    """The region with its loop in blocks: statements inside a block, those beyond it, and the loop over the columns
    that these change, in blocks as well."""

    program: Program
    outer: StripMine
    panels: StripMine
    columns: str
    inside: tuple[str, ...]
    beyond: tuple[str, ...]


def column_panels(p: Program, machine: Machine) -> ColumnPanels | None:
    """For a region in the order of the source; None where it is of another kind."""
    try:
        found = _in_blocks(p)
        if found is None:
            return None
        q, layouts = found.program, list[Relayout]()
        for name in _streamed(found, machine):
            d = Relayout(_free(q.scop, name), name, COLUMNS, not _from_before(q, name))
            q = apply_layout(q, d)
            layouts.append(d)
    except InputError:
        return None
    tree = _tree(found)
    vectors = tuple(_vectors(found, q, tree, machine))
    done = q.with_tree(seq([x if not set(statements(x)) & set(found.inside) else tree for x in _parts(q.tree)]))
    if not layouts or not vectors or violation(done):
        return None
    cuts: tuple[Directive, ...] = (found.outer, found.panels, *layouts)
    return ColumnPanels(done, cuts, vectors, tuple(d.array for d in layouts), found.inside)


def _in_blocks(p: Program) -> _Blocks | None:
    """Raises InputError where a loop cannot be counted in blocks."""
    tree = p.tree
    if not isinstance(tree, Band) or is_zero(p.must, tree.loops[0].exprs):
        return None
    shared, names = tree.loops[0], statements(tree)
    if any(not plain(e) for e in shared.exprs.values()) or max(len(s.iterators) for s in p.scop.statements) < 3:
        return None
    apart = {n: apart_of(p.scop, p.scop.statement(n), shared.exprs[n]) for n in names}
    columns = {_iterator(p.scop.statement(n), x) for n, values in apart.items() for x in values}
    if len(columns) != 1 or any(len(values) > 1 for values in apart.values()):
        return None
    (column,) = columns
    d = StripMine(fresh(p.scop, shared.name + "b"), dict(shared.exprs), COLUMNS, apart)
    q = apply_block(p, d)
    beyond = tuple(s.name for s in q.scop.statements if column in s.iterators and _beyond(s, column, d))
    inside = tuple(s.name for s in q.scop.statements if s.name not in beyond)
    lines = Loop(column, {n: _value(q.scop.statement(n), column) for n in beyond})
    ties = same_value(_among(q, beyond), over(q.scop, d, beyond).exprs)
    if not beyond or not is_zero(ties, lines.exprs):
        return None
    e = StripMine(fresh(q.scop, column + "b"), dict(lines.exprs), COLUMNS, {})
    return _Blocks(apply_block(q, e), d, e, column, inside, beyond)


def _iterator(s: Statement, value: isl.PwAff) -> str:
    """The iterator that a value is; empty where it is another one."""
    found = [k for k in range(len(s.iterators)) if value.plain_is_equal(value_of(s, k))]
    return s.iterators[found[0]] if found else ""


def _value(s: Statement, name: str) -> isl.PwAff:
    return value_of(s, s.iterators.index(name))


def _beyond(s: Statement, column: str, d: StripMine) -> bool:
    """Do all instances change columns behind their block?"""
    past = _value(s, d.name).add_constant_val(isl.Val(1)).scale_val(isl.Val(d.size))
    return bool(s.domain.is_subset(_value(s, column).ge_set(past)))


def _among(p: Program, names: Sequence[str]) -> isl.UnionMap:
    here = universe(p.scop, names)
    return p.must.intersect_domain(here).intersect_range(here)


def _streamed(found: _Blocks, machine: Machine) -> tuple[str, ...]:
    """Arrays that the statements beyond a block go down by a few columns, again in every step of the block; none where
    no such array is changed on the way, or all of them stay in the cache anyway."""
    scop, arrays, changed = found.program.scop, dict[str, None](), False
    for s in (scop.statement(n) for n in found.beyond):
        for a in s.accesses:
            if _goes_down(s, a, found):
                arrays[a.array] = None
                changed = changed or (a.write and not _moves(s, a, s.iterators[0]))
    return tuple(arrays) if changed and not _small(scop, arrays, machine) else ()


def _goes_down(s: Statement, a: Access, found: _Blocks) -> bool:
    """Do long loops inside a panel move its rows, and is its column one of a block?"""
    rank, n = a.index.dim(isl.dim_type.out), len(s.iterators)
    if rank < 2 or _iterator(s, a.index.get_pw_aff(rank - 1)) not in (found.columns, s.iterators[0]):
        return False
    fixed = [s.iterators.index(x) for x in (s.iterators[0], found.columns, found.outer.name, found.panels.name)]
    counts = {k: extent(s, k, fixed) for k in range(n) if k not in fixed}
    long = [k for k, count in counts.items() if count is None or count >= LONG]
    rows = [coefficients(a.index.get_pw_aff(k), n) for k in range(rank - 1)]
    return any(c is not None and c[k] for c in rows for k in long)


def _moves(s: Statement, a: Access, name: str) -> bool:
    k, n = s.iterators.index(name), len(s.iterators)
    values = [coefficients(a.index.get_pw_aff(d), n) for d in range(a.index.dim(isl.dim_type.out))]
    return any(c is None or c[k] for c in values)


def _small(scop: Scop, arrays: Sequence[str] | dict[str, None], machine: Machine) -> bool:
    """Do the arrays fit the second cache, whatever the parameters are?"""
    total = 0
    for name in arrays:
        size = scop.arrays[name].elem.bytes
        for e in scop.arrays[name].extents:
            if not e.isdigit():
                return False
            size *= int(e)
        total += size
    second = machine.cache(2)
    return total <= (second.bytes if second else 0)


def _from_before(p: Program, array: str) -> bool:
    return any(m.get_tuple_name(isl.dim_type.out) == array for m in maps_of(p.deps.live_in) if not m.is_empty())


def _free(scop: Scop, array: str) -> str:
    """A name for the panels of an array."""
    return fresh(scop, f"{scop.arrays[array].base}_panels")


def _parts(tree: Node) -> tuple[Node, ...]:
    return tuple(kids(tree))


def _tree(found: _Blocks) -> Node:
    """A block's own columns, then those beyond it panel by panel."""
    q = found.program
    outer = over(q.scop, found.outer, (*found.inside, *found.beyond))
    panels = replace(over(q.scop, found.panels, found.beyond), coincident=True)
    first, then = (_sunk(only(q.tree, names), found.columns, None) for names in (found.inside, found.beyond))
    return Band((outer,), seq([first, Band((panels,), then)]))


def _sunk(node: Node, name: str, lines: Loop | None) -> Node:
    """The tree with the loop `name` right around every innermost nest that it is around of."""
    if isinstance(node, Band):
        lines = next((lp for lp in node.loops if lp.name == name), lines)
        rest = tuple(lp for lp in node.loops if lp.name != name)
        if lines is None or has_band(node.child) or not rest:
            child = _sunk(node.child, name, lines)
            return Band(rest, child, node.permutable) if rest else child
        return Band((_of(lines, node), *rest), node.child)
    if isinstance(node, Leaf):
        return node if lines is None else Band((_of(lines, node),), node)
    return seq([_sunk(k, name, lines) for k in kids(node)])


def _of(lp: Loop, node: Node) -> Loop:
    return replace(lp, exprs={n: lp.exprs[n] for n in statements(node)}, coincident=True)


def _vectors(found: _Blocks, q: Program, node: Node, machine: Machine) -> list[Vector]:
    """Vectors along the columns of a panel, for nests that go down them. Inside a block there are fewer columns."""
    if not isinstance(node, Band):
        return [v for k in kids(node) for v in _vectors(found, q, k, machine)]
    if has_band(node.child) or node.loops[0].name != found.columns or len(node.loops) < 2:
        return _vectors(found, q, node.child, machine)
    stmts = [q.scop.statement(n) for n in statements(node)]
    elem = lane_type(q, stmts, machine)
    if elem is None or not all(arithmetic(q, s, elem) for s in stmts):
        return []
    columns = COLUMNS if stmts[0].name in found.beyond else COLUMNS // 2
    side = max(1, min(8, columns // machine.lanes(elem.bytes)))
    return [Vector(LoopRef(found.columns, stmts[0].name), machine.vector_bits // 8, side)]
