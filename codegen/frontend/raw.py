"""What the walk over the region leaves behind: statements whose subscripts are not yet modelled.

Subscripts wait because flat arrays can only be given dimensions once every access to them has been seen.
"""

from __future__ import annotations

from typing import Union

import islpy as isl
from pycparser import c_ast

from codegen.diagnostics import Loc
from codegen.frontend.frame import Frame
from codegen.frontend.layers import Layer
from codegen.record import record
from codegen.scop.expr import Expr
from codegen.scop.types import CType


@record
class RawStep:
    """kind: sub (with its C expression), deref, member or arrow (with the member's name)."""

    kind: str
    node: c_ast.Node | None = None
    member: str = ""
    layer: Layer | None = None  # what a sub or deref steps through
    union: bool = False  # the member shares its storage with its siblings
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
