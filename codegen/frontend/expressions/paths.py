"""Conditional evaluation: under which conditions each part of an expression behind `?:`, `&&` and `||` is evaluated.

`i > 0 ? a[i - 1] : 0` reads nothing for i = 0. The model says so where the condition is affine; a read that is said to
happen too often would do no harm to a proof, but costs parallelism, and the sizes at which the source stays inside
its arrays would look like fewer than they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from codegen.frontend.context.frame import Frame
from codegen.frontend.context.guards import broken
from codegen.frontend.expressions.affine import Affiner, MissingParameter, NotAffine


def implied(node: c_ast.Node, truth: bool, frame: Frame, affiner: Affiner) -> isl.Set | None:
    """A set that holds every point of the frame at which `node` is `truth`; None when nothing is known."""
    if isinstance(node, c_ast.UnaryOp) and node.op == "!":
        return implied(node.expr, not truth, frame, affiner)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
        both = (node.op == "&&") == truth  # else one of the two suffices
        left = implied(node.left, truth, frame, affiner)
        right = implied(node.right, truth, _behind(node, frame, affiner), affiner)
        if left is None or right is None:
            return (left or right) if both else None
        return left.intersect(right) if both else left.union(right).coalesce()
    holds = _exact(node, frame, affiner)
    return None if holds is None else holds if truth else holds.complement()


def exact(node: c_ast.Node, frame: Frame, affiner: Affiner) -> bool:
    """Is it known at every point whether the condition holds?"""
    if isinstance(node, c_ast.UnaryOp) and node.op == "!":
        return exact(node.expr, frame, affiner)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
        return exact(node.left, frame, affiner) and exact(node.right, _behind(node, frame, affiner), affiner)
    return _exact(node, frame, affiner) is not None


def _behind(node: c_ast.BinaryOp, frame: Frame, affiner: Affiner) -> Frame:
    """Where the right operand of `&&` or `||` is evaluated."""
    first = implied(node.left, node.op == "&&", frame, affiner)
    here = frame if first is None else frame.restrict(first)
    return here if exact(node.left, frame, affiner) else replace(here, sure=False)


def _exact(node: c_ast.Node, frame: Frame, affiner: Affiner) -> isl.Set | None:
    """Where an affine condition is true; None for others, and where its arithmetic might wrap around."""
    mark = affiner.mark()
    try:
        holds = affiner.condition(node, frame)
    except (NotAffine, MissingParameter):
        affiner.back(mark)
        return None  # it need not be known: no parameter is made for it
    asked = affiner.assumptions[mark[0] :]
    del affiner.assumptions[mark[0] :]
    return holds if all(broken(a).intersect(affiner.ranges).is_empty() for a in asked) else None


def affine_part(
    node: c_ast.Node, op: str, frame: Frame, affiner: Affiner
) -> tuple[isl.Set | None, list[c_ast.Node]]:
    """Where the affine operands of a chain of `op` hold together, and the other operands."""
    found: isl.Set | None = None
    data: list[c_ast.Node] = []
    for part in _operands(node, op):
        here = frame if found is None else frame.restrict(found if op == "&&" else found.complement())
        mark = affiner.mark()
        try:
            one = affiner.condition(part, replace(here, sure=False) if data else here)
        except NotAffine:
            affiner.back(mark)
            data.append(part)
            continue
        found = one if found is None else found.intersect(one) if op == "&&" else found.union(one)
    return found, data


def _operands(node: c_ast.Node, op: str) -> Iterator[c_ast.Node]:
    """What a chain of one operator joins, left to right."""
    if isinstance(node, c_ast.BinaryOp) and node.op == op:
        yield from _operands(node.left, op)
        yield from _operands(node.right, op)
    else:
        yield node
