"""Records that the walk over a region produces (raw statements, accesses, loops, local variables), before subscripts
become access relations.

Subscripts wait because flat arrays can only be given dimensions once every access to them has been seen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Union

import islpy as isl
from pycparser import c_ast

from codegen.diagnostics import Loc
from codegen.frontend.context.frame import Frame
from codegen.frontend.syntax.declarators import Declarator
from codegen.record import record
from codegen.scop.expr import Expr
from codegen.scop.types import CType


@record
class RawStep:
    """kind: sub (with its C expression), deref, member or arrow (with the member's name)."""

    kind: str
    node: c_ast.Node | None = None
    member: str = ""
    declarator: Declarator | None = None  # what a sub or deref steps through
    row: bool = False  # a pointer led to this row: the index must be shown to stay in it
    shared: bool = False  # the member shares its storage with its siblings
    fills: bool = False  # a store to the member leaves nothing of what its siblings were
    alike: tuple[int, int] = (0, 0)  # a member's place, and how many there are, if all are numbers of one type


@record
class RawAccess:
    base: str  # the variable, or the model name of one declared inside
    inside: bool
    steps: tuple[RawStep, ...]
    write: bool
    elem: CType
    loc: Loc
    where: isl.Set | None = None  # the part of the statement's domain in which it happens; None: everywhere
    sure: bool = True  # it happens everywhere there, whatever the data are
    opaque: bool = False  # data decide about its subscripts

    def within(self, frame: Frame) -> Frame:
        """Where it happens, in the frame of its statement."""
        frame = frame if self.where is None else frame.restrict(self.where)
        return frame if self.sure else replace(frame, sure=False)

    @property
    def entire(self) -> bool:
        """Is it all of the object in front of its first member that is read or set?"""
        first = next((k for k, s in enumerate(self.steps) if s.member), len(self.steps))
        later = self.steps[first + 1 :]
        return all(s.fills for s in self.steps[first:]) and all(s.kind == "member" for s in later)


@record
class RawStatement:
    frame: Frame
    op: str
    target: int
    rhs: Expr
    accesses: tuple[RawAccess, ...]
    values: tuple[isl.PwAff, ...]
    loc: Loc
    source: str


@record
class RawLoop:
    name: str
    pos: int
    sign: int
    children: tuple[RawNode, ...]


RawNode = Union[RawLoop, int]  # an int is the number of a statement


@record
class InsideVar:
    """A variable declared inside the region."""

    name: str
    base: str
    elem: CType
    extents: tuple[str, ...]
    scope: int
    loc: Loc
    nameless: bool = False  # of a struct or union that is defined in the declaration
