"""Loops written as vectors: which bodies have that form, and their text.

Vectors are those of GNU C: arithmetic on them is spelled as in the source, so compilers round, and contract a product
and a sum, just as they do in the source's own loop, and any processor can run the result. What the machine
description decides is how wide they are and how many go side by side.
"""

from __future__ import annotations

from codegen.ast.ctree import Bin, CExpr, For, Instance, Int, Name, Neg, expr_names
from codegen.recognize.ctypes import type_of
from codegen.record import record
from codegen.scop.expr import Affine, Binary, Cast, Expr, Lit, Ref, Unary
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import VECTOR
from codegen.scop.types import CType
from codegen.target.body import BodyPrinter
from codegen.target.jam import Statements

_OPS = ("+", "-", "*", "/")
_TWO = frozenset({"2", "2.", "2.0", "2.f", "2.0f", "2.F", "2.0F"})


@record
class Lanes:
    """Vectors of `count` elements of one floating type, `times` of them side by side."""

    elem: CType
    count: int
    times: int

    @property
    def type(self) -> str:
        return f"tw_f{self.elem.bits}x{self.count}"

    @property
    def bytes(self) -> int:
        return self.count * self.elem.bytes


def lanes_of(scop: Scop, node: For, found: Statements) -> Lanes | None:
    """How to write the loop's statements as vectors; None where the loop does not ask for it or they have no such form.

    The proofs have shown that its iterations are independent; so some may go through each statement together.
    """
    lp = node.loop
    if lp.kind != VECTOR or not lp.width or lp.reductions or node.step != 1:
        return None
    elems = {scop.arrays[s.accesses[s.target].array].elem for s, _ in found}
    if len(elems) != 1:
        return None
    (elem,) = elems
    if elem.kind != "float" or elem.bits not in (32, 64) or "_Complex" in elem.spelling:
        return None
    count = lp.width // elem.bytes
    if count < 2 or not all(_fits(scop, s, at, node.var, elem) for s, at in found):
        return None
    return Lanes(elem, count, lp.factor)


def _fits(scop: Scop, s: Statement, at: Instance, var: str, elem: CType) -> bool:
    if s.op != "=" and s.op[:-1] not in _OPS:
        return False
    if s.op == "=" and stays(s, at, s.rhs, var):
        return False  # one value for all: nothing that a compiler would not do
    return strides(s, at, s.target, var) == 1 and _vector(scop, s, at, s.rhs, var, elem)


def repeatable(found: Statements) -> bool:
    """May iterations of the loop run again, with no difference? Yes where nothing is read that they write."""
    written = {s.accesses[s.target].array for s, _ in found}
    return not any(a.array in written for s, _ in found for a in s.reads) and all(s.op == "=" for s, _ in found)


def strides(s: Statement, at: Instance, number: int, var: str) -> int | None:
    """By how many elements the access moves with the loop: 0, 1, or None for anything else."""
    index, path = at.accesses[number], s.accesses[number].path
    if not any(var in expr_names(e) for e in index):
        return 0
    last = path[-1]
    row = last.index == len(index) - 1 if last.kind == "sub" else last.kind == "flat" and last.strides[-1] == "1"
    moves = [coefficient(e, var) for e in index]
    return 1 if row and moves[-1] == 1 and not any(moves[:-1]) and None not in moves else None


def coefficient(e: CExpr, var: str) -> int | None:
    """What a step of the variable adds to the expression; None where that is not a constant."""
    if var not in expr_names(e):
        return 0
    if isinstance(e, Name):
        return 1
    if isinstance(e, Neg):
        inner = coefficient(e.arg, var)
        return None if inner is None else -inner
    if isinstance(e, Bin) and e.op in ("+", "-", "*"):
        if e.op == "*":
            inner = coefficient(e.right, var)
            return e.left.value * inner if isinstance(e.left, Int) and inner is not None else None
        a, b = coefficient(e.left, var), coefficient(e.right, var)
        return None if a is None or b is None else a + b if e.op == "+" else a - b
    return None


