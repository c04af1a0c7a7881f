"""Parses printed vector code into operations on lanes, by the patterns of an instruction set's table.

The table says what an intrinsic computes; which registers, addresses and lanes a line uses is read from the
line itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Generic, NamedTuple, TypeVar

from codegen.isa.derived import X, derived
from codegen.isa.model import Isa, Vec
from codegen.isa.text import ANEW, BARRIER, HOLD, PREFETCH, PREFETCH_FAR
from codegen.scop.lanes import Lane
from codegen.target.matvec.lines import FETCH
from codegen.verify.poly import ZERO, Poly
from codegen.verify.text.read import Node, Unread, read_expression

COMMUTE = frozenset(("add", "mul", "and", "or", "xor", "mand", "mor"))
_OF_BITS = {"and": "mand", "or": "mor", "not": "mnot"}
_SILENT = {PREFETCH: 3, PREFETCH_FAR: 2, FETCH: 2, ANEW: 1, HOLD: 2}  # with so many arguments
_BARRIER = Node("call", BARRIER.rstrip("();"))
V = TypeVar("V")


class RegisterValue(NamedTuple):
    """What a register holds in every lane: an operation on other values, or a leaf.

    `load` is element `at` + lane of `of`, `dup` element `at` in every lane, `group` what `lane_load` loads from there,
    `scalar` the element alone. `reg` is what a register held when a loop's body began; `const` a parameter, `number` a
    literal (in `at`).
    """

    op: str
    args: tuple[RegisterValue, ...] = ()
    of: str = ""
    at: Poly = ZERO


class Pattern(NamedTuple):
    op: str
    tree: Node
    lanes: bool  # of the operation on half the width


def operation(op: str, args: Sequence[RegisterValue]) -> RegisterValue:
    """An operation in normal form: multiply-adds taken apart, operands of what commutes in one order."""
    op = plain_name(op)
    if op in ("fma", "fms"):
        return operation("add" if op == "fma" else "sub", (args[0], operation("mul", args[1:])))
    return RegisterValue(op, tuple(sorted(args, key=repr)) if op in COMMUTE else tuple(args))


def of_a_step(v: RegisterValue) -> bool:
    """Was it read from an operand?"""
    return v.of in ("a", "b") or any(map(of_a_step, v.args))


def masks_of(m: RegisterValue) -> tuple[RegisterValue, ...]:
    """The masks that one is the union of."""
    return (*masks_of(m.args[0]), *masks_of(m.args[1])) if m.op == "mor" else (m,)


def plain_name(op: str) -> str:
    """Operations on the bits of masks may be printed as those on the bits of numbers are."""
    return _OF_BITS.get(op, op)


def of_lane(e: Lane, elem: str, leaf: Callable[[Lane], V], make: Callable[[str, Sequence[V]], V]) -> V:
    """A step's expression as a value; its numbers are leaves."""
    if not e.args:
        return leaf(e)
    if derived(elem).get(e.op) == X:
        return of_lane(e.args[0], elem, leaf, make)
    return make(e.op, [of_lane(x, elem, leaf, make) for x in e.args])


@cache
def patterns(vec: Vec, types: frozenset[str]) -> Mapping[tuple[str, str], tuple[Pattern, ...]]:
    """The table's patterns by what stands at their root."""
    found: dict[tuple[str, str], tuple[Pattern, ...]] = {}
    for op, text in vec.ops:
        if text.startswith("{{") or op.startswith("long_"):  # those are there under their plain names, too
            continue
        tree = read_any(text.format(*(f"tw_hole{k}" for k in range(4))), types)
        key = (tree.kind, tree.text)
        found[key] = (*found.get(key, ()), Pattern(op.removeprefix("half_"), tree, op.startswith("half_")))
    return found


def read_any(text: str, types: frozenset[str]) -> Node:
    """An expression, or an assignment in parentheses."""
    return read_expression(f"({text})", types)


def match(pattern: Node, node: Node, holes: dict[int, Node]) -> bool:
    """Does the pattern fit? Fills in what stands in its holes."""
    if pattern.kind == "name" and pattern.text.startswith("tw_hole"):
        return holes.setdefault(int(pattern.text[7:]), node) == node
    if pattern.kind != node.kind or pattern.text != node.text or len(pattern.kids) != len(node.kids):
        return False
    return all(match(p, n, holes) for p, n in zip(pattern.kids, node.kids, strict=True))


def vector_types(isa: Isa) -> frozenset[str]:
    """Names of types that printed kernels use."""
    names = {n for v in isa.vecs for n in (v.vector, v.mask, v.half) if n} | {n for n, _ in isa.typedefs}
    sizes = {f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64)}
    return frozenset(names | sizes)


def silent(e: Node, address: Callable[[Node], object], number: Callable[[Node], object]) -> bool:
    """Does it leave all as it is, for the compiler's sake, or ask for a cache line? Then nothing is computed but an
    address, of what `address` and `number` read or raise Unread."""
    if e.kind == "call" and _SILENT.get(e.text) == len(e.kids):
        address(e.kids[0])
        for x in e.kids[1:]:
            number(x)
        return True
    return e == _BARRIER


