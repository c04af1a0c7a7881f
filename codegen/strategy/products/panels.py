"""Finds factorizations that can run in panels: a sequential loop in blocks, and what lies beyond a block as a product.
Returns the region cut that way, with its new order and products (`Panels`), or None.

In lu, cholesky and their like no loop around the update may be blocked as in a product: its operands are results of the
same loop. Counted in blocks, a panel of results is finished first; what it does to the rest is then a product of depth
`size`, of operands that nobody writes any more. Which instances can wait is a matter of dependences: after `block` has
told apart what lies inside and beyond, the strongly connected components of the dependences within one block say what
must stay together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from codegen.diagnostics import Diagnostic, InputError
from codegen.machine import Machine
from codegen.plan.model import CopyReads, Directive, StripMine
from codegen.recognize.access.domain_shape import extent
from codegen.recognize.access.strides import coefficients
from codegen.recognize.products.contraction import NoContraction, contraction, folds_others
from codegen.recognize.products.matrix_vector import layout
from codegen.record import record
from codegen.scop.dependences import Dependence, Dependences
from codegen.scop.distance import same_value
from codegen.scop.model import Scop, Statement
from codegen.scop.product import Contraction
from codegen.scop.tree import Band, Leaf, Loop, Node, enclosing, loops, parts_of, seq, statements
from codegen.strategy.orders.distribution import only, part, strongly_connected
from codegen.strategy.orders.isl_schedule import is_costly, isl_schedule, rename
from codegen.strategy.orders.levels import by_levels
from codegen.strategy.orders.reshape import arranged
from codegen.strategy.orders.row_loops import in_strips, over, plain, row_loop, value_of
from codegen.strategy.products.copies import copies_of_reads, edges, meets
from codegen.strategy.products.independent import independent
from codegen.strategy.products.matrix_vector import reason_against
from codegen.transform.block import apply as apply_block
from codegen.transform.block import fresh
from codegen.transform.copy_reads import apply as apply_keep
from codegen.transform.program import Program, make_program


@record
class Panel:
    """A part of the region below one loop in blocks: how it is cut, the tree that follows, the products in it."""

    blocks: tuple[Directive, ...]
    tree: Node
    products: tuple[Contraction, ...]
    size: int
    rows: tuple[Directive, ...] = ()  # blocks that follow each other on threads


@record
class Panels:
    """The region in new names, and its parts in order: panels, and statements between them."""

    program: Program
    parts: tuple[Panel | tuple[str, ...], ...]
    remarks: tuple[Diagnostic, ...] = ()  # on the order inside

    @property
    def blocks(self) -> tuple[Directive, ...]:
        return tuple(d for x in self.parts if isinstance(x, Panel) for d in x.blocks)

    @property
    def products(self) -> tuple[Contraction, ...]:
        return tuple(what for x in self.parts if isinstance(x, Panel) for what in x.products)


def find_panels(p: Program, machine: Machine, fusion: str) -> Panels | None:
    """The region `p`, given in the order of the source, in panels; None where that gives no product, or to find out
    takes too much work."""
    if not any(folds_others(p.scop, s) for s in p.scop.statements):
        return None  # no product, whatever the blocks; orders of large regions take long
    if is_costly(p.scop, p.deps, p.tree, fusion):
        return None
    q = p
    out: list[Panel | tuple[str, ...]] = []
    for node in parts_of(isl_schedule(p.scop, p.deps, p.tree, fusion)):
        inner = _sequential(p, node)
        found = next((x for lp in inner if (x := _panel(q, node, lp, machine, fusion))), None)
        if found is not None:
            q, panel = found
            out.append(panel)
        elif out and not isinstance(out[-1], Panel):
            out[-1] = (*out[-1], *statements(node))
        else:
            out.append(statements(node))
    return Panels(q, tuple(out)) if any(isinstance(x, Panel) for x in out) else None


def _sequential(p: Program, node: Node) -> list[Loop]:
    """Loops that could stand outermost and have to run in order, the most promising first.

    Where the work is matrix-vector products, the source's own loop comes first: it reads the matrix line by line.
    """
    if not isinstance(node, Band):
        return []
    names = statements(node)
    out = [lp for lp in (node.loops if node.permutable else node.loops[:1]) if not lp.coincident]
    around = [enclosing(p.tree, n) for n in names]
    if (
        not node.loops[0].coincident
        and all(around)
        and len({id(x[0]) for x in around}) == 1
        and max(map(len, around)) == 2
    ):
        first = around[0][0]
        out.insert(0, replace(first, exprs={n: first.exprs[n] for n in names}))
    return out


def _panel(p: Program, band: Node, shared: Loop, machine: Machine, fusion: str) -> tuple[Program, Panel] | None:
    """One part of the region with one of its loops outermost and in blocks."""
    names = statements(band)
    deepest = max(len(p.scop.statement(n).iterators) for n in names)
    deep = [s for s in p.scop.statements if s.name in names and len(s.iterators) == max(2, deepest)]
    if not deep or any(not plain(shared.exprs[n]) for n in names):
        return None
    apart = {n: apart_of(p.scop, p.scop.statement(n), shared.exprs[n]) for n in names}
    if not any(apart[s.name] for s in deep):
        return None
    d = StripMine(fresh(p.scop, shared.name + "b"), dict(shared.exprs), size(p.scop, deep, machine), apart)
    try:
        q, also = _in_blocks(p, d, shared)
    except InputError:
        return None
    copies = [x for x in also if isinstance(x, CopyReads)]
    mine = tuple(s.name for s in q.scop.statements if d.name in s.iterators)
    outer = over(q.scop, d, mine)
    groups = _kept_together(q, strongly_connected(q.scop, same_value(q.must, outer.exprs), mine))
    found = {c[0]: product_in_blocks(q, c[0], (outer,), machine) for c in groups if len(c) == 1}
    products = [what for what in found.values() if what is not None]
    if not products or not all(what.columns or deepest > 2 or _by_lines(q, what, d) for what in products):
        # Strips alone gain nothing: gramschmidt, 1200 x 1000, f64, Neoverse N1: 2.2 s in strips of 64 columns (each row
        # of a strip is on a page of its own), 1.2 s in strips of 512, 1.1 s without.
        return None
    parts: list[Node] = []
    blocks: list[Directive] = [d, *also]
    for component in groups:
        what = found.get(component[0])
        if what is not None:
            parts.append(Band(product_loops(q, what), Leaf(what.stmt), True))
            continue
        levels = by_levels(q, component, outer) if copies else None
        if levels is not None:
            parts.append(levels)
            continue
        inner = _arranged(q, component, outer, fusion)
        tree, lines = inner.tree, row_loop(inner)
        if lines is not None:
            q, strips, tree = in_strips(q, tree, lines, d.size)
            outer = over(q.scop, d, mine)  # for statements that have one more iterator now
            blocks.append(strips)
        parts.append(tree)
    tree = Band((outer,), seq(parts))
    if any(e.n_piece() != 1 for x in loops(tree) for e in x.loop.exprs.values()):
        return None  # an order that a plan cannot say
    return q, Panel(tuple(blocks), tree, tuple(products), d.size)


def _in_blocks(p: Program, d: StripMine, shared: Loop) -> tuple[Program, list[Directive]]:
    """The loop in blocks, and what has to go with that: copies of what is read while it changes, and edges. Raises
    InputError."""
    q = apply_block(p, d)
    copies = copies_of_reads(q, d)
    for copy in copies:
        q = apply_keep(q, copy)
    cut = edges(q, d, _stepped(p.scop, shared)) if copies else None
    return (q, [*copies]) if cut is None else (apply_block(q, cut), [*copies, cut])


def _stepped(scop: Scop, lp: Loop) -> str:
    """The iterator that a plain loop steps through."""
    name, value = next(iter(lp.exprs.items()))
    s = scop.statement(name)
    return s.iterators[next(k for k, c in enumerate(coefficients(value, len(s.iterators)) or ()) if c)]


def _by_lines(q: Program, what: Contraction, d: StripMine) -> bool:
    """Does a matrix-vector product within a block read whole lines of its matrix, or narrow strips of many?"""
    s = q.scop.statement(what.stmt)
    block = s.iterators.index(d.name)
    within = what.depth if layout(q.scop, s, what) == "lanes" else what.rows
    return all(extent(s, k, (block,)) is not None for k in within)


def _kept_together(q: Program, groups: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Groups that pass on a variable of the region, which has one object in memory, become one."""
    for name in sorted(n for n, a in q.scop.arrays.items() if a.inside):
        users = {s.name for s in q.scop.statements if any(a.array == name for a in s.accesses)}
        where = [k for k, g in enumerate(groups) if users & set(g)]
        if len(where) > 1:
            first, past = where[0], where[-1] + 1
            groups = [*groups[:first], tuple(n for g in groups[first:past] for n in g), *groups[past:]]
    return groups


