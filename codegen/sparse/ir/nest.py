"""Loop nests of the sparse IR, the domains of steps: loops, names, conditions and counters from the outside in. Also
the kinds of arrays."""
from __future__ import annotations

from typing import Union

from codegen.record import record
from codegen.sparse.algebra.expr import Exp
from codegen.sparse.algebra.relation import Constraint

INDEX, VALUE, WIDE, FLAG = "index", "value", "wide", "flag"
RECORD = "record"  # and a number: so many indices x0, x1, ... and a value v; a field of array a is called "a[].x0"


@record
class For:
    """low <= var < high, ascending."""

    var: str
    low: Exp
    high: Exp


@record
class Let:
    """A name for a value."""

    var: str
    value: Exp
    kind: str = WIDE


@record
class Guard:
    """Only where every condition holds; `nonzero` is a value that must differ from 0."""

    cons: tuple[Constraint, ...]
    nonzero: Exp | None = None


@record
class Tick:
    """`var` counts the iterations that get here, from 0."""

    var: str


Level = Union[For, Let, Guard, Tick]
Nest = tuple[Level, ...]