def _vector(scop: Scop, s: Statement, at: Instance, e: Expr, var: str, elem: CType) -> bool:
    """Is the expression computed in the element type, from neighbours along the loop and from values that stay?"""
    if isinstance(e, Ref):
        array = scop.arrays[s.accesses[e.access].array]
        move = strides(s, at, e.access, var)
        return move is not None and (not move or (_same(array.elem, elem) and not array.inside))
    if stays(s, at, e, var):
        return type_of(scop, s, e) is not None
    kind = type_of(scop, s, e)
    if kind is None or not _same(kind, elem):
        return False
    if isinstance(e, Unary):
        return e.op in ("-", "+") and _vector(scop, s, at, e.arg, var, elem)
    if isinstance(e, Cast):
        inner = type_of(scop, s, e.arg)
        return inner is not None and _same(inner, elem) and _vector(scop, s, at, e.arg, var, elem)
    if isinstance(e, Binary):
        return e.op in _OPS and all(_vector(scop, s, at, x, var, elem) for x in (e.left, e.right))
    return False


def stays(s: Statement, at: Instance, e: Expr, var: str) -> bool:
    """Has the expression the same value in all iterations of the loop?"""
    if isinstance(e, Ref):
        return strides(s, at, e.access, var) == 0
    if isinstance(e, Affine):
        return var not in expr_names(at.values[e.value])
    if isinstance(e, (Unary, Cast)):
        return stays(s, at, e.arg, var)
    if isinstance(e, Binary):
        return stays(s, at, e.left, var) and stays(s, at, e.right, var)
    return not hasattr(e, "args") and not hasattr(e, "cond")


def _same(a: CType, b: CType) -> bool:
    return (a.kind, a.bits) == (b.kind, b.bits)


@record
class LanePrinter(BodyPrinter):
    """Prints a statement for all elements of a vector: what moves with the loop `var` is read and written whole."""

    var: str
    lanes: Lanes

    def parts(self, s: Statement, at: Instance) -> tuple[str, str]:
        target, value = self.access(s, at, s.target), self._side(s.rhs, s, at, 1)
        return (value if s.op == "=" else f"{target} {s.op[:-1]} ({value})"), target

    def access(self, s: Statement, at: Instance, number: int) -> str:
        text = super().access(s, at, number)
        return f"{self.lanes.type.upper()}({text})" if strides(s, at, number, self.var) else text

    def _side(self, e: Expr, s: Statement, at: Instance, level: int) -> str:
        """An operand; what stays is converted to the element type, as C would do beside a moving one."""
        if not stays(s, at, e, self.var):
            return super()._text(e, s, at, level)
        kind = type_of(self.scop, s, e)
        if kind is not None and _same(kind, self.lanes.elem):
            return super()._text(e, s, at, level)
        return f"({self.lanes.elem.spelling}){super()._text(e, s, at, 13)}"

    def _print(self, e: Expr, s: Statement, at: Instance) -> tuple[str, int]:
        if isinstance(e, Cast) and not stays(s, at, e, self.var):
            return self._print(e.arg, s, at)
        return super()._print(e, s, at)

    def _binary(self, e: Binary, s: Statement, at: Instance) -> tuple[str, int]:
        if stays(s, at, e, self.var):
            return super()._binary(e, s, at)
        twice = _doubled(e)
        if twice is not None:  # exact either way, and shared by all who use it; a product would be contracted for each
            text = self._side(twice, s, at, 12)
            return f"{text} + {text}", 11
        level = 11 if e.op in ("+", "-") else 12
        left, right = self._side(e.left, s, at, level), self._side(e.right, s, at, level + 1)
        return f"{left} {e.op} {right}", level


def _doubled(e: Binary) -> Ref | None:
    """The element of which the expression is the double."""
    if e.op == "*":
        for one, other in ((e.left, e.right), (e.right, e.left)):
            if isinstance(one, Lit) and one.text in _TWO and isinstance(other, Ref):
                return other
    return None
