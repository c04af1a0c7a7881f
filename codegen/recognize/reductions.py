"""Recognizes reductions: statements that combine values into one element by an associative and commutative operator.

Recognised by accesses and operators, not by names: the new value is the element that is written joined with one that
does not depend on it, under an operator that is associative and commutative on the element's type. With some operators
(`_FREE`) that value may come from other elements of the same array; the order with those who write them is not free. A
choice that joins on some paths and keeps the element on the others is a reduction, too.
"""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from codegen.recognize.access.ctypes import arithmetic, type_of
from codegen.record import mutable, record
from codegen.scop.dependences import param_space
from codegen.scop.expr import Affine, Binary, Call, Cast, Expr, Lit, Ref, Ternary, Unary, children, walk
from codegen.scop.memo import remember
from codegen.scop.model import Scop, Statement
from codegen.scop.types import UNSIGNED, CType

_COMPOUND = {"+=": "+", "-=": "-", "*=": "*", "&=": "&", "|=": "|", "^=": "^"}
_BITS = ("&", "|", "^")
# Reductions that may read other elements of their array. Sums that do are factorizations: those become products in
# panels, which keep the source's order and are as fast.
_FREE = ("max", "min", *_BITS)
# The larger or smaller of two numbers, and the widest element that they leave as it is.
_CALLS = {
    f"{prefix}f{op}{suffix}": (op, bits)
    for prefix in ("", "__builtin_")
    for op in ("max", "min")
    for suffix, bits in (("", 64), ("f", 32), ("l", 128))
}


@record
class Reduction:
    """`op` is OpenMP's name. `exact` means any order gives the same bits and overflows nowhere new; `wraps` that any
    order does where what overflows wraps around, as it does in lanes."""

    stmt: str
    array: str
    op: str
    exact: bool
    wraps: bool = False


@record
class _Fold:
    """The target joined with one of `values` by `op`, or kept; with the one value there is if `always`."""

    op: str
    values: tuple[Expr, ...]
    always: bool = True


@remember(16)
def find_reductions(scop: Scop) -> tuple[Reduction, ...]:
    """All reduction statements of a region."""
    found = (_reduction(scop, s) for s in scop.statements)
    return tuple(r for r in found if r is not None)


def joined(scop: Scop, s: Statement) -> tuple[str, Expr] | None:
    """The operator of a reduction and the value that each instance joins to the target; None if it is not one."""
    fold = _fold(scop, s)
    return (fold.op, fold.values[0]) if fold is not None and fold.always else None


def _fold(scop: Scop, s: Statement) -> _Fold | None:
    target = s.accesses[s.target]
    array = scop.arrays[target.array]
    same = [k for k, a in enumerate(s.accesses) if a.array == target.array and k != s.target]
    own = [k for k in same if s.accesses[k].relation.is_equal(target.relation)]
    if not own or not all(k in own or s.accesses[k].relation.is_disjoint(target.relation) for k in same):
        return None
    if array.elem.kind not in ("int", "float") or array.elem.enum or (target.path and not array.rank):
        return None  # a clause cannot name the member of a struct
    reader = _Reader(scop, s, frozenset(own), array.elem)
    fold = reader.fold(s.rhs) if s.op == "=" else reader.compound()
    if fold is None or (fold.op in _BITS and not array.elem.is_int):
        return None
    return fold if fold.op in _FREE or len(own) == len(same) else None


def _reduction(scop: Scop, s: Statement) -> Reduction | None:
    fold = _fold(scop, s)
    if fold is None:
        return None
    target = s.accesses[s.target]
    array = scop.arrays[target.array]
    if array.elem.is_int and not all(_fits(scop, s, fold.op, array.elem, v) for v in fold.values):
        return None
    exact = array.elem.is_int and all(_exact(scop, s, fold.op, array.elem, v) for v in fold.values)
    wraps = exact or (array.elem.is_int and fold.op in ("+", "-", "*"))
    return Reduction(s.name, target.array, fold.op, exact, wraps)


# -- the shape of the statement --------------------------------------------------------------------------------------


