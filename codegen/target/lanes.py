"""Loops written as vectors: which bodies have that form.

Vectors are those of GNU C: arithmetic on them is spelled as in the source, so compilers round, and contract a product
and a sum, just as they do in the source's own loop, and any processor can run the result. What the machine
description decides is how wide they are and how many go side by side.
"""

from __future__ import annotations

from codegen.ast.ctree import Bin, CExpr, For, Instance, Int, Name, Neg, expr_names
from codegen.recognize.ctypes import arithmetic, type_of
from codegen.record import record
from codegen.scop.expr import Affine, Binary, Cast, Expr, Lit, Ref, Ternary, Unary, children, walk
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import VECTOR
from codegen.scop.types import CType
from codegen.target.invariants import always_read
from codegen.target.jam import Statements

_FLOATING = ("+", "-", "*", "/")
_WHOLE = ("+", "-", "*", "&", "|", "^", "<<", ">>")  # compilers have no vectors of quotients
MOST_APART = 4  # elements that are stored: beyond that there is nothing but single ones
_COMPARE = ("<", "<=", ">", ">=", "==", "!=")


@record
class Lanes:
    """Vectors of `count` elements of one type, `times` of them side by side."""

    elem: CType
    count: int
    times: int

    @property
    def type(self) -> str:
        """With the u of vectors at any address; the tables of instruction sets have some without."""
        kind = "f" if self.elem.kind == "float" else "int" if self.elem.signed else "uint"
        return f"tw_{kind}{self.elem.bits}x{self.count}u"

    @property
    def bytes(self) -> int:
        return self.count * self.elem.bytes

    @property
    def scalar(self) -> str:
        """A type to which values are converted that all lanes share."""
        if not self.elem.is_int:
            return self.elem.spelling
        return ("" if self.elem.signed else "unsigned ") + ("int" if self.elem.bits == 32 else "long")


def lanes_of(scop: Scop, node: For, found: Statements) -> Lanes | None:
    """How to write the loop's statements as vectors; None where the loop does not ask for it or they have no such form.

    The proofs have shown that its iterations are independent; so some may go through each statement together.
    """
    lanes = None if node.loop.reductions else width_of(scop, node, found)
    if lanes is None or not all(fits(scop, s, at, node.var, lanes.elem, MOST_APART) for s, at in found):
        return None
    return lanes


def width_of(scop: Scop, node: For, found: Statements) -> Lanes | None:
    """The vectors that a loop asks for, where all its statements store elements of one type that has vectors: a
    floating one, or a whole number that C computes with as it is."""
    lp = node.loop
    if lp.kind != VECTOR or not lp.width or node.step != 1:
        return None
    elems = {scop.arrays[s.accesses[s.target].array].elem for s, _ in found}
    if len(elems) != 1:
        return None
    (elem,) = elems
    count = lp.width // elem.bytes
    return Lanes(elem, count, lp.factor) if has_vectors(elem) and count > 1 else None


def has_vectors(elem: CType) -> bool:
    return elem.kind in ("float", "int") and elem.bits in (32, 64) and not elem.enum and "_Complex" not in elem.spelling


def fits(scop: Scop, s: Statement, at: Instance, var: str, elem: CType, apart: int = 1) -> bool:
    """Can the statement be written for whole vectors of its target, whose elements are at most so far apart?"""
    if s.op == "=" and stays(s, at, s.rhs, var):
        return False  # one value for all: nothing that a compiler would not do
    step = step_of(s, at, s.target, var)
    return step is not None and 1 <= step <= apart and computes(scop, s, at, var, elem)


def computes(
    scop: Scop, s: Statement, at: Instance, var: str, elem: CType, turned: frozenset[int] = frozenset()
) -> bool:
    """Can the value that the statement stores be computed in vectors? `x += c` is computed in the type of both. What
    the accesses `turned` read is there as vectors, however they move."""
    body = _Body(scop, s, at, var, elem, turned)
    if s.op in ("<<=", ">>="):
        return elem.is_int and body.amount(s.rhs, True)
    kind = elem if s.op == "=" else arithmetic(elem, type_of(scop, s, s.rhs))
    plain = s.op == "=" or s.op[:-1] in body.operators
    return plain and kind is not None and same(kind, elem) and body.vector(s.rhs, True)


def repeatable(found: Statements) -> bool:
    """May iterations of the loop run again, with no difference? Yes where nothing is read that they write."""
    written = {s.accesses[s.target].array for s, _ in found}
    return not any(a.array in written for s, _ in found for a in s.reads) and all(s.op == "=" for s, _ in found)


def strides(s: Statement, at: Instance, number: int, var: str) -> int | None:
    """By how many elements the access moves with the loop: 0, 1, -1, or None for anything else."""
    step = step_of(s, at, number, var)
    return step if step in (0, 1, -1) else None


