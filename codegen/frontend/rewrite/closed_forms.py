"""Closed forms of induction variables: sums of what loops have added so far (`StepSum`), and the C expression of such a
sum in the variable's type, with unsigned wrap-around kept. `induction.py` puts them in place of the variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pycparser import c_ast

from codegen.frontend.expressions.address import Offsets
from codegen.frontend.rewrite.pointers.steps import CountedWalk, Trips
from codegen.frontend.syntax.declarators import DeclaredType, literal_int
from codegen.frontend.syntax.tree import names, typename
from codegen.record import record
from codegen.scop.types import CType


@record
class StepSum:
    """Signs and values that are added up. `plain` is right `within` these loops alone, for it takes them to run at all;
    `exact` is right everywhere."""

    plain: Offsets
    exact: Offsets
    within: frozenset[int] = frozenset()

    @classmethod
    def of(cls, node: c_ast.Node) -> StepSum:
        return cls(((1, node),), ((1, node),))

    @property
    def names(self) -> set[str]:
        return set[str]().union(*(names(v) for _, v in (*self.plain, *self.exact)))

    def plus(self, sign: int, other: StepSum) -> StepSum:
        plain, exact = (tuple((sign * s, v) for s, v in x) for x in (other.plain, other.exact))
        return StepSum((*self.plain, *plain), (*self.exact, *exact), self.within | other.within)

    def moved(self, each: StepSum, walk: CountedWalk) -> StepSum:
        """With what every iteration before this one has added."""
        plain, exact = (tuple((s, walk.times(v)) for s, v in x) for x in (each.plain, each.exact))
        return self.plus(1, StepSum(plain, exact, each.within))

    def passed(self, each: StepSum, plain: Trips, exact: Trips, loop: int) -> StepSum:
        """With what a whole loop has added."""
        within = each.within if plain.sure else each.within | {loop}
        more = StepSum(tuple((s, plain.of(v)) for s, v in each.plain), tuple((s, exact.of(v)) for s, v in each.exact))
        return self.plus(1, replace(more, within=within))


def closed_form(
    value: StepSum, ctype: CType, loops: frozenset[int], shapes: Mapping[str, DeclaredType], coord: object
) -> c_ast.Node:
    """The sum as one expression, inside these loops, as an integer of this type holds it: unsigned arithmetic wraps
    around in it as in the source, and signed arithmetic is done in the type itself or in long."""
    parts, number = _folded(value.plain if value.within <= loops else value.exact)
    plain = ctype.signed and all(_of_type(v, ctype, shapes) for _, v in parts)
    wide = typename(["long"] if ctype.signed else ctype.spelling.split())
    whole: c_ast.Node | None = None
    for sign, node in parts:
        part = node if plain else c_ast.Cast(wide, node, coord)
        if whole is None:
            whole = part if sign > 0 else c_ast.UnaryOp("-", part, coord)
        else:
            whole = c_ast.BinaryOp("+" if sign > 0 else "-", whole, part, coord)
    if whole is None or number:
        own: c_ast.Node = c_ast.Constant("int" if abs(number) < 1 << 31 else "long int", str(abs(number)), coord)
        if whole is not None:
            whole = c_ast.BinaryOp("+" if number > 0 else "-", whole, own, coord)
        else:
            whole = own if number >= 0 else c_ast.UnaryOp("-", own, coord)
    if not parts and ctype.signed:
        return whole
    exact = plain or (ctype.signed and ctype.bits >= 64)
    return whole if exact else c_ast.Cast(typename(ctype.spelling.split()), whole, coord)


def _folded(parts: Offsets) -> tuple[list[tuple[int, c_ast.Node]], int]:
    """Literals apart, as their sum."""
    rest: list[tuple[int, c_ast.Node]] = []
    number = 0
    for sign, node in parts:
        literal = literal_int(node, {})
        if literal is None:
            rest.append((sign, node))
        else:
            number += sign * literal
    return rest, number


def _of_type(node: c_ast.Node, ctype: CType, shapes: Mapping[str, DeclaredType]) -> bool:
    """Is it made of integers of this type, and of literals?"""
    if isinstance(node, c_ast.Constant):
        return bool(node.type == "int")
    if isinstance(node, c_ast.ID):
        shape = shapes.get(node.name)
        e = None if shape is None or shape.declarators else shape.elem
        return e is not None and (e.kind, e.bits, e.signed) == (ctype.kind, ctype.bits, ctype.signed)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-", "*", "/", "<<"):
        return _of_type(node.left, ctype, shapes) and _of_type(node.right, ctype, shapes)
    if isinstance(node, c_ast.TernaryOp):
        return _of_type(node.iftrue, ctype, shapes) and _of_type(node.iffalse, ctype, shapes)
    return isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-") and _of_type(node.expr, ctype, shapes)
