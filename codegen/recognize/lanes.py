"""Decides which statements can run in lanes, as whole vectors of a loop's iterations (`fits`, `computes`), by types,
operators and strides. That the loop carries no dependence is not asked here.

Vectors are those of GNU C: arithmetic on them is spelled as in the source, so compilers round, and contract a product
and a sum, just as they do in the source's own loop, and any processor can run the result. This is asked by those who
make vectors (`lower/`) and by the proofs that read them (`verify/lowered`).
"""

from __future__ import annotations

from collections.abc import Hashable

from codegen.recognize.access.calls import is_root
from codegen.recognize.access.ctypes import arithmetic, type_of
from codegen.recognize.access.dereferenceable import always
from codegen.record import record
from codegen.scop.expr import Affine, Binary, Call, Cast, Expr, Lit, Ref, Ternary, Unary, children, walk
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.types import CType

_FLOATING = ("+", "-", "*", "/")
_WHOLE = ("+", "-", "*", "&", "|", "^", "<<", ">>")  # compilers have no vectors of quotients
_COMPARE = ("<", "<=", ">", ">=", "==", "!=")


@record
class LoopStrides:
    """Strides of a statement along a loop: by how many elements of its row each access moves (None where it leaves the
    row, or by no fixed number), which of its affine values change, and what tells elements of its accesses apart."""

    steps: tuple[int | None, ...]
    values: tuple[bool, ...]
    places: tuple[Hashable, ...]


def has_vectors(elem: CType) -> bool:
    """Of a floating type, or of integers that C computes with as they are."""
    return elem.kind in ("float", "int") and elem.bits in (32, 64) and not elem.enum and "_Complex" not in elem.spelling


def in_row(a: Access, subscripts: int) -> bool:
    """Are elements neighbours in memory whose last subscripts are?"""
    if not a.path:
        return False  # a variable of the region, one for each iteration
    last = a.path[-1]
    return last.index == subscripts - 1 if last.kind == "sub" else last.kind == "flat" and last.strides[-1] == "1"


def fits(scop: Scop, s: Statement, strides: LoopStrides, elem: CType, apart: int = 1) -> bool:
    """Can the statement be written for whole vectors of its target, whose elements are at most so far apart?"""
    if s.op == "=" and stays(strides, s.rhs):
        return False  # one value for all: nothing that a compiler would not do
    step = strides.steps[s.target]
    return step is not None and 1 <= step <= apart and computes(scop, s, strides, elem)


def computes(scop: Scop, s: Statement, strides: LoopStrides, elem: CType, turned: frozenset[int] = frozenset()) -> bool:
    """Can the value that the statement stores be computed in vectors? `x += c` is computed in the type of both. What
    the accesses `turned` read is there as vectors, however they move."""
    body = _Body(scop, s, strides, elem, turned)
    if s.op in ("<<=", ">>="):
        return elem.is_int and body.amount(s.rhs, True)
    kind = elem if s.op == "=" else arithmetic(elem, type_of(scop, s, s.rhs))
    plain = s.op == "=" or s.op[:-1] in body.operators
    return plain and kind is not None and same(kind, elem) and body.vector(s.rhs, True)


def plainly(scop: Scop, s: Statement, elem: CType) -> bool:
    """Can vectors compute the statement by sums, differences, products and quotients alone, whichever of the elements
    of that type move? Others have to stay, and variables of the region, too."""
    leaves = list(walk(s.rhs))
    if any(isinstance(e, (Ternary, Affine)) or (isinstance(e, Binary) and e.op not in _FLOATING) for e in leaves):
        return False
    arrays = [scop.arrays[a.array] for a in s.accesses]
    steps = tuple(int(same(a.elem, elem) and not a.inside) for a in arrays)
    strides = LoopStrides(steps, tuple(False for _ in s.values), tuple(range(len(steps))))
    return s.op[:-1] in ("", *_FLOATING) and computes(scop, s, strides, elem)


@record
class _Body:
    """A statement, of which expressions are asked whether vectors of one type of elements can compute them."""

    scop: Scop
    s: Statement
    strides: LoopStrides
    elem: CType
    turned: frozenset[int]  # reads that are there as vectors, however they move

    @property
    def operators(self) -> tuple[str, ...]:
        return _WHOLE if self.elem.is_int else _FLOATING

    def vector(self, e: Expr, sure: bool) -> bool:
        """Is the expression computed in the element type, from neighbours along the loop and from values that stay?
        `sure`: in every iteration. Vectors compute the others, too: integers must not overflow there."""
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
            seen = {self._place(k) for k in (*_always_read(s.rhs), s.target)}
            reads = {self._place(x.access) for x in walk(e) if isinstance(x, Ref)}
            sides = all(self.vector(x, False) for x in (e.yes, e.no))
            return not e.branch and reads <= seen and sides and self._mask(e.cond, sure)
        if not sure and elem.is_int and elem.signed and any(isinstance(x, Ternary) for x in walk(e)):
            return False  # computed without a sign, which would be wrong in a comparison
        if isinstance(e, Call):
            # Where the source asks for none, a root could set errno.
            return sure and elem.kind == "float" and is_root(e, elem.bits) and self.vector(e.args[0], sure)
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
        if self.strides.steps[e.access] == 0:
            return True
        return same(array.elem, self.elem) and not array.elem.enum and not array.inside

    def _harmless(self, e: Expr) -> bool:
        """Can a value be computed where nobody asks for it? Integers may overflow, or be divided by zero."""
        kind = type_of(self.scop, self.s, e)
        if kind is None:
            return False
        if kind.is_int and isinstance(e, Cast):
            inner = type_of(self.scop, self.s, e.arg)
            return inner is not None and inner.is_int and self._harmless(e.arg)
        if kind.is_int and isinstance(e, Unary):
            return isinstance(e.arg, Lit)
        return not (kind.is_int and isinstance(e, Binary)) and all(map(self._harmless, children(e)))

    def _place(self, k: int) -> tuple[str, Hashable]:
        return self.s.accesses[k].array, self.strides.places[k]

    def _stays(self, e: Expr) -> bool:
        return stays(self.strides, e)


def stays(strides: LoopStrides, e: Expr) -> bool:
    """Has the expression the same value in all iterations of the loop?"""
    if isinstance(e, Ref):
        return strides.steps[e.access] == 0
    if isinstance(e, Affine):
        return not strides.values[e.value]
    if isinstance(e, (Unary, Cast)):
        return stays(strides, e.arg)
    if isinstance(e, Binary):
        return stays(strides, e.left) and stays(strides, e.right)
    return not hasattr(e, "args") and not hasattr(e, "cond")


def _always_read(e: Expr) -> list[int]:
    return [x.access for x in always(e) if isinstance(x, Ref)]


def same(a: CType, b: CType) -> bool:
    """Do two types have the same values?"""
    return (a.kind, a.bits, a.signed) == (b.kind, b.bits, b.signed)