class LaneReader(ABC, Generic[V]):
    """Values of vector expressions. What a value is, and what names, addresses and scalars are, others say."""

    def __init__(self, isa: Isa, elem: str) -> None:
        self.isa, self.elem = isa, elem
        self.types = vector_types(isa)
        self.table = patterns(isa.vec(elem), self.types)

    @abstractmethod
    def named(self, name: str) -> V | None:
        """What a variable holds."""

    @abstractmethod
    def loaded(self, address: Node, group: bool) -> V | None:
        """A vector from memory, or a register of values for operations that take one lane of it."""

    @abstractmethod
    def spread(self, node: Node) -> V | None:
        """A scalar in every lane."""

    @abstractmethod
    def lane(self, group: V, number: int) -> V | None:
        """One lane of a register in every lane."""

    @abstractmethod
    def operation(self, op: str, args: Sequence[V]) -> V | None:
        """An operation on vectors."""

    def value(self, node: Node) -> V:
        found = self.attempt(node)
        if found is None:
            raise Unread(f"no operation of {self.isa.name} on {self.elem}: {show(node)}")
        return found

    def attempt(self, node: Node) -> V | None:
        if node.kind == "name":
            return self.named(node.text)
        if node.kind == "call" and node.text.startswith(f"{self.isa.prefix}_") and node.text.endswith(f"_{self.elem}"):
            op = node.text[len(self.isa.prefix) + 1 : -len(self.elem) - 1]
            return self._made(op, node.kids)
        for p in self.table.get((node.kind, node.text), ()):
            holes: dict[int, Node] = {}
            if match(p.tree, node, holes):
                made = self._made(p.op, [holes[k] for k in sorted(holes)])
                if made is not None:
                    return made
        return None

    def stored(self, node: Node) -> tuple[Node, Node] | None:
        """Address and value of a store of a vector; None where it is none."""
        for p in self.table.get((node.kind, node.text), ()):
            holes: dict[int, Node] = {}
            if p.op == "store" and match(p.tree, node, holes):
                return holes[0], holes[1]
        return None

    def _made(self, op: str, args: Sequence[Node]) -> V | None:
        if op in ("load", "lane_load"):
            return self.loaded(args[0], op == "lane_load")
        if op == "dup":
            return self.spread(args[0])
        if op.endswith("_lane"):
            last = self._by_lane(*args[-2:])
            return self._join(op.removesuffix("_lane"), [*map(self.attempt, args[:-2]), last])
        if op.endswith("_n"):
            last = self.spread(args[-1])
            return None if last is None else self._join(op.removesuffix("_n"), [*map(self.attempt, args[:-1]), last])
        return self._join(op, [self.attempt(x) for x in args])

    def _by_lane(self, register: Node, lane: Node) -> V | None:
        """A register and the number of one of its lanes."""
        group = self.attempt(register)
        if group is None or lane.kind != "number":
            return None
        limit = self.isa.vec(self.elem).group
        if int(lane.text) >= limit:
            raise Unread(f"lane {lane.text} of {limit}")
        return self.lane(group, int(lane.text))

    def _join(self, op: str, args: Sequence[V | None]) -> V | None:
        known = [x for x in args if x is not None]
        return None if len(known) < len(args) else self.operation(op, known)


class UniformReader(LaneReader[RegisterValue]):
    """Values that are the same in every lane but for the lane's number. `scalar` and `address` read what is no vector,
    and know the names."""

    def __init__(
        self,
        isa: Isa,
        elem: str,
        name: Callable[[str], RegisterValue | None],
        scalar: Callable[[Node], RegisterValue | None],
        address: Callable[[Node], tuple[str, Poly] | None],
    ) -> None:
        super().__init__(isa, elem)
        self.name, self.scalar, self.address = name, scalar, address

    def named(self, name: str) -> RegisterValue | None:
        return self.name(name)

    def loaded(self, address: Node, group: bool) -> RegisterValue | None:
        where = self.address(address)
        return None if where is None else RegisterValue("group" if group else "load", of=where[0], at=where[1])

    def spread(self, node: Node) -> RegisterValue | None:
        number = literal(node)
        if number is not None:
            return RegisterValue("number", of=number)
        one = self.scalar(node)
        return None if one is None else one._replace(op="const" if one.op == "const" else "dup")

    def lane(self, group: RegisterValue, number: int) -> RegisterValue | None:
        loaded = group.op in ("group", "load")
        return RegisterValue("dup", of=group.of, at=group.at + number) if loaded else None

    def operation(self, op: str, args: Sequence[RegisterValue]) -> RegisterValue | None:
        return None if any(x.op in ("scalar", "group") for x in args) else operation(op, args)


def literal(node: Node) -> str | None:
    """A literal number, its sign and its cast left out of account."""
    if node.kind == "cast":
        return literal(node.kids[0])
    if node.kind == "unary" and node.text == "-":
        inner = literal(node.kids[0])
        return None if inner is None else f"-{inner}"
    return node.text if node.kind == "number" else None


def show(node: Node) -> str:
    """A short form for messages."""
    inner = ", ".join(show(k) for k in node.kids)
    return f"{node.text or node.kind}({inner})" if node.kids else node.text or node.kind
