"""Recognizes the matrix product that a kernel of the proven tree is (`product_of`: which sums, of which elements, in
which order), and checks that tiles and nests of the printed text do the tree's work. Raises Unread where that is not
so.

Two bound loops run through tiles of the target; inside, a loop over depth holds the sums, and nests before and after it
change the same tile. The text cuts the target into other tiles. That is the tree's work where all that depends on each
other concerns one element of the target, for then the order on each element is all that counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import islpy as isl

from codegen.ast.ctree import Bin, Block, CExpr, CNode, For, Fun, If, Int, Name, expr_names, substitute, walk
from codegen.recognize.stores import conditional
from codegen.scop.dependences import Dependences
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.verify.cores.expr import polynomial
from codegen.verify.cores.loop_heads import past
from codegen.verify.cores.records import PrintedStatement
from codegen.verify.cores.relations import IN, OUT, SET, equal_first, executes
from codegen.verify.poly import Poly, var
from codegen.verify.readback import StatementRun, TreePoint, runs_below
from codegen.verify.text.read import Unread


class MeshOperand(NamedTuple):
    """An array of the sums: its access, and how far its subscripts are from the coordinates that they follow."""

    number: int
    array: str
    shift: tuple[Poly, Poly]


class MeshProduct(NamedTuple):
    """Sums over depth. Target (x, y) gets a value from left (x, z) and right (z, y), for z in ascending order."""

    rows: For
    columns: For
    depth: For
    at: TreePoint
    run: StatementRun
    axes: tuple[str, str, str]  # variables of the loops that are x, y and z
    target: MeshOperand
    left: MeshOperand
    right: MeshOperand
    before: tuple[CNode, ...]
    after: tuple[CNode, ...]

    @property
    def spans(self) -> tuple[tuple[CExpr, CExpr], ...]:
        """Where rows, columns and depth begin, and the first value that they do not reach."""
        return tuple((lp.lower, past(lp)) for lp in (self.rows, self.columns, self.depth))


def product_of(scop: Scop, deps: Dependences, node: For, at: TreePoint) -> MeshProduct:
    """The product that a kernel of the tree is. Raises Unread where it is none."""
    columns = node.body
    if not isinstance(columns, For) or not all(lp.loop.kind in THREADED for lp in (node, columns)):
        raise Unread("a kernel on the mesh that has no two bound loops")
    parts = columns.body.children if isinstance(columns.body, Block) else (columns.body,)
    deep = [k for k, p in enumerate(parts) if isinstance(p, For) and p.loop.tile]
    depth = parts[deep[0]] if len(deep) == 1 else None
    if not isinstance(depth, For) or any(isinstance(n, If) for n in walk(node)):
        raise Unread("a kernel on the mesh that has no one loop over depth")
    inside = {node.var, columns.var, depth.var}
    if any(inside & expr_names(e) for lp in (node, columns, depth) for e in (lp.lower, lp.upper)):
        raise Unread("tiles of a product that depend on each other")
    runs = [r for r in runs_below(node, at) if depth in r.point.loops]
    if len(runs) != 1:
        raise Unread("several statements in the sums of a product")
    found = _sums(scop, runs[0], len(at.vars))
    p = MeshProduct(node, columns, depth, at, *found, tuple(parts[: deep[0]]), tuple(parts[deep[0] + 1 :]))
    _check_box(p)
    _check_apart(scop, p)
    _check_order(scop, deps, p)
    return p


def _sums(
    scop: Scop, run: StatementRun, outer: int
) -> tuple[StatementRun, tuple[str, str, str], MeshOperand, MeshOperand, MeshOperand]:
    """The statement of the sums: its loops and operands."""
    s, at = scop.statement(run.instance.stmt), run.instance
    loops = set(run.point.vars[outer:])
    reads = [k for k, a in enumerate(s.accesses) if a.array != s.accesses[s.target].array]
    if s.op != "+=" or s.values or len(at.accesses[s.target]) != 2 or conditional(s):
        raise Unread(f"{s.name} is no sum of products")
    x, y = (_axis(e, loops) for e in at.accesses[s.target])
    known = loops - {x, y}
    sides: dict[str, tuple[int, str]] = {}
    for k in reads:
        index = at.accesses[k]
        if len(index) != 2:
            raise Unread(f"{s.name} reads something else than two matrices")
        one, two = (_axis(e, loops) for e in index)
        if one == x and two in known:
            sides["left"] = k, two
        elif two == y and one in known:
            sides["right"] = k, one
        else:
            raise Unread(f"{s.name} reads something else than two matrices")
    if len(reads) != 2 or set(sides) != {"left", "right"} or sides["left"][1] != sides["right"][1]:
        raise Unread(f"{s.name} reads something else than two matrices")
    z = sides["left"][1]
    if not {n for e in at.iterators for n in expr_names(e)} & loops <= {x, y, z}:
        raise Unread(f"{s.name} runs along more than three axes")

    def operand(k: int, axes: tuple[str, str]) -> MeshOperand:
        shift = [polynomial(e) - var(v) for e, v in zip(at.accesses[k], axes, strict=True)]
        return MeshOperand(k, s.accesses[k].array, (shift[0], shift[1]))

    return (run, (x, y, z), operand(s.target, (x, y)), operand(sides["left"][0], (x, z)),
            operand(sides["right"][0], (z, y)))  # fmt: skip


def _axis(e: CExpr, loops: set[str]) -> str:
    """The one loop that a subscript follows."""
    found = sorted(expr_names(e) & loops)
    if len(found) != 1 or (polynomial(e) - var(found[0])).names & loops:
        raise Unread("a subscript that follows no one loop")
    return found[0]


def coordinates(at: TreePoint, names: Sequence[str]) -> TreePoint:
    """A place with more variables of any value."""
    domain = at.domain.insert_dims(SET, len(at.vars), len(names))
    return TreePoint(domain, (*at.vars, *names), (), (), at.held, lets=at.lets)


def image(at: TreePoint, outer: int, values: Sequence[CExpr], domain: isl.Set) -> isl.Set:
    """What values are in a part of a place, each with the first variables there."""
    found: list[CExpr] = [*(Name(v) for v in at.vars[:outer]), *values]
    space = at.domain.get_space()
    target = space.params().set_from_params().add_dims(SET, len(found))
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target))
    for k, e in enumerate(found):
        multi = multi.set_pw_aff(k, at.value(e))
    return domain.apply(isl.Map.from_multi_pw_aff(multi)).coalesce()


def within(at: TreePoint, name: str, low: CExpr, end: CExpr) -> isl.Set:
    """Where a variable is from `low` on and below `end`."""
    lows = low.args if isinstance(low, Fun) and low.name == "max" else (low,)
    ends = end.args if isinstance(end, Fun) and end.name == "min" else (end,)
    found = at.domain
    for e in lows:
        found = found.intersect(at.condition(Bin("<=", e, Name(name))))
    for e in ends:
        found = found.intersect(at.condition(Bin("<", Name(name), e)))
    return found


def box_of(at: TreePoint, names: Sequence[str], spans: Sequence[tuple[CExpr, CExpr]]) -> isl.Set:
    box = at.domain
    for name, (low, end) in zip(names, spans, strict=True):
        box = box.intersect(within(at, name, low, end))
    return box


def _check_box(p: MeshProduct) -> None:
    """The sums are a box: every row and column, and all of the depth."""
    point = p.run.point
    found = image(point, len(p.at.vars), [Name(v) for v in p.axes], point.domain)
    if not found.is_equal(box_of(coordinates(p.at, p.axes), p.axes, p.spans)):
        raise Unread(f"{p.run.instance.stmt} does not run through a whole box")


def _check_apart(scop: Scop, p: MeshProduct) -> None:
    """Nothing but the target is written, and each statement finds of it the one element that it writes."""
    for r in runs_below(p.rows, p.at):
        s, at = scop.statement(r.instance.stmt), r.instance
        for k, a in enumerate(s.accesses):
            if scop.arrays[a.array].inside:
                raise Unread(f"{s.name} uses a variable of the region")
            mine = a.array == p.target.array
            if (a.write and not mine) or (mine and at.accesses[k] != at.accesses[s.target]):
                raise Unread(f"{s.name} uses `{a.array}` where other cores have it")
        if s.accesses[s.target].array != p.target.array or len(at.accesses[s.target]) != 2:
            raise Unread(f"{s.name} writes something else than the target of the product")


def _check_order(scop: Scop, deps: Dependences, p: MeshProduct) -> None:
    """The sums may be made in ascending order of depth."""
    name, outer = p.run.instance.stmt, len(p.at.vars)
    runs, z = p.run.executes(scop), p.run.point.vars.index(p.axes[2])
    for d in deps.all:
        for m in maps_of(d.relation):
            if (m.get_tuple_name(IN), m.get_tuple_name(OUT)) != (name, name):
                continue
            pairs = equal_first(runs.apply_range(m).apply_range(runs.reverse()), outer)
            if not pairs.is_subset(pairs.order_lt(IN, z, OUT, z)):
                raise Unread(f"sums of {name} come in another order")


def check_target(scop: Scop, p: MeshProduct, fetched: bool, where: CExpr | None) -> None:
    """What is brought back exists and has a value: the tree writes all of it where the text runs. Where nothing is
    fetched, the first statement that uses an element writes it."""
    outer, axes = len(p.at.vars), p.axes[:2]
    at = coordinates(p.at, axes)
    box = box_of(at, axes, p.spans[:2])
    if where is not None:
        box = box.intersect(at.condition(where))
    want = image(at, outer, p.run.instance.accesses[p.target.number], box)
    written, full = isl.Set.empty(want.get_space()), False
    for r in runs_below(p.rows, p.at):
        s = scop.statement(r.instance.stmt)
        reads = s.op != "=" or any(a.array == p.target.array and not a.write for a in s.accesses)
        if where is not None and not r.point.domain.is_subset(r.point.condition(where)):
            raise Unread(f"a condition leaves out {s.name}")
        if reads and not fetched and not full:
            raise Unread(f"{s.name} reads what has not been fetched")
        if not conditional(s):
            written = written.union(image(r.point, outer, r.instance.accesses[s.target], r.point.domain))
            full = want.is_subset(written)
    if not full:
        raise Unread("more is brought back than is written")


def on_tile(p: MeshProduct, at: TreePoint, tile: Sequence[str]) -> isl.Set:
    """Where four variables are a tile: its first row and column, which lie behind the first of all, and its sides."""
    lows = (p.rows.lower, p.columns.lower, Int(1), Int(1))
    found = at.domain
    for name, low in zip(tile, lows, strict=True):
        found = found.intersect(at.condition(Bin("<=", low, Name(name))))
    return found


def corner(p: MeshProduct, row: CExpr, column: CExpr) -> tuple[CExpr, ...]:
    """The element of the target in a row and a column."""
    at = {p.axes[0]: row, p.axes[1]: column}
    return tuple(substitute(e, at) for e in p.run.instance.accesses[p.target.number])


def check_nest(scop: Scop, p: MeshProduct, leaf: PrintedStatement, tile: tuple[str, str, str, str]) -> None:
    """A nest on a tile of any sides runs what the tree runs on those elements, each once. The place of the leaf has the
    variables of the tile behind those around the kernel."""
    s, outer = scop.statement(leaf.instance.stmt), len(p.at.vars)
    runs = executes(scop, leaf)
    again = equal_first(runs.apply_range(runs.reverse()), outer + len(tile))
    if not again.is_subset(isl.Map.identity(again.get_space())):
        raise Unread(f"{s.name} runs several times")
    found = image(leaf.at, outer + len(tile), leaf.instance.iterators, leaf.at.domain)
    wanted = isl.Set.empty(found.get_space())
    own = [f"{t}:tile" for t in tile]
    row, column, tall, wide = (Name(t) for t in own)
    low, end = corner(p, row, column), corner(p, Bin("+", row, tall), Bin("+", column, wide))
    for r in (r for r in runs_below(p.rows, p.at) if r.instance.stmt == s.name):
        at = coordinates(r.point, own)
        part = on_tile(p, at, own)
        for a, e, b in zip(low, r.instance.accesses[s.target], end, strict=True):
            part = part.intersect(at.condition(Bin("&&", Bin("<=", a, e), Bin("<", e, b))))
        wanted = wanted.union(image(at, outer, [*map(Name, own), *r.instance.iterators], part))
    if not found.is_equal(wanted):
        raise Unread(f"{s.name} runs on another part of its tile")


def resized(node: CNode, sides: Mapping[str, tuple[int, CExpr]]) -> CNode:
    """A nest on a tile with other sides: `v + step` is `v + side` for the variable v of each loop over tiles."""
    if isinstance(node, Block):
        return Block(tuple(resized(c, sides) for c in node.children))
    if not isinstance(node, For):
        return node
    return replace(node, lower=_other(node.lower, sides), op="<", upper=_other(past(node), sides),
                   body=resized(node.body, sides))  # fmt: skip


def _other(e: CExpr, sides: Mapping[str, tuple[int, CExpr]]) -> CExpr:
    if isinstance(e, Bin) and isinstance(e.left, Name) and e.left.name in sides:
        step, side = sides[e.left.name]
        if e == Bin("+", e.left, Int(step)):
            return Bin("+", e.left, side)
    if isinstance(e, Fun):
        return Fun(e.name, tuple(_other(a, sides) for a in e.args))
    return e

