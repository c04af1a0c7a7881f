"""The sparse IR: a computation is a chain of steps, each a loop nest (its domain) around statements, or a step over
whole arrays.

Arrays are named.
Schedules are the places in the chain: step number, then the loops from outside in, then the statement's number.
"""
from __future__ import annotations

from typing import Union

from codegen.record import record
from codegen.sparse.algebra.expr import Exp
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.ir.counting import Count, Distinct, Gather, Max, Number, Prefix, Scatter
from codegen.sparse.ir.nest import INDEX, Nest
from codegen.sparse.ir.sorting import NewList, Radix, SortList, SortSegments
from codegen.sparse.ir.statement import Stmt


@record
class Loop:
    """A nest around statements. `carried`: iterations depend on one another, so the order is kept on one thread; where
    the loop is `grouped` too, only those of one group do.

    `ahead`: the innermost loop stores one value all over its segment, and segments come one after the other; so
    stores may run past a segment's end, since what is there gets its own value later. `grouped`: iterations that store
    to one element agree in this; with `follow` they come one after the other, else only a look at run time can tell.
    """

    nest: Nest
    body: tuple[Stmt, ...]
    note: str
    carried: bool = False
    ahead: bool = False
    grouped: Exp | None = None
    follow: bool = False


@record
class Alloc:
    """A new array of `size` elements. `fill`: None leaves it as it comes, else every element's first value.

    `each`: where several threads work, each needs one of its own.
    """

    array: str
    size: Exp
    kind: str = INDEX
    fill: int | None = None
    each: bool = False


@record
class Free:
    array: str


@record
class Define:
    """A symbol gets its value."""

    name: str
    value: Exp


@record
class Sweep:
    """Repair a monotonic function: array(x + 1) at least (or at most) array(x), x ascending."""

    array: str
    size: Exp
    sign: str


@record
class Copy:
    """size elements from one array to another."""

    target: str
    source: str
    size: Exp


@record
class Require:
    """Give up with a status unless the condition holds."""

    condition: Constraint
    status: str


@record
class Shrink:
    """Give back the memory beyond `size` elements."""

    array: str
    size: Exp
    kind: str = INDEX


@record
class Branch:
    """`then` where the entries already come in the order of `keys`, else `other`."""

    nest: Nest
    keys: tuple[Exp, ...]
    then: tuple["Step", ...]
    other: tuple["Step", ...]
    note: str


@record
class Either:
    """`then` where the condition on sizes holds, else `other`."""

    condition: Constraint
    then: tuple["Step", ...]
    other: tuple["Step", ...]
    note: str


Step = Union[Branch, Either, Loop, Alloc, Free, Define, Count, Distinct, Prefix, Scatter, Sweep, Max, Number,
             Gather, Copy, SortList, NewList, Radix, SortSegments, Require, Shrink]


@record
class Computation:
    """Steps in order. `live`: arrays and symbols that belong to the result; `log`: what was done, for --explain."""

    steps: tuple[Step, ...]
    live: frozenset[str]
    log: tuple[str, ...] = ()