def size(scop: Scop, deep: Sequence[Statement], machine: Machine) -> int:
    """Iterations in a block: a square of results, which everything in a panel goes through, fills half of the first
    cache."""
    widest = max(scop.arrays[a.array].elem.bytes for s in deep for a in s.accesses)
    first = machine.cache(1)
    side = int(((first.bytes if first else 1 << 15) / 2 / widest) ** 0.5)
    return max(8, side // 8 * 8)


def apart_of(scop: Scop, s: Statement, value: isl.PwAff) -> tuple[isl.PwAff, ...]:
    """The iterators that the source compares with the loop: inside its block, what they say is settled there."""
    known = s.domain.intersect_params(scop.context)
    sign = sum(coefficients(value, len(s.iterators)) or ())
    loop = next(k for k, c in enumerate(coefficients(value, len(s.iterators)) or ()) if c)
    out = []
    for k in range(len(s.iterators)):
        own = value_of(s, k) if sign > 0 else value_of(s, k).neg()
        if known.is_subset(own.eq_set(value)):
            continue
        both = isl.Map.from_pw_aff(own).intersect_domain(known).flat_range_product(isl.Map.from_pw_aff(value)).range()
        box = (
            both.project_out(isl.dim_type.set, 1, 1)
            .insert_dims(isl.dim_type.set, 1, 1)
            .intersect(both.project_out(isl.dim_type.set, 0, 1).insert_dims(isl.dim_type.set, 0, 1))
        )
        if not box.is_subset(both) or meets(scop, s, k, loop):
            out.append(own)
    return tuple(out)


def product_in_blocks(q: Program, name: str, blocks: Sequence[Loop], machine: Machine) -> Contraction | None:
    """The product that a piece is within one block, or within one of each of several kinds."""
    s, first = q.scop.statement(name), len(enclosing(q.tree, name))
    if len(s.iterators) != first + len(blocks):
        return None  # cut in other ways, too
    try:
        found = contraction(q.scop, s, range(first, len(s.iterators)), q.reassociate)
    except NoContraction:
        return None
    if len(found.outer) > len(blocks) or (found.columns and not (found.step.left and found.step.right)):
        return None
    if not found.columns and reason_against(q, s, found, machine):
        return None
    return found if independent(q, s, found, blocks, product_loops(q, found)) else None


def product_loops(q: Program, what: Contraction) -> tuple[Loop, ...]:
    """The loops of a product: rows and columns upwards, the depth as in the source."""
    s = q.scop.statement(what.stmt)
    source = enclosing(q.tree, s.name)
    values = {d: source[d].exprs[s.name] if d in what.depth else value_of(s, d) for d in what.inner}
    return tuple(Loop(s.iterators[d], {s.name: value}) for d, value in values.items())


def _arranged(q: Program, names: tuple[str, ...], outer: Loop, fusion: str) -> Program:
    """What shares a component within one block: the scheduler's order for that."""
    scop, deps = part(q.scop, _within(q.deps, outer), names)
    inner = make_program(scop, deps, only(q.tree, names), q.reassociate)
    tree = isl_schedule(scop, deps, inner.tree, fusion)
    return arranged(inner, rename(scop, tree, frozenset({outer.name})))


def _within(deps: Dependences, outer: Loop) -> Dependences:
    """Dependences between instances of one block."""

    def cut(m: isl.UnionMap) -> isl.UnionMap:
        return same_value(m, outer.exprs)

    return replace(
        deps,
        all=tuple(Dependence(d.kind, d.array, cut(d.relation)) for d in deps.all),
        folds={a: cut(m) for a, m in deps.folds.items()},
        flows={a: cut(m) for a, m in deps.flows.items()},
    )
