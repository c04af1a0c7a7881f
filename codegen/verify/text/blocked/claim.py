"""Records of the claim that is proven of a blocked product's text: elements and values of its statement, as C text in
the names tw_I (row), tw_J (column) and tw_K (depth), and the layouts of its buffers and kernels."""

from __future__ import annotations

from codegen.record import record
from codegen.verify.poly import Poly
from codegen.verify.text.layout import KernelLayout
from codegen.verify.text.read import Node, ParsedFunction


@record
class PackedOperand:
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
class TableClaim:
    """Offsets of an element along a coordinate, from the place of `origin`, whose address is `base`. The element is in
    the values tw_D0, tw_D1, ... of the coordinate's loops, each from one value up to before another."""

    base: str
    elem: str
    of: str
    loops: tuple[tuple[Node, Node], ...]
    size: Node  # of the table
    element: Node
    origin: Node


@record
class Claim:
    left: PackedOperand
    right: PackedOperand
    target: Node
    consts: tuple[Node, ...]
    first: tuple[Node, Node, Node]  # of rows, columns and depth
    past: tuple[Node, Node, Node]
    kernels: dict[str, KernelLayout]
    rounds: int  # steps of a kernel for each depth
    corners: tuple[Node, ...]  # what must not be negative for a point to belong
    step: Node  # what a step computes, in tw_acc, tw_A0, ..., tw_B0, ... and constants
    elem: str  # the C type that it is computed in
    packed: str  # C type of packed operands
    careful: bool
    names: dict[str, str]  # of the coordinates i, j and k in the text
    longest: Poly  # columns of a tile, at most
    tables: dict[str, TableClaim]
    digits: dict[str, int]  # how many loops make a coordinate, where they are several
    target_base: str  # what tables of the target begin with
    choices: dict[str, ParsedFunction]  # functions that choose among kernels
    few: tuple[int | None, int | None]  # rows and columns there are at most, where isl says that tiles are never full
    in_lines: bool  # the left operand is an element whose depths are neighbours in memory and rows at an equal distance
    elements: dict[str, str]  # of operands "left" and "right" that are elements of the packed type: that type, else ""
    same: str  # the target's type as it was declared, where only elements that change are stored

    @property
    def left_may_stay(self) -> bool:
        """Whether kernels may read the left operand where it lies: rows and depth are one loop each (the columns may be
        several, which do not move it), and a kernel takes one value of a row at each depth."""
        return self.in_lines and self.rounds == 1 and self.digits.keys().isdisjoint("ik")

    @property
    def bases(self) -> dict[str, str]:
        """Addresses that tables begin with, and the type of elements there."""
        return {t.base: t.elem for t in self.tables.values()}
