"""Panels shared across the mesh: a product whose operands every row and column of cores loads only once.

Core (r, c) fetches the slice c of its row's left panel and the slice r of its column's right panel. Slice after slice,
the owner hands the left one along its row and the right one along its column; every core multiplies what passes by.
The steps of each sum keep their order.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.ast.ctree import Bin, CExpr, Declare, For, Fun, If, Int, Name, expr_names, substitute
from codegen.record import record
from codegen.scop.expr import Binary, Expr, Ref
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.sunway.local import Buffer, SNode, Stage, staged_nodes
from codegen.sunway.sharing import bound_axes, owned
from codegen.sunway.vector import Blocked, motion, plan_nest


@record
class Mesh:
    """A phase whose innermost tile loop `depth` runs on shared panels."""

    rows: For  # bound loops
    columns: For
    depth: For
    target: Buffer
    left: Buffer
    right: Buffer
    plan: Blocked
    scalar: Expr  # what is handed along rows: left operand, already scaled


def find_mesh(scop: Scop, tree: SNode) -> Mesh | None:
    """The shared form of a phase, if it has one."""
    if not isinstance(tree, For) or not _bound(tree) or not isinstance(tree.body, For) or not _bound(tree.body):
        return None
    rows, columns = tree, tree.body
    stage = columns.body
    if not isinstance(stage, Stage) or len(stage.buffers) != 1:
        return None
    loops = [n for n in staged_nodes(stage.body) if isinstance(n, For) and n.loop.tile]
    if len(loops) != 1 or any(isinstance(n, (If, Declare)) for n in staged_nodes(stage.body)):
        return None
    depth, target = loops[0], stage.buffers[0]
    inner = depth.body
    if not isinstance(inner, Stage) or len(inner.buffers) != 2 or target.when is not None:
        return None
    plan = plan_nest(scop, inner.body, lambda k: False)  # type: ignore[arg-type]
    if plan is None or plan.row is None or len(plan.depth) != 1 or plan.turned or plan.outer or len(plan.vectors) != 1:
        return None
    return _match(scop, rows, columns, depth, target, inner, plan)


def _match(
    scop: Scop, rows: For, columns: For, depth: For, target: Buffer, inner: Stage, plan: Blocked
) -> Mesh | None:
    s = scop.statement(plan.nest.instance.stmt)
    assert plan.row is not None
    at = plan.nest.instance
    vector = plan.vectors[0]
    if (id(at), s.target) not in target.keys or s.op != "+=" or scop.arrays[target.array].elem.bits != 64:
        return None
    right = next((b for b in inner.buffers if (id(at), vector) in b.keys), None)
    left = next((b for b in inner.buffers if b is not right), None)
    if right is None or left is None or any(not b.ahead or len(b.most) != 2 for b in (left, right)):
        return None
    value = s.rhs
    if not isinstance(value, Binary) or value.op != "*" or len(target.most) != 2 or target.enlarged:
        return None
    sides = [value.left, value.right]
    vectors = [e for e in sides if any(isinstance(x, Ref) and x.access == vector for x in walk_expr(e))]
    if len(vectors) != 1 or not isinstance(vectors[0], Ref):
        return None
    scalar = next(e for e in sides if e is not vectors[0])
    refs = {x.access for x in walk_expr(scalar) if isinstance(x, Ref)}
    if len(refs) != 1 or any((id(at), k) not in left.keys for k in refs):
        return None
    number = refs.pop()
    one = at.accesses[number]
    shapes = (motion(one, plan.row.var), motion(one, plan.depth[0].var), motion(at.accesses[vector], plan.depth[0].var))
    good = shapes == ("row", "unit", "row") and motion(at.accesses[s.target], plan.row.var) == "row"
    axes = bound_axes(scop, rows)
    kept = [owned(scop, s.name, k, axes) for k in (s.target, number, vector)]
    deep = [any(depth.var in expr_names(e) for e in b.lows) for b in (target, left, right)]
    # The target stays with its core; operands go along rows and columns, and change with the depth.
    if not good or kept != [(True, True), (True, False), (False, True)] or deep != [False, True, True]:
        return None
    return Mesh(rows, columns, depth, target, left, right, plan, scalar)


def _bound(node: For) -> bool:
    return node.loop.kind in THREADED


SIDE = 8


def part_of(m: Mesh, crts: bool) -> int:
    """Rows of the left panel that each core of a row fetches over the whole depth of a step: long blocks, which are
    fast. 0 where it fetches all rows over an eighth of the depth: broadcasts hand on whole slices of depth."""
    return 0 if crts or m.target.most[0] % SIDE else m.target.most[0] // SIDE


def slices(m: Mesh, crts: bool) -> tuple[Buffer, Buffer]:
    """What one core fetches of the left and the right panel. Its row and column are called \\0row and \\0column."""
    right = slice_of(m.right, m.depth.var, "\0row", m.depth.step)
    part = part_of(m, crts)
    if not part:
        return slice_of(m.left, m.depth.var, "\0column", m.depth.step), right
    first: CExpr = Bin("+", Name(m.rows.var), Bin("*", Name("\0column"), Int(part)))
    lows = tuple(substitute(e, {m.rows.var: first}) for e in m.left.lows)
    sides = ((m.rows, first, part), (m.depth, Name(m.depth.var), SIDE * m.depth.step))
    lens = tuple(Fun("min", (Int(n), Bin("-", _past(lp), at))) for lp, at, n in sides)
    return replace(m.left, lows=lows, lens=lens), right


def _past(loop: For) -> CExpr:
    return loop.upper if loop.op == "<" else Bin("+", loop.upper, Int(1))


def slice_of(b: Buffer, var: str, by: str, size: int) -> Buffer:
    """A buffer whose tile along `var` is the core's own slice: `by` is the name of its row or column."""
    env = {var: Bin("+", Name(var), Bin("*", Name(by), Int(size)))}
    return replace(
        b,
        lows=tuple(substitute(e, env) for e in b.lows),  # type: ignore[arg-type]
        lens=tuple(substitute(e, env) for e in b.lens),  # type: ignore[arg-type]
    )

