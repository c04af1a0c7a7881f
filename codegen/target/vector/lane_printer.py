"""Prints a statement for all lanes of a vector: its loads, expressions and stores as operations on the compiler's
vector types (`tw_f64x2u`).

C computes only the side of a choice that it takes. Vectors compute both, and integers that nobody asked for may
overflow; so those sides are computed without a sign, where every result is defined and has the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codegen.ast.ctree import Bin, Instance, Int
from codegen.ast.lowered import Backwards, ByWidth, Each, Index, InVariable, Lanes, One, Picked, Place, Until, Work
from codegen.lower.shift import simple
from codegen.recognize.access.ctypes import type_of
from codegen.recognize.lanes import same
from codegen.record import record
from codegen.scop.expr import Binary, Call, Cast, Expr, Lit, Ref, Ternary, Unary
from codegen.scop.model import Statement
from codegen.target.text.body import ATOM, LEVEL, UNARY, BodyPrinter

_TWO = frozenset({"2", "2.", "2.0", "2.f", "2.0f", "2.F", "2.0F"})


def vector_type(lanes: Lanes) -> str:
    """With the u of vectors at any address; the tables of instruction sets have some without. Those of any width are
    all at any address."""
    return f"tw_{lanes.kind}v" if lanes.wider else f"tw_{lanes.kind}x{lanes.count}u"


def count_text(lanes: Lanes | None, count: int, more: int = 0) -> str:
    """A number of iterations, and `more`: with the macro that has the lanes, where the text is for several widths."""
    if lanes is None or not lanes.wider or count % lanes.count:
        return str(count + more)
    vectors = count // lanes.count
    times = lanes.macro if vectors == 1 else f"{vectors} * {lanes.macro}"
    return f"{times} {'+' if more > 0 else '-'} {abs(more)}" if more else times


def bytes_text(lanes: Lanes | None, until: Until) -> str:
    """The bytes that vectors begin at multiples of."""
    return "TW_VECTOR_BYTES" if lanes is not None and lanes.wider else str(until.bytes)


def by_width_test(x: ByWidth) -> str:
    """When vectors are longer than the shortest ones."""
    assert x.wide.lanes is not None and x.narrow.lanes is not None
    return f"{x.wide.lanes.macro} > {x.narrow.lanes.count}"


def _scalar_type(lanes: Lanes) -> str:
    """A type to which values are converted that all lanes share."""
    if not lanes.elem.is_int:
        return lanes.elem.spelling
    return ("" if lanes.elem.signed else "unsigned ") + ("int" if lanes.elem.bits == 32 else "long int")


@record
class LanePrinter(BodyPrinter):
    """Prints the work of a statement for all elements of a vector: each access is found at its place. Variables go by
    the names that `names` has for them."""

    lanes: Lanes
    names: Mapping[str, str]
    work: Work
    cast: str = ""  # in front of variables
    sure: bool = True  # whether the source computes the same in every iteration

    @property
    def type(self) -> str:
        return vector_type(self.lanes)

    def parts(self, s: Statement, at: Instance) -> tuple[str, str]:
        target = self.access(s, at, s.target)
        if s.op == "=":
            return self.whole(s.rhs, s, at), target
        return f"{target} {s.op[:-1]} ({self._side(s.rhs, s, at, 1)})", target

    def access(self, s: Statement, at: Instance, number: int) -> str:
        return self.at_place(s, number, self.work.places[number])

    def at_place(self, s: Statement, number: int, place: Place) -> str:
        """What lies at a place, as a vector, or as one value for all lanes."""
        if isinstance(place, InVariable):
            return self.cast + self.names[place.name]
        if isinstance(place, One):
            return self._element(s, number, place.at)
        if isinstance(place, Each):
            return f"({self.type}){{{', '.join(self._element(s, number, x) for x in place.at)}}}"
        if isinstance(place, Picked):
            two = (self._vector(s, number, x) for x in place.at)
            return f"{self.helper('at_' + '_'.join(map(str, place.places)))}({', '.join(two)})"
        text = self._vector(s, number, place.at)
        return f"{self.helper('turned')}({text})" if isinstance(place, Backwards) else text

    def _vector(self, s: Statement, number: int, index: Index) -> str:
        return f"{self.type.upper()}({self._element(s, number, index)})"

    def _element(self, s: Statement, number: int, index: Index) -> str:
        return BodyPrinter.access(self, s, Instance(s.name, (), (index,) * (number + 1), ()), number)

    def put(self, s: Statement, at: Instance, value: str) -> tuple[str, ...]:
        place = self.work.places[s.target]
        if not isinstance(place, Each):
            return super().put(s, at, value)
        return tuple(f"{self._element(s, s.target, x)} = {value}[{k}];" for k, x in enumerate(place.at))

    def put_both(self, s: Statement, values: tuple[str, str]) -> tuple[str, ...]:
        """Statements that store two vectors, an element of each in turn, from the target of the first one on."""
        self.helper("low")
        row = self.work.at.accesses[s.target]
        beyond = (*row[:-1], simple(Bin("+", row[-1], Int(self.lanes.count))))
        places = (self._vector(s, s.target, x) for x in (row, beyond))
        halves = (f"{self.type}_{half}({', '.join(values)})" for half in ("low", "high"))
        return tuple(f"{place} = {half};" for place, half in zip(places, halves, strict=True))

    def _stays(self, e: Expr) -> bool:
        """Is it one value for all lanes?"""
        if isinstance(e, Ref):
            return isinstance(self.work.places[e.access], One)
        if isinstance(e, (Unary, Cast)):
            return self._stays(e.arg)
        if isinstance(e, Binary):
            return self._stays(e.left) and self._stays(e.right)
        return not isinstance(e, (Call, Ternary))

    def helper(self, what: str) -> str:
        """A macro on these vectors, which will be defined."""
        name = f"{self.type}_{what}"
        self.ints.helpers.add(name)
        return name

    def _side(self, e: Expr, s: Statement, at: Instance, level: int) -> str:
        """An operand; what stays is converted to the element type, as C would do beside a moving one."""
        if not self._stays(e):
            return super()._text(e, s, at, level)
        kind = type_of(self.scop, s, e)
        if kind is not None and same(kind, self.lanes.elem) and (kind.kind == "float" or kind.bits == 32):
            return super()._text(e, s, at, level)
        # To the very type of the vectors, in 64 bits: `long long` beside vectors of `long` would be refused.
        return f"({_scalar_type(self.lanes)}){super()._text(e, s, at, 13)}"

    def _print(self, e: Expr, s: Statement, at: Instance) -> tuple[str, int]:
        if self._stays(e):
            return super()._print(e, s, at)
        if isinstance(e, Cast):
            return self._print(e.arg, s, at)
        if isinstance(e, Call):
            text = self.whole(e.args[0], s, at)
            return f"{self.helper('root')}({f'({text})' if '{' in text else text})", ATOM
        if isinstance(e, Ternary):
            perhaps = replace(self, sure=False)
            texts = self._condition(e.cond, s, at, 1), perhaps.whole(e.yes, s, at), perhaps.whole(e.no, s, at)
            # A macro would take the commas between braces for its own.
            return f"{self.helper('chosen')}({', '.join(f'({x})' if '{' in x else x for x in texts)})", ATOM
        if isinstance(e, (Unary, Binary)) and not self.sure and self.lanes.elem.is_int and self.lanes.elem.signed:
            return f"({self.type})({self._unsigned()._print(e, s, at)[0]})", UNARY
        return super()._print(e, s, at)

    def _unsigned(self) -> LanePrinter:
        """Prints the same with vectors of numbers that have no sign."""
        lanes = replace(self.lanes, elem=replace(self.lanes.elem, signed=False))
        self.ints.helpers.add(vector_type(lanes))
        return replace(self, lanes=lanes, cast=f"({vector_type(lanes)})", sure=True)

    def whole(self, e: Expr, s: Statement, at: Instance) -> str:
        """An operand that has to be a vector."""
        if self._stays(e):
            return spread(self.lanes, self._side(e, s, at, 12))
        return self._side(e, s, at, 1)

    def _condition(self, e: Expr, s: Statement, at: Instance, level: int) -> str:
        assert isinstance(e, Binary)
        if e.op in ("&&", "||"):
            left, right = self._condition(e.left, s, at, 14), replace(self, sure=False)._condition(e.right, s, at, 14)
            text = f"{left} {e.op[0]} {right}"
        else:
            text = f"{self._side(e.left, s, at, 11)} {e.op} {self._side(e.right, s, at, 11)}"
        return f"({text})" if level > 1 else text

    def _binary(self, e: Binary, s: Statement, at: Instance) -> tuple[str, int]:
        if self._stays(e):
            return super()._binary(e, s, at)
        twice = _doubled(e)
        if twice is not None:  # exact either way, and shared by all who use it; a product would be contracted for each
            text = self._side(twice, s, at, 12)
            return f"{text} + {text}", 11
        level = LEVEL[e.op]
        plain = level if level > 10 else 12  # compilers ask to see mixtures with others parenthesised
        left, right = self._side(e.left, s, at, plain), self._side(e.right, s, at, plain + 1)
        return f"{left} {e.op} {right}", level


def spread(lanes: Lanes, text: str) -> str:
    """A value in every lane. Subtracting zero changes none, not even -0.0."""
    return f"{text} - ({vector_type(lanes)}){{0}}"


def _doubled(e: Binary) -> Ref | None:
    """The element of which the expression is the double."""
    if e.op == "*":
        for one, other in ((e.left, e.right), (e.right, e.left)):
            if isinstance(one, Lit) and one.text in _TWO and isinstance(other, Ref):
                return other
    return None
