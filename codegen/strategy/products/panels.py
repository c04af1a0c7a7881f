"""Finds factorizations that can run in panels: a sequential loop in blocks, and what lies beyond a block as a product.
Returns the region cut that way, with its new order and products (`Panels`), or None.

In lu, cholesky and their like no loop around the update may be blocked as in a product: its operands are results of the
same loop. Counted in blocks, a panel of results is finished first; what it does to the rest is then a product of depth
`size`, of operands that nobody writes any more. Which instances can wait is a matter of dependences: after `block` has
told apart what lies inside and beyond, the strongly connected components of the dependences within one block say what
must stay together.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.diagnostics import Diagnostic, InputError
from codegen.machine import Machine
from codegen.plan.model import CopyReads, Directive, StripMine
from codegen.recognize.access.domain_shape import extent
from codegen.recognize.access.strides import coefficients
from codegen.recognize.products.contraction import folds_others
from codegen.recognize.products.matrix_vector import layout
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.product import Contraction
from codegen.scop.tree import Band, Leaf, Loop, Node, enclosing, loops, parts_of, seq, statements
from codegen.strategy.orders.isl_schedule import is_costly, isl_schedule
from codegen.strategy.orders.levels import by_levels
from codegen.strategy.orders.row_loops import in_strips, over, plain, row_loop
from codegen.strategy.products.block_parts import (
    apart_of,
    arranged_within,
    groups_within,
    product_in_blocks,
    product_loops,
    size,
    wide,
)
from codegen.strategy.products.copies import copies_of_reads, edges
from codegen.transform.block import apply as apply_block
from codegen.transform.block import blocked, fresh
from codegen.transform.copy_reads import apply as apply_keep
from codegen.transform.program import Program


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


def find_panels(p: Program, machine: Machine, fusion: str, nested: bool = False) -> Panels | None:
    """The region `p`, given in the order of the source, in panels; None where that gives no product, or to find out
    takes too much work. With `nested` ones panels are wide, and what is no product in them is cut again."""
    if not any(folds_others(p.scop, s) for s in p.scop.statements):
        return None  # no product, whatever the blocks; orders of large regions take long
    if is_costly(p.scop, p.deps, p.tree, fusion):
        return None
    q = p
    out: list[Panel | tuple[str, ...]] = []
    for node in parts_of(isl_schedule(p.scop, p.deps, p.tree, fusion)):
        inner = _sequential(p, node)
        found = next((x for lp in inner if (x := _panel(q, node, lp, machine, fusion, nested))), None)
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


def _panel(
    p: Program, band: Node, shared: Loop, machine: Machine, fusion: str, nested: bool
) -> tuple[Program, Panel] | None:
    """One part of the region with one of its loops outermost and in blocks."""
    names = statements(band)
    deepest = max(len(p.scop.statement(n).iterators) for n in names)
    deep = [s for s in p.scop.statements if s.name in names and len(s.iterators) == max(2, deepest)]
    if not deep or any(not plain(shared.exprs[n]) for n in names):
        return None
    if not any(apart_of(p.scop, s, shared.exprs[s.name]) for s in deep):
        return None
    short = size(p.scop, deep, machine)
    ways: tuple[tuple[int, ...], ...] = ((short,),)
    if nested and deepest == 2 and machine.cores > 1:
        ways = ((wide(p.scop, deep, machine), short), *ways)
    for lengths in ways:
        made = _cut(p, names, shared, _Levels((), lengths, machine, fusion))
        if made is not None:
            return made.program, Panel(made.blocks, made.tree, made.products, lengths[0])
    return None


@record
class _Cut:
    """Statements in blocks: the region in new names, how it is cut, their tree and the products in it."""

    program: Program
    blocks: tuple[Directive, ...]
    tree: Node
    products: tuple[Contraction, ...]


@record
class _Levels:
    """Blocks that statements are in already, the lengths of those to come, and for whom they are arranged."""

    around: tuple[StripMine, ...]
    lengths: tuple[int, ...]
    machine: Machine
    fusion: str


def _cut(p: Program, names: tuple[str, ...], shared: Loop, how: _Levels) -> _Cut | None:
    """Statements that share a block of each kind around them with the loop `shared` in blocks of the first length; what
    is no product there is cut in blocks of the next one, where that gives products."""
    around, finer = how.around, len(how.lengths) > 1
    apart = {n: apart_of(p.scop, p.scop.statement(n), shared.exprs[n], len(around)) for n in names}
    name = fresh(p.scop, shared.name + "bc"[len(around)], names if around else None)
    d = StripMine(name, dict(shared.exprs), how.lengths[0], apart)
    try:
        q, also = _in_blocks(p, d, shared, not around)
    except InputError:
        return None
    copied = any(isinstance(x, CopyReads) for x in also)
    if copied and finer:
        return None
    others = {s.name for s in p.scop.statements} - set(names)
    mine = tuple(s.name for s in q.scop.statements if d.name in s.iterators and s.name not in others)
    within = replace(how, around=(*around, d), lengths=how.lengths[1:])
    outer = tuple(over(q.scop, x, mine) for x in within.around)
    groups = groups_within(q, mine, outer)
    found = {c[0]: product_in_blocks(q, c[0], outer, how.machine) for c in groups if len(c) == 1}
    products = [what for what in found.values() if what is not None]
    deepest = max(len(p.scop.statement(n).iterators) for n in names) - len(around)
    if not products or not all(what.columns or deepest > 2 or _by_lines(q, what, d) for what in products):
        # Strips alone gain nothing: gramschmidt, 1200 x 1000, f64, Neoverse N1: 2.2 s in strips of 64 columns (each row
        # of a strip is on a page of its own), 1.2 s in strips of 512, 1.1 s without.
        return None
    if finer and not all(_within(q, what.rows, what, d) for what in products):
        return None  # products with rows for all threads, whatever the block
    count, blocks, parts = len(products), [d, *also], list[Node]()
    for component in groups:
        what = found.get(component[0])
        levels = by_levels(q, component, outer[0]) if copied and what is None else None
        if what is not None:
            parts.append(Band(product_loops(q, what), Leaf(what.stmt), True))
        elif levels is not None:
            parts.append(levels)
        else:
            loop = _renamed(p.scop, d, shared, component) if finer else shared
            rest = _rest(q, component, loop, within, how.lengths[-1])
            q = rest.program
            parts.append(rest.tree)
            blocks.extend(rest.blocks)
            products.extend(rest.products)
    if finer and len(products) == count:
        return None  # nothing to cut again
    below = seq(parts)
    tree = Band((over(q.scop, d, statements(below)),), below)
    if any(e.n_piece() != 1 for x in loops(tree) for e in x.loop.exprs.values()):
        return None  # an order that a plan cannot say
    return _Cut(q, tuple(blocks), tree, tuple(products))


def _rest(q: Program, names: tuple[str, ...], shared: Loop, how: _Levels, length: int) -> _Cut:
    """Statements of a block that are no product: in finer blocks, where there are some to come and these give products;
    else in a good order, with their rows, if they have any, in strips of a length."""
    finer = _cut(q, names, shared, how) if how.lengths else None
    if finer is not None:
        return finer
    inner = arranged_within(q, names, tuple(over(q.scop, x, names) for x in how.around), how.fusion)
    lines = row_loop(inner)
    if lines is None:
        return _Cut(q, (), inner.tree, ())
    q, strips, tree = in_strips(q, inner.tree, lines, length)
    return _Cut(q, (strips,), tree, ())


def _renamed(scop: Scop, d: StripMine, shared: Loop, names: tuple[str, ...]) -> Loop:
    """The loop for pieces that blocks make of the statements in it."""
    made = blocked(scop, d)
    pieces = ((old, new) for old in shared.exprs for new in made.pieces[old] if new in names)
    return replace(shared, exprs={new: shared.exprs[old].pullback_multi_aff(made.back[new]) for old, new in pieces})


def _in_blocks(p: Program, d: StripMine, shared: Loop, first: bool) -> tuple[Program, list[Directive]]:
    """The loop in blocks, and what has to go with the `first` ones: copies of what is read while it changes, and edges.
    Raises InputError."""
    q = apply_block(p, d)
    copies = copies_of_reads(q, d) if first else ()
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
    lanes = layout(q.scop, q.scop.statement(what.stmt), what) == "lanes"
    return _within(q, what.depth if lanes else what.rows, what, d)


def _within(q: Program, iterators: tuple[int, ...], what: Contraction, d: StripMine) -> bool:
    """Do blocks bound the number of values that these iterators of a product have?"""
    s = q.scop.statement(what.stmt)
    return all(extent(s, k, (s.iterators.index(d.name),)) is not None for k in iterators)
