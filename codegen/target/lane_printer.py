"""The text of statements for whole vectors.

C computes only the side of a choice that it takes. Vectors compute both, and whole numbers that nobody asked for may
overflow; so those sides are computed without a sign, where every result is defined and has the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from codegen.ast.ctree import Bin, Instance, Int
from codegen.recognize.ctypes import type_of
from codegen.record import record
from codegen.scop.expr import Binary, Cast, Expr, Lit, Ref, Ternary, Unary
from codegen.scop.model import Scop, Statement
from codegen.target.body import ATOM, LEVEL, UNARY, BodyPrinter
from codegen.target.jam import shifted, simple
from codegen.target.lanes import Lanes, same, stays, step_of, strides

_TWO = frozenset({"2", "2.", "2.0", "2.f", "2.0f", "2.F", "2.0F"})


@record
class LanePrinter(BodyPrinter):
    """Prints a statement for all elements of a vector: what moves with the loop `var` is read and written whole, or
    put together where lanes have their elements far apart. What is kept in variables of its own goes by their names."""

    var: str
    lanes: Lanes
    kept: Mapping[str, str] = field(default_factory=dict)  # by the text of an element
    sure: bool = True  # whether the source computes the same in every iteration

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
            return self._far(s, at, number)
        return f"{self.lanes.type.upper()}({text})" if move else text

    def put(self, s: Statement, at: Instance, value: str) -> tuple[str, ...]:
        if not self.apart(s, at):
            return super().put(s, at, value)
        one = super().access
        each = (one(s, shifted(at, self.var, k), s.target) for k in range(self.lanes.count))
        return tuple(f"{text} = {value}[{k}];" for k, text in enumerate(each))

    def put_both(self, s: Statement, at: Instance, values: tuple[str, str]) -> tuple[str, ...]:
        """Statements that store two vectors, an element of each in turn, from the target of the first one on."""
        one, kind = super().access, self.lanes.type
        self.helper("low")
        places = (one(s, _along(at, s.target, k), s.target) for k in (0, self.lanes.count))
        halves = (f"{kind}_{half}({', '.join(values)})" for half in ("low", "high"))
        return tuple(f"{kind.upper()}({place}) = {half};" for place, half in zip(places, halves, strict=True))

    def apart(self, s: Statement, at: Instance) -> bool:
        """Is what a statement stores not a vector in memory?"""
        return strides(s, at, s.target, self.var) != 1

    def pair(self, a: tuple[Statement, Instance], b: tuple[Statement, Instance]) -> tuple[int, int] | None:
        """In which order the elements of two statements, one right after the other, lie in turn, where nothing but that
        is in between, and both may be stored when both are there."""
        (s, at), (q, there) = a, b
        mine, other = s.accesses[s.target], q.accesses[q.target]
        if (mine.array, mine.path) != (other.array, other.path) or s.op != "=" or q.op != "=":
            return None
        if step_of(s, at, s.target, self.var) != 2 or step_of(q, there, q.target, self.var) != 2:
            return None
        if any(x.array == mine.array for x in (*s.reads, *q.reads)):
            return None
        for by, order in ((1, (0, 1)), (-1, (1, 0))):
            if tuple(map(simple, _along(at, s.target, by).accesses[s.target])) == tuple(
                map(simple, there.accesses[q.target])
            ):
                return order
        return None

    def _far(self, s: Statement, at: Instance, number: int) -> str:
        """Elements that are not neighbours: picked out of whole vectors where these hold several, else one by one."""
        step, n = step_of(s, at, number, self.var), self.lanes.count
        one = super().access
        if step is not None and step > 1 and not _is_written(self.scop, s.accesses[number].array):
            found = picks(step, n, _beside(s, at, number) if step == 2 else 0)
            if found is not None:
                two = (f"{self.lanes.type.upper()}({one(s, _along(at, number, k), number)})" for k in found.begins)
                return f"{self.helper('at_' + '_'.join(map(str, found.places)))}({', '.join(two)})"
        far = (one(s, shifted(at, self.var, k), number) for k in range(n))
        return f"({self.lanes.type}){{{', '.join(far)}}}"

    def helper(self, what: str) -> str:
        """A macro on these vectors, which will be defined."""
        name = f"{self.lanes.type}_{what}"
        self.ints.helpers.add(name)
        return name

    def _side(self, e: Expr, s: Statement, at: Instance, level: int) -> str:
        """An operand; what stays is converted to the element type, as C would do beside a moving one."""
        if not stays(s, at, e, self.var):
            return super()._text(e, s, at, level)
        kind = type_of(self.scop, s, e)
        if kind is not None and same(kind, self.lanes.elem) and (kind.kind == "float" or kind.bits == 32):
            return super()._text(e, s, at, level)
        # To the very type of the vectors, in 64 bits: `long long` beside vectors of `long` would be refused.
        return f"({self.lanes.scalar}){super()._text(e, s, at, 13)}"

    def _print(self, e: Expr, s: Statement, at: Instance) -> tuple[str, int]:
        if stays(s, at, e, self.var):
            return super()._print(e, s, at)
        if isinstance(e, Cast):
            return self._print(e.arg, s, at)
        if isinstance(e, Ternary):
            perhaps = replace(self, sure=False)
            texts = self._condition(e.cond, s, at, 1), perhaps.whole(e.yes, s, at), perhaps.whole(e.no, s, at)
            # A macro would take the commas between braces for its own.
            return f"{self.helper('chosen')}({', '.join(f'({x})' if '{' in x else x for x in texts)})", ATOM
        if isinstance(e, (Unary, Binary)) and not self.sure and self.lanes.elem.is_int and self.lanes.elem.signed:
            return f"({self.lanes.type})({self._unsigned()._print(e, s, at)[0]})", UNARY
        return super()._print(e, s, at)

    def _unsigned(self) -> LanePrinter:
        """Prints the same with vectors of numbers that have no sign."""
        lanes = replace(self.lanes, elem=replace(self.lanes.elem, signed=False))
        self.ints.helpers.add(lanes.type)
        kept = {text: f"({lanes.type}){name}" for text, name in self.kept.items()}
        return replace(self, lanes=lanes, kept=kept, sure=True)

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
            left, right = self._condition(e.left, s, at, 14), replace(self, sure=False)._condition(e.right, s, at, 14)
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
        level = LEVEL[e.op]
        plain = level if level > 10 else 12  # compilers ask to see mixtures with others parenthesised
        left, right = self._side(e.left, s, at, plain), self._side(e.right, s, at, plain + 1)
        return f"{left} {e.op} {right}", level


@record
class Picks:
    """Two vectors, by where they begin, and the places of elements in them, counted through."""

    begins: tuple[int, int]
    places: tuple[int, ...]


def picks(step: int, n: int, beside: int) -> Picks | None:
    """How every `step`-th of some elements, `n` in all, are picked out of two vectors that read nothing before the
    first nor behind the last of them; None where one by one is as good. `beside`: whether each one's neighbour behind
    it (1) or before it (-1) is read, too: both then come out of the same vectors. Neoverse N1, of the speed of gcc's
    code: lines in the first cache, every second int 1.7, sums of pairs 1.5, of triples 0.95; from memory 1.0."""
    wanted = [k * step for k in range(n)]
    first, last = (min(0, beside), min(0, beside) + n) if beside else (0, wanted[-1] - n + 1)
    if (n == 2 and not beside) or any(first + n <= k < last for k in wanted):
        return None
    return Picks((first, last), tuple(k - first if k < first + n else k - last + n for k in wanted))


def _along(at: Instance, number: int, by: int) -> Instance:
    """A statement with one of its accesses `by` elements further on in the row."""
    row = at.accesses[number]
    index = (*row[:-1], simple(Bin("+", row[-1], Int(by))) if by else row[-1])
    return replace(at, accesses=(*at.accesses[:number], index, *at.accesses[number + 1 :]))


def _beside(s: Statement, at: Instance, number: int) -> int:
    """Does the statement read the element behind that of an access, too (1), or the one before it (-1)?"""
    mine = s.accesses[number]
    for by in (1, -1):
        index = tuple(map(simple, _along(at, number, by).accesses[number]))
        for a, there in zip(s.accesses, at.accesses, strict=True):
            if (a.array, a.path) == (mine.array, mine.path) and not a.write and tuple(map(simple, there)) == index:
                return by
    return 0


def _is_written(scop: Scop, array: str) -> bool:
    return any(a.write and a.array == array for s in scop.statements for a in s.accesses)


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
