"""Loops written as vectors: which bodies have that form, and their text.

Vectors are those of GNU C: arithmetic on them is spelled as in the source, so compilers round, and contract a product
and a sum, just as they do in the source's own loop, and any processor can run the result. What the machine
description decides is how wide they are and how many go side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from codegen.ast.ctree import Bin, CExpr, For, Instance, Int, Name, Neg, expr_names
from codegen.recognize.ctypes import arithmetic, type_of
from codegen.record import record
from codegen.scop.expr import Affine, Binary, Cast, Expr, Lit, Ref, Ternary, Unary, walk
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import VECTOR
from codegen.scop.types import CType
from codegen.target.body import ATOM, BodyPrinter
from codegen.target.invariants import always_read
from codegen.target.jam import Statements, shifted

_OPS = ("+", "-", "*", "/")
_COMPARE = ("<", "<=", ">", ">=", "==", "!=")
_TWO = frozenset({"2", "2.", "2.0", "2.f", "2.0f", "2.F", "2.0F"})


@record
class Lanes:
    """Vectors of `count` elements of one type, `times` of them side by side."""

    elem: CType
    count: int
    times: int

    @property
    def type(self) -> str:
        kind = "f" if self.elem.kind == "float" else "int" if self.elem.signed else "uint"
        return f"tw_{kind}{self.elem.bits}x{self.count}"

    @property
    def bytes(self) -> int:
        return self.count * self.elem.bytes


def lanes_of(scop: Scop, node: For, found: Statements) -> Lanes | None:
    """How to write the loop's statements as vectors; None where the loop does not ask for it or they have no such form.

    The proofs have shown that its iterations are independent; so some may go through each statement together.
    """
    lanes = None if node.loop.reductions else width_of(scop, node, found)
    if lanes is None or not all(fits(scop, s, at, node.var, lanes.elem) for s, at in found):
        return None
    return lanes


def width_of(scop: Scop, node: For, found: Statements, integers: bool = False) -> Lanes | None:
    """The vectors that a loop asks for, where all its statements store elements of one type that has vectors: a
    floating one, or a whole number that C computes with as it is."""
    lp = node.loop
    if lp.kind != VECTOR or not lp.width or node.step != 1:
        return None
    elems = {scop.arrays[s.accesses[s.target].array].elem for s, _ in found}
    if len(elems) != 1:
        return None
    (elem,) = elems
    kinds = ("float", "int") if integers and not elem.enum else ("float",)
    if elem.kind not in kinds or elem.bits not in (32, 64) or "_Complex" in elem.spelling:
        return None
    count = lp.width // elem.bytes
    return Lanes(elem, count, lp.factor) if count > 1 else None


def fits(scop: Scop, s: Statement, at: Instance, var: str, elem: CType) -> bool:
    """Can the statement be written for whole vectors of its target?"""
    if s.op == "=" and stays(s, at, s.rhs, var):
        return False  # one value for all: nothing that a compiler would not do
    return strides(s, at, s.target, var) == 1 and computes(scop, s, at, var, elem)


def computes(
    scop: Scop, s: Statement, at: Instance, var: str, elem: CType, turned: frozenset[int] = frozenset()
) -> bool:
    """Can the value that the statement stores be computed in vectors? `x += c` is computed in the type of both. What
    the accesses `turned` read is there as vectors, however they move."""
    kind = elem if s.op == "=" else arithmetic(elem, type_of(scop, s, s.rhs))
    plain = s.op == "=" or s.op[:-1] in _operators(elem)
    return plain and kind is not None and same(kind, elem) and _vector(scop, s, at, s.rhs, var, elem, turned)


def _operators(elem: CType) -> tuple[str, ...]:
    """Compilers have no vectors of quotients of whole numbers."""
    return _OPS if elem.kind == "float" else _OPS[:3]


def repeatable(found: Statements) -> bool:
    """May iterations of the loop run again, with no difference? Yes where nothing is read that they write."""
    written = {s.accesses[s.target].array for s, _ in found}
    return not any(a.array in written for s, _ in found for a in s.reads) and all(s.op == "=" for s, _ in found)


def strides(s: Statement, at: Instance, number: int, var: str) -> int | None:
    """By how many elements the access moves with the loop: 0, 1, -1, or None for anything else."""
    index, path = at.accesses[number], s.accesses[number].path
    if not any(var in expr_names(e) for e in index):
        return 0
    if not path:
        return None  # a variable of the region, one for each iteration
    last = path[-1]
    row = last.index == len(index) - 1 if last.kind == "sub" else last.kind == "flat" and last.strides[-1] == "1"
    moves = [coefficient(e, var) for e in index]
    return moves[-1] if row and moves[-1] in (1, -1) and not any(moves[:-1]) and None not in moves else None


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


def _vector(
    scop: Scop, s: Statement, at: Instance, e: Expr, var: str, elem: CType, turned: frozenset[int] = frozenset()
) -> bool:
    """Is the expression computed in the element type, from neighbours along the loop and from values that stay?"""
    if isinstance(e, Ref):
        if e.access in turned:
            return True
        array = scop.arrays[s.accesses[e.access].array]
        move = strides(s, at, e.access, var)
        return move is not None and (not move or (same(array.elem, elem) and not array.inside))
    if stays(s, at, e, var):
        return type_of(scop, s, e) is not None
    kind = type_of(scop, s, e)
    if kind is None or not same(kind, elem):
        return False
    if isinstance(e, Unary):
        return e.op in ("-", "+") and _vector(scop, s, at, e.arg, var, elem, turned)
    if isinstance(e, Cast):
        inner = type_of(scop, s, e.arg)
        return inner is not None and same(inner, elem) and _vector(scop, s, at, e.arg, var, elem, turned)
    if isinstance(e, Binary):
        return e.op in _operators(elem) and all(_vector(scop, s, at, x, var, elem, turned) for x in (e.left, e.right))
    if isinstance(e, Ternary) and elem.kind == "float":
        # Both sides are computed: they may read only what is read in any case.
        sure = {*always_read(s.rhs), s.target}
        seen = {(s.accesses[k].array, at.accesses[k]) for k in sure}
        reads = {(s.accesses[x.access].array, at.accesses[x.access]) for x in walk(e) if isinstance(x, Ref)}
        sides = all(_vector(scop, s, at, x, var, elem, turned) for x in (e.yes, e.no))
        return not e.branch and reads <= seen and sides and _mask(scop, s, at, e.cond, var, elem, turned)
    return False


def _mask(scop: Scop, s: Statement, at: Instance, e: Expr, var: str, elem: CType, turned: frozenset[int]) -> bool:
    """Is the condition one of comparisons in the element type, each with a side that moves?"""
    if isinstance(e, Binary) and e.op in ("&&", "||"):
        return all(_mask(scop, s, at, x, var, elem, turned) for x in (e.left, e.right))
    if not isinstance(e, Binary) or e.op not in _COMPARE or stays(s, at, e, var):
        return False
    kind = arithmetic(type_of(scop, s, e.left), type_of(scop, s, e.right))
    sides = all(_vector(scop, s, at, x, var, elem, turned) for x in (e.left, e.right))
    return kind is not None and same(kind, elem) and sides


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


def same(a: CType, b: CType) -> bool:
    """Do two types have the same values?"""
    return (a.kind, a.bits, a.signed) == (b.kind, b.bits, b.signed)


@record
class LanePrinter(BodyPrinter):
    """Prints a statement for all elements of a vector: what moves with the loop `var` is read and written whole, or
    put together where lanes have their elements far apart. What is kept in variables of its own goes by their names."""

    var: str
    lanes: Lanes
    kept: Mapping[str, str] = field(default_factory=dict)  # by the text of an element

    def parts(self, s: Statement, at: Instance) -> tuple[str, str]:
        target, value = self.access(s, at, s.target), self._side(s.rhs, s, at, 1)
        return (value if s.op == "=" else f"{target} {s.op[:-1]} ({value})"), target

    def access(self, s: Statement, at: Instance, number: int) -> str:
        move = strides(s, at, number, self.var)
        if move == -1:
            last = super().access(s, shifted(at, self.var, self.lanes.count - 1), number)
            return f"{self.helper('turned')}({self.lanes.type.upper()}({last}))"
        text = super().access(s, at, number)
        if text in self.kept:
            return self.kept[text]
        if move is None:
            one = super().access
            far = (one(s, shifted(at, self.var, k), number) for k in range(self.lanes.count))
            return f"({self.lanes.type}){{{', '.join(far)}}}"
        return f"{self.lanes.type.upper()}({text})" if move else text

    def helper(self, what: str) -> str:
        """A function on these vectors, which will be defined."""
        name = f"{self.lanes.type}_{what}"
        self.ints.helpers.add(name)
        return name

    def _side(self, e: Expr, s: Statement, at: Instance, level: int) -> str:
        """An operand; what stays is converted to the element type, as C would do beside a moving one."""
        if not stays(s, at, e, self.var):
            return super()._text(e, s, at, level)
        kind = type_of(self.scop, s, e)
        if kind is not None and same(kind, self.lanes.elem):
            return super()._text(e, s, at, level)
        return f"({self.lanes.elem.spelling}){super()._text(e, s, at, 13)}"

    def _print(self, e: Expr, s: Statement, at: Instance) -> tuple[str, int]:
        if isinstance(e, Cast) and not stays(s, at, e, self.var):
            return self._print(e.arg, s, at)
        if isinstance(e, Ternary) and not stays(s, at, e, self.var):
            yes, no = self.whole(e.yes, s, at), self.whole(e.no, s, at)
            return f"{self.helper('chosen')}({self._condition(e.cond, s, at, 1)}, {yes}, {no})", ATOM
        return super()._print(e, s, at)

    def whole(self, e: Expr, s: Statement, at: Instance) -> str:
        """An operand that has to be a vector."""
        if stays(s, at, e, self.var) and not self._is_kept(e, s, at):
            return spread(self.lanes, self._side(e, s, at, 12))
        return self._side(e, s, at, 1)

    def _is_kept(self, e: Expr, s: Statement, at: Instance) -> bool:
        return isinstance(e, Ref) and self.access(s, at, e.access) in self.kept.values()

    def _condition(self, e: Expr, s: Statement, at: Instance, level: int) -> str:
        assert isinstance(e, Binary)
        if e.op in ("&&", "||"):
            left, right = (self._condition(x, s, at, 14) for x in (e.left, e.right))
            text = f"{left} {e.op[0]} {right}"
        else:
            text = f"{self._side(e.left, s, at, 11)} {e.op} {self._side(e.right, s, at, 11)}"
        return f"({text})" if level > 1 else text

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


def spread(lanes: Lanes, text: str) -> str:
    """A value in every lane. Subtracting zero changes none, not even -0.0."""
    return f"{text} - ({lanes.type}){{0}}"


def _doubled(e: Binary) -> Ref | None:
    """The element of which the expression is the double."""
    if e.op == "*":
        for one, other in ((e.left, e.right), (e.right, e.left)):
            if isinstance(one, Lit) and one.text in _TWO and isinstance(other, Ref):
                return other
    return None
