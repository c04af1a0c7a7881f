"""Recognizes kernels that run as matrix products on the mesh of cores (returns a `Mesh`, or None): operand panels are
loaded once per row and column and sent along by register communication.

In every step half of the cores of a row and of a column hand out what they have fetched of the left and of the right
panel, while the other half fetches for the next step; every core multiplies what passes by.
The steps of each sum keep their order. While a tile of the target is worked on, the one before it goes and the one
after it comes, some rows in every step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codegen.ast.ctree import Bin, Block, CExpr, CNode, Declare, For, Fun, If, Int, Name, expr_names, walk
from codegen.record import record
from codegen.scop.expr import Binary, Expr, Ref
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.staging.local import LocalBuffer, SNode, Stage, staged_nodes
from codegen.sunway.staging.sharing import bound_axes, owned
from codegen.sunway.vector.nests import RegisterBlock, motion, plan_nest


@record
class Mesh:
    """A phase whose innermost tile loop `depth` runs on shared panels."""

    rows: For  # bound loops
    columns: For
    depth: For
    target: LocalBuffer
    left: LocalBuffer
    right: LocalBuffer
    plan: RegisterBlock
    scalar: Expr  # what is handed along rows: left operand, already scaled
    before: tuple[CNode, ...]  # what else happens to a tile of the target: first, and at last
    after: tuple[CNode, ...]
    when: CExpr | None = None  # parameters for which there is anything to do


def find_mesh(scop: Scop, tree: SNode) -> Mesh | None:
    """The shared form of a phase, if it has one."""
    if not isinstance(tree, For) or not _bound(tree) or not isinstance(tree.body, For) or not _bound(tree.body):
        return None
    rows, columns = tree, tree.body
    stage = columns.body
    if not isinstance(stage, Stage) or len(stage.buffers) != 1:
        return None
    if isinstance(stage.body, Stage):
        return None
    parts = stage.body.children if isinstance(stage.body, Block) else (stage.body,)
    loops = [n for n in staged_nodes(stage.body) if isinstance(n, For) and n.loop.tile]
    if len(loops) != 1 or any(isinstance(n, (If, Declare)) for n in staged_nodes(stage.body)):
        return None
    depth, target = loops[0], stage.buffers[0]
    inside = {v for lp in (columns, depth) for e in (lp.lower, lp.upper) for v in expr_names(e)}
    if not any(p is depth for p in parts) or inside & {rows.var, columns.var}:
        return None
    inner = depth.body
    if not isinstance(inner, Stage) or len(inner.buffers) != 2:
        return None
    # A product alone runs where its depth is not empty. All cores have to agree on that.
    when = target.when
    if when is not None and (len(parts) > 1 or expr_names(when) & {rows.var, columns.var, depth.var}):
        return None
    plan = plan_nest(scop, inner.body, lambda k: False)  # type: ignore[arg-type]
    if plan is None or plan.row is None or len(plan.depth) != 1 or plan.turned or plan.outer or len(plan.vectors) != 1:
        return None
    found = _match(scop, (rows, columns, depth), replace(target, when=None), inner, plan, parts)
    return None if found is None else replace(found, when=when)


def _match(
    scop: Scop,
    nest: tuple[For, For, For],
    target: LocalBuffer,
    inner: Stage,
    plan: RegisterBlock,
    parts: tuple[CNode, ...],
) -> Mesh | None:
    rows, columns, depth = nest
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
    tile = (rows.step, columns.step, depth.step)
    if (target.most, left.most, right.most) != (tile[:2], tile[::2], tile[:0:-1]):
        return None
    number_of = next(k for k, p in enumerate(parts) if p is depth)
    found = Mesh(rows, columns, depth, target, left, right, plan, scalar, parts[:number_of], parts[number_of + 1 :])
    return found if _resizable(found) else None


def _bound(node: For) -> bool:
    return node.loop.kind in THREADED


SIDE = 8
GIVERS = SIDE // 2  # cores of a row or column that hand out slices in a step, while the others fetch theirs


def pool(group: CoreGroup) -> int:
    """Elements of local memory for two copies of the target's tile and for slices, whatever their shape."""
    return (group.ldm_bytes - group.reserve - 1024) // 8


def past(loop: For) -> CExpr:
    """The first value that a loop does not reach."""
    return loop.upper if loop.op == "<" else Bin("+", loop.upper, Int(1))


def _sides(m: Mesh) -> dict[str, tuple[str, int]]:
    return {lp.loop.of: (lp.var, lp.step) for lp in (m.rows, m.columns)}


def _resizable(m: Mesh) -> bool:
    """Do the nests on the target's tile end where the tile does, so that it may have other sides at run time?"""
    for node in (n for part in (*m.before, *m.after) for n in walk(part)):
        if isinstance(node, For) and node.loop.name in _sides(m):
            var, step = _sides(m)[node.loop.name]
            upper = past(node)
            ends = upper.args if isinstance(upper, Fun) and upper.name == "min" else (upper,)
            if Bin("+", Name(var), Int(step)) not in ends or node.lower != Name(var):
                return False
    return True


def resized(m: Mesh, node: CNode, names: Mapping[str, str]) -> CNode:
    """A nest on the target's tile with the sides that it has at run time."""
    if isinstance(node, Block):
        return Block(tuple(resized(m, c, names) for c in node.children))
    if not isinstance(node, For):
        return node
    body = resized(m, node.body, names)
    if node.loop.name not in _sides(m):
        return replace(node, body=body)
    var, step = _sides(m)[node.loop.name]
    full, end = Bin("+", Name(var), Int(step)), Bin("+", Name(var), Name(names[var]))
    upper = past(node)
    ends = upper.args if isinstance(upper, Fun) else (upper,)
    now = tuple(end if e == full else e for e in ends)
    return replace(node, op="<", upper=Fun("min", now) if len(now) > 1 else now[0], body=body)
