"""Symbolic vectors of a contraction kernel, lane by lane: elements of operands, partial sums, and padding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Union

from codegen.isa.model import Isa
from codegen.verify.text.lanes import LaneReader, literal
from codegen.verify.text.nest.packs import OperandElement
from codegen.verify.text.poly import Poly
from codegen.verify.text.read import Node, Unread


class PartialSum(NamedTuple):
    """An element of C, by its offset, with the steps that were taken up to a certain one."""

    at: Poly
    version: int


class Factors(NamedTuple):
    left: OperandElement
    right: OperandElement


class Next(NamedTuple):
    """A sum and the product that is added to it."""

    sum: PartialSum
    factors: Factors


class Idle(NamedTuple):
    """A lane that no element belongs to."""


IDLE = Idle()
LaneOf = Union[OperandElement, PartialSum, Factors, Next, Idle]
Vector = tuple[LaneOf, ...]


class NestReader(LaneReader[Vector]):
    """Vector expressions; `name`, `load` and `scalar` know variables and memory."""

    def __init__(
        self, isa: Isa, elem: str, name: Callable[[str], Vector | None], load: Callable[[Node], Vector | None],
        scalar: Callable[[Node], LaneOf | None],
    ) -> None:  # fmt: skip
        super().__init__(isa, elem)
        self.lanes = isa.lanes_max(elem)
        self.name, self.load, self.scalar = name, load, scalar

    def named(self, name: str) -> Vector | None:
        return self.name(name)

    def loaded(self, address: Node, group: bool) -> Vector | None:
        return None if group else self.load(address)

    def spread(self, node: Node) -> Vector | None:
        if literal(node) == "0":
            return (IDLE,) * self.lanes
        one = self.scalar(node)
        return None if one is None else (one,) * self.lanes

    def lane(self, group: Vector, number: int) -> Vector | None:
        return None

    def operation(self, op: str, args: Sequence[Vector]) -> Vector | None:
        return tuple(_lane(op, lane) for lane in zip(*args, strict=True))


def _lane(op: str, args: Sequence[LaneOf]) -> LaneOf:
    """The only operation: a product is added to a sum. What is idle stays so."""
    if op == "fma" and len(args) == 3:
        return _lane("add", (args[0], _lane("mul", args[1:])))
    if len(args) != 2:
        raise Unread(f"an operation {op}")
    x, y = args
    if op == "mul":
        return Factors(x, y) if isinstance(x, OperandElement) and isinstance(y, OperandElement) else IDLE
    if op == "add" and isinstance(x, PartialSum) and isinstance(y, Factors):
        return Next(x, y)
    if op == "add" and x == IDLE:
        return IDLE
    raise Unread(f"an operation {op} on something else")