@mutable
class _Reader:
    """Reads the body of one statement. `own` are the accesses that read the target's element."""

    scop: Scop
    s: Statement
    own: frozenset[int]
    elem: CType

    def compound(self) -> _Fold | None:
        """`x op= e`."""
        op = _COMPOUND.get(self.s.op)
        return None if op is None or self._mentions(self.s.rhs) else _Fold(op, (self.s.rhs,))

    def fold(self, e: Expr) -> _Fold | None:
        """`x op e`, `e op x`, `fmax(x, e)`, `x < e ? e : x`, or a choice of such and x itself."""
        while isinstance(e, Cast) and e.ctype == self.elem:
            e = e.arg  # what is stored is converted anyhow
        if isinstance(e, Binary):
            return self._joined(e)
        if isinstance(e, Call):
            return self._called(e)
        if isinstance(e, Ternary):
            return self._choice(e) if not self._mentions(e.cond) else self._extreme(e)
        return None

    def _called(self, e: Call) -> _Fold | None:
        op, width = _CALLS.get(e.name, ("", 0))
        rest = [a for a in e.args if not self._is_own(a)]
        if len(e.args) != 2 or len(rest) != 1 or self._mentions(rest[0]):
            return None
        return _Fold(op, (rest[0],)) if self.elem.kind == "float" and self.elem.bits <= width else None

    def _joined(self, e: Binary) -> _Fold | None:
        if e.op in ("+", "*", *_BITS) and self._is_own(e.right) and not self._mentions(e.left):
            return _Fold(e.op, (e.left,))
        known = e.op in ("+", "-", "*", *_BITS)
        return _Fold(e.op, (e.right,)) if known and self._is_own(e.left) and not self._mentions(e.right) else None

    def _choice(self, e: Ternary) -> _Fold | None:
        """Under a condition that has nothing to do with x: all sides fold alike, or leave x as it is."""
        folds = [self.fold(x) for x in (e.yes, e.no) if not self._is_own(x)]
        parts = [f for f in folds if f is not None]
        ops = {f.op for f in parts}
        if not parts or len(parts) != len(folds) or (len(ops) > 1 and ops != {"+", "-"}):
            return None
        return _Fold("+" if len(ops) > 1 else parts[0].op, tuple(v for f in parts for v in f.values), False)

    def _extreme(self, e: Ternary) -> _Fold | None:
        """One of the two sides of a comparison: `x < e ? e : x` and its kin."""
        if not isinstance(e.cond, Binary) or e.cond.op not in ("<", "<=", ">", ">="):
            return None
        left, right = e.cond.left, e.cond.right
        other = right if self._is_own(left) else left
        if self._mentions(other) or not (self._is_own(left) or self._is_own(right)):
            return None
        if self._is_own(e.no) and self._same(e.yes, other):
            first = self._is_own(right)
        elif self._is_own(e.yes) and self._same(e.no, other):
            first = self._is_own(left)
        else:
            return None
        return _Fold("max" if (e.cond.op[0] == ">") == first else "min", (other,))

    def _is_own(self, e: Expr) -> bool:
        return isinstance(e, Ref) and e.access in self.own

    def _mentions(self, e: Expr) -> bool:
        return any(self._is_own(x) for x in walk(e))

    def _same(self, a: Expr, b: Expr) -> bool:
        """Do two expressions without effects have the same value?"""
        if isinstance(a, Ref) and isinstance(b, Ref):
            one, two = self.s.accesses[a.access], self.s.accesses[b.access]
            return a == b or (
                one.array == two.array and one.path == two.path and bool(one.relation.is_equal(two.relation))
            )
        if isinstance(a, Affine) and isinstance(b, Affine):
            return a.ctype == b.ctype and bool(self.s.values[a.value].is_equal(self.s.values[b.value]))
        parts, others = children(a), children(b)
        if not parts or not others:
            return a == b
        alike = type(a) is type(b) and len(parts) == len(others)
        return alike and _head(a) == _head(b) and all(map(self._same, parts, others))


def _head(e: Expr) -> str:
    """What an expression does with its parts."""
    if isinstance(e, (Unary, Binary)):
        return e.op
    return e.name if isinstance(e, Call) else e.type_text if isinstance(e, Cast) else ""