def step_of(s: Statement, at: Instance, number: int, var: str) -> int | None:
    """By how many elements of one row the access moves with the loop; None where it leaves the row."""
    index, path = at.accesses[number], s.accesses[number].path
    if not any(var in expr_names(e) for e in index):
        return 0
    if not path:
        return None  # a variable of the region, one for each iteration
    last = path[-1]
    row = last.index == len(index) - 1 if last.kind == "sub" else last.kind == "flat" and last.strides[-1] == "1"
    moves = [coefficient(e, var) for e in index]
    return moves[-1] if row and None not in moves and not any(moves[:-1]) else None


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


@record
class _Body:
    """A statement, of which expressions are asked whether vectors of one type of elements can compute them."""

    scop: Scop
    s: Statement
    at: Instance
    var: str
    elem: CType
    turned: frozenset[int]  # reads that are there as vectors, however they move

    @property
    def operators(self) -> tuple[str, ...]:
        return _WHOLE if self.elem.is_int else _FLOATING

    def vector(self, e: Expr, sure: bool) -> bool:
        """Is the expression computed in the element type, from neighbours along the loop and from values that stay?
        `sure`: in every iteration. Vectors compute the others, too: whole numbers must not overflow there."""
        s, elem = self.s, self.elem
        if isinstance(e, Ref):
            return self._read(e)
        kind = type_of(self.scop, s, e)
        if self._stays(e):
            return kind is not None and (sure or self._harmless(e))
        if kind is None or not same(kind, elem):
            return False
        if isinstance(e, Cast):
            inner = type_of(self.scop, s, e.arg)
            return inner is not None and same(inner, elem) and self.vector(e.arg, sure)
        if isinstance(e, Ternary):
            # Both sides are computed: they may read only what is read in any case.
            seen = {self._place(k) for k in (*always_read(s.rhs), s.target)}
            reads = {self._place(x.access) for x in walk(e) if isinstance(x, Ref)}
            sides = all(self.vector(x, False) for x in (e.yes, e.no))
            return not e.branch and reads <= seen and sides and self._mask(e.cond, sure)
        if not sure and elem.is_int and elem.signed and any(isinstance(x, Ternary) for x in walk(e)):
            return False  # computed without a sign, which would be wrong in a comparison
        if isinstance(e, Unary):
            return e.op in ("-", "+", *(("~",) if elem.is_int else ())) and self.vector(e.arg, sure)
        if not isinstance(e, Binary) or e.op not in self.operators:
            return False
        if e.op in ("<<", ">>"):
            lost = e.op == ">>" and elem.signed and not sure  # the sign, again
            return not lost and self.vector(e.left, sure) and self.amount(e.right, sure)
        return self.vector(e.left, sure) and self.vector(e.right, sure)

    def amount(self, e: Expr, sure: bool) -> bool:
        """Can vectors be shifted by so much: by as many places in all lanes, and by as many as there are at most?"""
        kind = type_of(self.scop, self.s, e)
        known = isinstance(e, Lit) and e.text.isdigit() and int(e.text) < self.elem.bits
        return kind is not None and kind.is_int and (known or sure) and self._stays(e)

    def _mask(self, e: Expr, sure: bool) -> bool:
        """Is the condition one of comparisons in the element type, each with a side that moves?"""
        if isinstance(e, Binary) and e.op in ("&&", "||"):
            return self._mask(e.left, sure) and self._mask(e.right, False)
        if not isinstance(e, Binary) or e.op not in _COMPARE or self._stays(e):
            return False
        kind = arithmetic(type_of(self.scop, self.s, e.left), type_of(self.scop, self.s, e.right))
        return kind is not None and same(kind, self.elem) and self.vector(e.left, sure) and self.vector(e.right, sure)

    def _read(self, e: Ref) -> bool:
        if e.access in self.turned:
            return True
        array = self.scop.arrays[self.s.accesses[e.access].array]
        if strides(self.s, self.at, e.access, self.var) == 0:
            return True
        return same(array.elem, self.elem) and not array.elem.enum and not array.inside

    def _harmless(self, e: Expr) -> bool:
        """Can a value be computed where nobody asks for it? Whole numbers may overflow, or be divided by zero."""
        kind = type_of(self.scop, self.s, e)
        if kind is None:
            return False
        if kind.is_int and isinstance(e, Cast):
            inner = type_of(self.scop, self.s, e.arg)
            return inner is not None and inner.is_int and self._harmless(e.arg)
        if kind.is_int and isinstance(e, Unary):
            return isinstance(e.arg, Lit)
        return not (kind.is_int and isinstance(e, Binary)) and all(map(self._harmless, children(e)))

    def _place(self, k: int) -> tuple[str, tuple[CExpr, ...]]:
        return self.s.accesses[k].array, self.at.accesses[k]

    def _stays(self, e: Expr) -> bool:
        return stays(self.s, self.at, e, self.var)


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
