"""Record types of what is read from a kernel's text: generated names, a core's part of a reduction, boxes in local
memory, commands for a later iteration, statements with the box of each access, nests in another order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from codegen.ast.ctree import CExpr, For, Instance
from codegen.verify.cores.memory import BoxCopy, TransferCommand
from codegen.verify.cores.vectors import VectorOrder
from codegen.verify.readback import TreePoint
from codegen.verify.text.read import Node

NEXT = "\0next"  # stands for the next iteration of a loop, in what is fetched for it


class KernelNames(NamedTuple):
    """Names that generated code has of its own, and the cores that run it."""

    args: str
    id: str
    row: str
    column: str
    turn: str
    tile: str
    stays: str
    rows: int
    columns: int
    cached: bool = False  # direct loads and stores go through a data cache of each core

    @property
    def counted(self) -> tuple[str, ...]:
        """What counts tiles."""
        return self.turn, self.tile


class Part(NamedTuple):
    """What a core gathers of a variable that all cores join values to, and the member of the arguments for all
    parts."""

    array: str
    op: str
    member: str


class StagedBoxes(NamedTuple):
    """Boxes in local memory, for an iteration of the loops around."""

    copies: tuple[BoxCopy, ...]
    at: TreePoint


class Fetch(NamedTuple):
    """Commands for an iteration whose value is in NEXT, where a condition holds."""

    cond: Node
    value: CExpr
    commands: Mapping[str, TransferCommand]


class PrintedStatement(NamedTuple):
    """A statement of the tree as the text has it: the boxes around it, and the one in which each access is found."""

    instance: Instance
    at: TreePoint
    stages: tuple[StagedBoxes, ...]
    places: Mapping[int, str]


class ReorderedNest(NamedTuple):
    """A nest of a statement whose iterations come in an order of their own."""

    leaf: PrintedStatement
    loops: tuple[For, ...]
    order: VectorOrder
