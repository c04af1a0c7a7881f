"""Translates a product statement's body to a step on vector lanes: the part of each operand, and the operator that
joins them.

The step means exactly what the C statement means, with the operands converted once, when they are packed. What has no
such form raises `NoStep` with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace

from codegen.recognize.access.ctypes import element_name, type_of
from codegen.recognize.access.dereferenceable import always
from codegen.record import mutable, record
from codegen.scop.expr import (
    Affine,
    Binary,
    Call,
    Cast,
    DataLoop,
    Expr,
    Gather,
    Lit,
    Ref,
    Sym,
    Ternary,
    Unary,
    children,
    walk,
)
from codegen.scop.lanes import Lane
from codegen.scop.lanes import walk as walk_lanes
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.product import ProductStep
from codegen.scop.types import CType

ACC = Lane("acc")
_RING = {"+": "add", "-": "sub", "*": "mul"}
_BITS = {"&": "and", "|": "or", "^": "xor"}
_COMPARE = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
_CALLS = {"fmin": "fmin", "fminf": "fmin", "fmax": "fmax", "fmaxf": "fmax"}
_NARROWABLE = frozenset({"add", "sub", "mul", "neg", "and", "or", "xor", "not", "acc", "a", "b", "const"})
_RINGS = frozenset({"add", "sub", "mul", "neg", "and", "or", "xor", "not"})
_BOUNDED = frozenset({"min", "max", "and", "or", "xor"})
_TRUTH = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "mand", "mor", "mnot"})


class NoStep(Exception):
    """The body has no form on lanes; the text says why."""


def body_of(s: Statement, own: int) -> Expr:
    """The new value of the target: `C op= e` spelled out with its own read."""
    return s.rhs if s.op == "=" else Binary(s.op[:-1], Ref(own), s.rhs)


@record
class Questions:
    """What a step has to know of its statement.

    side   to what an expression belongs: "const", "a", "b" or "" (both)
    there  whether the elements of an access can be read even where the source would not read them
    owned  whether those of the target can be written with what they hold
    """

    side: Callable[[Expr], str]
    there: Callable[[int], bool]
    owned: Callable[[], bool]


def lower(scop: Scop, s: Statement, own: int, asked: Questions, free: bool) -> ProductStep:
    """The step of a statement. `free` allows minima and maxima to treat NaN and signed zeros as they like."""
    side, there, owned = asked.side, asked.there, asked.owned
    target = scop.arrays[s.accesses[s.target].array].elem
    body = body_of(s, own)
    if any(isinstance(e, (Gather, DataLoop)) for e in walk(body)):
        raise NoStep("data decide which elements it reads, so that they cannot be read ahead")
    kind = type_of(scop, s, body)
    if "_Complex" in target.spelling:
        raise NoStep(
            "C multiplies complex numbers with a recovery of infinities (Annex G) that lanes do not have; real and "
            "imaginary parts as members of a struct, or as arrays of their own, say that it is not wanted"
        )
    if kind is None or element_name(target) is None:
        raise NoStep(f"`{target.shown}` elements or a part of unknown type")
    if target.kind != kind.kind:
        raise NoStep("the value is converted between integer and floating point at every step")
    if kind.kind == "float" and kind.bits != target.bits:
        raise NoStep(f"it computes in {kind.shown} but stores {target.shown} at every step")
    if target.bits > kind.bits or (target.bits == kind.bits and target.signed != kind.signed and kind.bits < 32):
        kind = target
    careful = any(isinstance(e, Ternary) and e.branch for e in walk(s.rhs)) and not owned()
    if careful and not there(s.target):
        raise NoStep("its target must be left alone where the condition does not hold, and need not be there at all")
    body = _one_name(s, body)
    work = _Lowering(scop, s, own, side, there, free, kind, frozenset(always(body)))
    lane = work.value(body)
    elem, lane = _narrow(scop, s, target, kind, lane, work)
    return ProductStep(elem, lane, tuple(work.left), tuple(work.right), tuple(work.consts), careful)


def _one_name(s: Statement, e: Expr) -> Expr:
    """The same expression with one access number for all reads of the same element."""
    if isinstance(e, Ref):
        mine = s.accesses[e.access]
        return Ref(next(k for k, a in enumerate(s.accesses) if not a.write and _same(a, mine)))
    if isinstance(e, (Unary, Cast)):
        return replace(e, arg=_one_name(s, e.arg))
    if isinstance(e, Binary):
        return Binary(e.op, _one_name(s, e.left), _one_name(s, e.right))
    if isinstance(e, Ternary):
        return Ternary(_one_name(s, e.cond), _one_name(s, e.yes), _one_name(s, e.no))
    return replace(e, args=tuple(_one_name(s, a) for a in e.args)) if isinstance(e, Call) else e


def _same(a: Access, b: Access) -> bool:
    return a is b or ((a.array, a.path) == (b.array, b.path) and bool(a.relation.is_equal(b.relation)))


def _narrow(scop: Scop, s: Statement, target: CType, kind: CType, lane: Lane, work: "_Lowering") -> tuple[str, Lane]:
    """Integers narrower than int: compute in the narrow type where that cannot show, else cut every result."""
    wide, narrow = element_name(kind), element_name(target)
    assert wide is not None and narrow is not None
    if kind.kind == "float" or target.bits >= kind.bits:
        return (narrow if target.bits == kind.bits and kind.kind == "int" and _signless(lane) else wide), lane
    if _cut(lane, lambda x: _holds(scop, s, target, work, x)):
        return narrow, lane
    if target.bits > 16:
        raise NoStep(f"it computes in {kind.shown} but stores {target.shown} at every step")
    wrap = f"wrap{'' if target.signed else 'u'}{target.bits}"
    return wide, Lane(wrap, (lane,))


def _cut(x: Lane, holds: Callable[[Lane], bool]) -> bool:
    """Are the low bits of the result those that the same step on low bits gives?"""
    if x.op in _RINGS:
        return all(_cut(y, holds) for y in x.args)
    if x.op == "select":
        return _whole(x.args[0], holds) and all(_cut(y, holds) for y in x.args[1:])
    return not x.args or _whole(x, holds)


def _whole(x: Lane, holds: Callable[[Lane], bool]) -> bool:
    """Has nothing been cut off: do comparisons of low bits see the values themselves?"""
    if x.op in _BOUNDED or x.op in _TRUTH or x.op == "select":
        return all(_whole(y, holds) for y in x.args)
    return not x.args and holds(x)


def _holds(scop: Scop, s: Statement, target: CType, work: "_Lowering", leaf: Lane) -> bool:
    """Does an element of the target hold every value of the operand?"""
    if leaf.op == "acc":
        return True
    e = {"a": work.left, "b": work.right, "const": work.consts}[leaf.op][leaf.index]
    if isinstance(e, Lit) and e.text.isdigit():
        return int(e.text, 8 if e.text.startswith("0") else 10) <= target.range()[1]
    return type_of(scop, s, e) == target


def _signless(lane: Lane) -> bool:
    """Do signed and unsigned give the same bits?"""
    return {x.op for x in walk_lanes(lane)} <= _NARROWABLE


@mutable
class _Lowering:
    """Collects operands while it converts. All lanes compute in type `kind`."""

    scop: Scop
    s: Statement
    own: int
    side: Callable[[Expr], str]
    there: Callable[[int], bool]
    free: bool
    kind: CType
    sure: frozenset[Expr]  # what the statement evaluates in any case
    maybe: int = 0  # conditions around the present part
    left: list[Expr] = field(default_factory=list)
    right: list[Expr] = field(default_factory=list)
    consts: list[Expr] = field(default_factory=list)

    def value(self, e: Expr) -> Lane:
        """`e` as a lane of the working type."""
        if e == Ref(self.own):
            return ACC
        where = self._side(e)
        if where:
            return self._leaf(e, where)
        if isinstance(e, Cast) and e.ctype is not None and self._holds(e.arg, e.ctype):
            return self.value(e.arg)
        self._fits(e)
        if isinstance(e, Cast):
            return self.value(e.arg)
        if isinstance(e, Unary) and e.op in ("-", "+", "~"):
            inner = self.value(e.arg)
            return inner if e.op == "+" else Lane("neg" if e.op == "-" else "not", (inner,))
        if isinstance(e, Binary):
            return self._binary(e)
        if isinstance(e, Ternary):
            return self._ternary(e)
        if isinstance(e, Call) and e.name in _CALLS and len(e.args) == 2:
            op = _CALLS[e.name]
            return Lane(f"any{op[1:]}" if self.free else op, (self.value(e.args[0]), self.value(e.args[1])))
        raise NoStep(f"`{_words(e)}` joins both operands and has no vector form")

    def _side(self, e: Expr) -> str:
        return "" if any(x == Ref(self.own) for x in walk(e)) else self.side(e)

    def _leaf(self, e: Expr, where: str) -> Lane:
        t = type_of(self.scop, self.s, e)
        if t is None:
            raise NoStep("the type of an operand is not known")
        if t.kind == "float" and (self.kind.kind != "float" or t.bits > self.kind.bits):
            raise NoStep(f"an operand is {t.shown}, wider than the {self.kind.shown} it is computed in")
        if t.is_int and self.kind.is_int and t.bits > self.kind.bits:
            raise NoStep(f"an operand is {t.shown}, wider than the {self.kind.shown} it is computed in")
        if self.maybe and e not in self.sure and not self._harmless(e):
            raise NoStep("an operand is computed only under a condition")
        into = {"a": self.left, "b": self.right, "const": self.consts}[where]
        if e not in into:
            into.append(e)
        return Lane(where, (), into.index(e))

    def _harmless(self, e: Expr) -> bool:
        """Can it be evaluated although the source does not? Integers may overflow, or be divided by zero."""
        if isinstance(e, Ref):
            return e in self.sure or self.there(e.access)
        if isinstance(e, Sym):
            return e.text.isidentifier()
        t = type_of(self.scop, self.s, e)
        plain = isinstance(e, (Lit, Affine)) or (t is not None and t.kind == "float")
        return plain and all(self._harmless(x) for x in children(e))

    def _fits(self, e: Expr) -> None:
        """Interior arithmetic must happen in the working type, or in one where widening cannot show."""
        t = type_of(self.scop, self.s, e)
        if t is None:
            raise NoStep("a part of it has an unknown type")
        if t.kind != self.kind.kind and not _is_truth(e):
            raise NoStep(f"a part of it is computed in {t.shown}, not {self.kind.shown}")
        if t.kind == "float" and t.bits != self.kind.bits:
            raise NoStep(f"a part of it is computed in {t.shown}, not {self.kind.shown}")
        if t.is_int and t.bits < self.kind.bits and not t.signed:
            raise NoStep(f"a part of it wraps around in {t.shown}")
        if t.is_int and t.bits == self.kind.bits and t.signed != self.kind.signed and not _is_truth(e):
            raise NoStep(f"a part of it is computed in {t.shown}, not {self.kind.shown}")
        if isinstance(e, Cast) and t.is_int and (t.bits < 32 or self._cuts(e, t)):
            raise NoStep(f"it is cut to {t.shown} in between")

    def _holds(self, e: Expr, t: CType) -> bool:
        """Whether a conversion to the integer type `t` changes nothing: bits of its elements, and one of several."""
        if isinstance(e, Binary) and e.op in _BITS:
            return self._holds(e.left, t) and self._holds(e.right, t)
        if isinstance(e, Ternary):
            return self._holds(e.yes, t) and self._holds(e.no, t)
        own = self.scop.arrays[self.s.accesses[e.access].array].elem if isinstance(e, Ref) else None
        return own is not None and t.is_int and (own.kind, own.bits, own.signed) == (t.kind, t.bits, t.signed)

    def _cuts(self, e: Cast, t: CType) -> bool:
        """Does the cast drop bits that the working type would keep?"""
        inner = type_of(self.scop, self.s, e.arg)
        return t.bits < self.kind.bits and (inner is None or inner.bits > t.bits)

    def _binary(self, e: Binary) -> Lane:
        if e.op in _COMPARE or e.op in ("&&", "||"):
            return Lane("select", (self.mask(e), self._number("1"), self._number("0")))
        if e.op in _RING:
            return _arranged(_RING[e.op], self.value(e.left), self.value(e.right))
        if e.op in _BITS and self.kind.is_int:
            return Lane(_BITS[e.op], (self.value(e.left), self.value(e.right)))
        if e.op == "/" and self.kind.kind == "float":
            return Lane("div", (self.value(e.left), self.value(e.right)))
        raise NoStep(f"operator `{e.op}` on {self.kind.shown} between the operands has no vector form")

    def _number(self, text: str) -> Lane:
        lit = Lit(text)
        if lit not in self.consts:
            self.consts.append(lit)
        return Lane("const", (), self.consts.index(lit))

    def mask(self, e: Expr) -> Lane:
        """The truth of `e` in every lane."""
        if isinstance(e, Binary) and e.op in _COMPARE:
            t = type_of(self.scop, self.s, Binary("+", e.left, e.right))
            if t is None or t.kind != self.kind.kind or t.bits > self.kind.bits:
                raise NoStep("a comparison is made in another type")
            if t.is_int and t.signed != self.kind.signed:
                raise NoStep("a comparison mixes signed and unsigned")
            if t.bits < self.kind.bits and not all(self._kept(x, t) for x in (e.left, e.right)):
                raise NoStep("a comparison is made in another type")
            return Lane(_COMPARE[e.op], (self.value(e.left), self.value(e.right)))
        if isinstance(e, Binary) and e.op in ("&&", "||"):
            left = self.mask(e.left)
            with self._perhaps():
                return Lane("mand" if e.op == "&&" else "mor", (left, self.mask(e.right)))
        if isinstance(e, Unary) and e.op == "!":
            return Lane("mnot", (self.mask(e.arg),))
        t = type_of(self.scop, self.s, e)
        if t is None or t.bits > self.kind.bits:
            raise NoStep("a comparison is made in another type")
        return Lane("ne", (self.value(e), self._number("0")))

    def _kept(self, e: Expr, t: CType) -> bool:
        """Is a conversion to `t` on the way to the working type the same as none?"""
        own = type_of(self.scop, self.s, e)
        return own is not None and own.kind == t.kind and (t.signed or not own.signed)

    @contextmanager
    def _perhaps(self) -> Iterator[None]:
        """What comes next is evaluated only under a condition."""
        self.maybe += 1
        yield
        self.maybe -= 1

    def _ternary(self, e: Ternary) -> Lane:
        cond = e.cond
        if isinstance(cond, Binary) and cond.op in ("<", ">", "<=", ">=") and cond.left != cond.right:
            strict = cond.op in ("<", ">") or self.kind.is_int or self.free
            pair = (cond.left, cond.right)
            if strict and (e.yes, e.no) in (pair, pair[::-1]):
                self.mask(cond)  # for its checks of types
                small = (cond.op[0] == "<") == (e.yes == cond.left)
                op = ("min" if small else "max") if not (self.free and self.kind.kind == "float") else ""
                args = (self.value(e.yes), self.value(e.no))
                return Lane(op or ("anymin" if small else "anymax"), args)
        mask = self.mask(cond)
        with self._perhaps():
            return Lane("select", (mask, self.value(e.yes), self.value(e.no)))


def _arranged(op: str, x: Lane, y: Lane) -> Lane:
    """Sums and products with their operands in one order, so that a*b and b*a share a kernel."""
    rank = {"acc": 0, "a": 1, "b": 2, "const": 3}
    if op in ("add", "mul") and (rank.get(y.op, 4), y.index) < (rank.get(x.op, 4), x.index):
        return Lane(op, (y, x))
    return Lane(op, (x, y))


def _is_truth(e: Expr) -> bool:
    return isinstance(e, Binary) and (e.op in _COMPARE or e.op in ("&&", "||"))


def _words(e: Expr) -> str:
    return e.name if isinstance(e, Call) else type(e).__name__.lower()
