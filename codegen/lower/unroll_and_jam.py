"""Unroll-and-jam (`jammed`: several iterations of a loop run together in the loop inside it) and interleaving
(`interleaved`: all iterations of a short loop run together, statement by statement). Returns the loop's form; None
where the plan does not ask for it, there is more inside than plain assignments, or the inner loop's bounds differ."""

from __future__ import annotations

from dataclasses import replace

from codegen.ast.ctree import For, expr_names, with_loop
from codegen.ast.lowered import Body, ByWidth, Inner, Interleaved, Lanes, Plain, Strips, While
from codegen.lower.lane_accesses import Maker
from codegen.lower.lanes import lanes_of, may_be_wider, strips, uses_again
from codegen.lower.loop_strides import unit_stride
from codegen.lower.rows import side_by_side
from codegen.lower.statements import Statements, assignments
from codegen.scop.model import Scop
from codegen.scop.tree import INTERLEAVED, JAMMED


def jammed(scop: Scop, node: For, wider: bool = False) -> Strips | None:
    """Blocks of iterations with the inner loop inside, then the rest one by one: where the one inside takes the same
    course in all iterations, and holds plain assignments only. `wider` as for `in_lanes`."""
    inner, n = node.body, node.loop.factor
    if node.loop.kind != JAMMED or node.step != 1 or not isinstance(inner, For):
        return None
    found = assignments(scop, inner.body)
    if found is None or node.var in expr_names(inner.lower) | expr_names(inner.upper):
        return None
    lanes = lanes_of(scop, inner, found)
    rows = (node.var, n)
    together: Body = (Inner(replace(inner, carried=()), side_by_side(Maker(scop), found, *rows)),)
    if lanes is not None:
        together = (_in_vectors(scop, inner, lanes, found, rows, wider and may_be_wider(scop, inner, lanes, found)),)
    plain = Plain(replace(with_loop(inner, width=0), carried=()))
    return Strips(node, (While(n, together, node.loop.note), While(1, (plain,), "the rest")))


def _in_vectors(
    scop: Scop, inner: For, lanes: Lanes, found: Statements, rows: tuple[str, int], wider: bool
) -> Strips | ByWidth:
    narrow = strips(scop, inner, lanes, found, rows)
    if not wider:
        return narrow
    again = uses_again(narrow)
    wide = strips(scop, inner, replace(lanes, wider=True), found, rows, twice=not again)
    return ByWidth(wide, narrow) if again else wide


def interleaved(scop: Scop, node: For) -> Interleaved | None:
    """All iterations at once when all are there, else one by one: where they are plain assignments. Variables of the
    region have an element for each iteration, or the loop could not be asked for this."""
    if node.loop.kind != INTERLEAVED or node.step != 1:
        return None
    found = assignments(scop, node.body, inside=True)
    if found is None:
        return None
    body = side_by_side(Maker(scop), found, node.var, node.loop.factor, alike=node.loop.alike)
    kept = any(scop.arrays[s.accesses[s.target].array].inside for s, _ in found)
    far = any(
        unit_stride(s, at, k, node.var) is None for s, at in found for k, a in enumerate(s.accesses) if not a.write
    )
    return Interleaved(node, node.loop.factor, body, node.body, kept, far)
