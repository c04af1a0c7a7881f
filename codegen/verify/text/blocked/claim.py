"""What a blocked product has to do, for the proof of its text: the elements and values of the statement that it carries
out, as C text in the names tw_I (row), tw_J (column) and tw_K (depth), and the layouts of its buffers and kernels."""

from __future__ import annotations

from codegen.record import record
from codegen.verify.text.kernel import Layout
from codegen.verify.text.poly import Poly
from codegen.verify.text.read import Node


@record
class Side:
    """A packed operand: slivers of `width` rows or columns, for each depth `values` of each, each of them `copies`
    times. `row` is the name of its coordinate in the values' texts."""

    area: str
    row: str
    width: Poly
    values: tuple[Node, ...]
    copies: int

    @property
    def each(self) -> int:
        """Elements for one row or column and one depth."""
        return len(self.values) * self.copies

    @property
    def unit(self) -> Poly:
        """Elements of one depth of a sliver."""
        return self.width * self.each


@record
class Claim:
    left: Side
    right: Side
    target: Node
    consts: tuple[Node, ...]
    first: tuple[Node, Node, Node]  # of rows, columns and depth
    past: tuple[Node, Node, Node]
    kernels: dict[str, Layout]
    rounds: int  # steps of a kernel for each depth
    corners: tuple[Node, ...]  # what must not be negative for a point to belong
    step: Node  # what a step computes, in tw_acc, tw_A0, ..., tw_B0, ... and constants
    elem: str  # the C type that it is computed in
    packed: str  # C type of packed operands
    careful: bool
    names: dict[str, str]  # of the coordinates i, j and k in the text
    longest: Poly  # columns of a tile, at most