# -- integers --------------------------------------------------------------------------------------------------------


def _fits(scop: Scop, s: Statement, op: str, elem: CType, value: Expr) -> bool:
    """Is every step made in integers, none cutting off what the order of steps could show?"""
    values = _values(scop, s, value)
    if values is None:
        return False
    low, high = elem.safe_range()
    return op not in ("min", "max") or (low <= values[0] and values[1] <= high)


def _exact(scop: Scop, s: Statement, op: str, elem: CType, value: Expr) -> bool:
    """Can no order overflow where another does not? Only signed arithmetic overflows."""
    if op in _BITS or op in ("min", "max"):
        return True
    work, values = arithmetic(elem, type_of(scop, s, value)), _values(scop, s, value)
    if elem.signed or work is None or values is None:
        return False
    ways = ("+", "-") if op in ("+", "-") else (op,)
    return not work.signed or all(_inside(_combined(w, elem.range(), values), work) for w in ways)


def unsigned_for(scop: Scop, stmts: Iterable[Statement]) -> CType | None:
    """The type of a variable in which statements may gather signed numbers in any order: nothing overflows in it, and
    its last bits are those of the source's order. None where the target's own type will do."""
    needed = [_unsigned(scop, s) for s in stmts]
    return max((t for t in needed if t is not None), key=lambda t: t.bits, default=None)


def _unsigned(scop: Scop, s: Statement) -> CType | None:
    fold, elem = _fold(scop, s), scop.arrays[s.accesses[s.target].array].elem
    if fold is None or fold.op not in ("+", "-", "*") or not elem.is_int or not (elem.signed or elem.plain_char):
        return None
    own = UNSIGNED[elem.bits]
    if all(_exact(scop, s, fold.op, own, v) for v in fold.values):
        return own
    found = [arithmetic(own, type_of(scop, s, v)) for v in fold.values]
    return UNSIGNED[max(t.bits for t in (own, *found) if t is not None)]


def _values(scop: Scop, s: Statement, e: Expr) -> tuple[int, int] | None:
    """The least and the largest value an integer expression can have; None when it may not be one."""
    t = type_of(scop, s, e)
    if t is None or not t.is_int:
        return None
    if isinstance(e, Lit) and e.text.isdigit() and not (e.text.startswith("0") and e.text != "0"):
        return int(e.text), int(e.text)
    if isinstance(e, Ternary):
        parts = [_values(scop, s, x) for x in (e.yes, e.no)]
    elif isinstance(e, Binary) and e.op in ("+", "-", "*"):
        parts = [_values(scop, s, x) for x in (e.left, e.right)]
    else:
        return t.range()
    if any(p is None or not _inside(p, t) for p in parts):
        return t.range()
    (a, b), (c, d) = (p for p in parts if p is not None)
    found = (min(a, c), max(b, d)) if isinstance(e, Ternary) else _combined(e.op, (a, b), (c, d))
    return found if _inside(found, t) else t.range()


def _combined(op: str, x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
    if op == "+":
        return x[0] + y[0], x[1] + y[1]
    if op == "-":
        return x[0] - y[1], x[1] - y[0]
    products = [a * b for a in x for b in y]
    return min(products), max(products)


def _inside(values: tuple[int, int] | None, t: CType) -> bool:
    low, high = t.range()
    return values is not None and low <= values[0] and values[1] <= high


# -- for the dependences ---------------------------------------------------------------------------------------------


def free_pairs(scop: Scop, reassociate: bool) -> dict[str, isl.UnionMap]:
    """By array, the pairs of instances that fold into it with one operator and may be swapped."""
    out: dict[str, isl.UnionMap] = {}
    members = [r for r in find_reductions(scop) if r.exact or reassociate]
    for a in members:
        for b in members:
            if a.array == b.array and ({a.op, b.op} <= {"+", "-"} or a.op == b.op):
                pairs = isl.Map.from_domain_and_range(scop.statement(a.stmt).domain, scop.statement(b.stmt).domain)
                known = out.get(a.array, isl.UnionMap.empty(param_space(scop)))
                out[a.array] = known.union(isl.UnionMap.from_map(pairs))
    return out
