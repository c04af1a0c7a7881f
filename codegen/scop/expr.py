"""Statement bodies: pure C expressions whose leaves are array accesses, affine values and symbols.

A body is kept as the user wrote it. Only its leaves change when loops move: an `Ref` is printed with new
subscripts and an `Affine` with the new spelling of the same integer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Union

from codegen.record import record
from codegen.scop.types import CType


@record
class Lit:
    """A literal, spelled as in the source."""

    text: str


@record
class Sym:
    """A value that the region never writes, spelled as in the source (`alpha`, `p->scale`)."""

    text: str
    ctype: CType | None = None


@record
class Ref:
    """The access with this number in its statement's list."""

    access: int


@record
class Affine:
    """The integer with this number in its statement's list of affine values."""

    value: int
    ctype: CType


@record
class Unary:
    op: str
    arg: Expr


@record
class Binary:
    op: str
    left: Expr
    right: Expr


@record
class Ternary:
    """`branch`: an `if` of the source that stays one in print, mostly since it leaves the target alone on some path.

    In the model such a path stores the target's own value; in memory nothing may happen there, since the element
    need not exist, be initialised or be writable, and other threads may own it (`recognize/stores.py`).
    """

    cond: Expr
    yes: Expr
    no: Expr
    branch: bool = False


@record
class Call:
    name: str
    args: tuple[Expr, ...]


@record
class Cast:
    type_text: str
    arg: Expr
    ctype: CType | None = None  # None where the front end did not resolve it


@record
class Gather:
    """The element that an access reaches by subscripts which depend on data: `args` are all of its subscripts.

    In the model the access, of this number in its statement's list, touches everything that they might mean.
    """

    access: int
    args: tuple[Expr, ...]
    ctype: CType


@record
class Store:
    """`place op value` where data decide about the place. In the model the whole target takes a new value; in memory
    one element of it does."""

    place: Gather
    op: str
    value: Expr


Expr = Union[Lit, Sym, Ref, Affine, Unary, Binary, Ternary, Call, Cast, Gather, Store]


def children(e: Expr) -> tuple[Expr, ...]:
    """Direct sub-expressions, left to right."""
    if isinstance(e, (Unary, Cast)):
        return (e.arg,)
    if isinstance(e, Binary):
        return (e.left, e.right)
    if isinstance(e, Ternary):
        return (e.cond, e.yes, e.no)
    if isinstance(e, (Call, Gather)):
        return e.args
    if isinstance(e, Store):
        return (e.place, e.value)
    return ()


def walk(e: Expr) -> Iterator[Expr]:
    """The expression and everything below it, parents first."""
    yield e
    for child in children(e):
        yield from walk(child)


def with_parts(e: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The expression with other direct sub-expressions."""
    if isinstance(e, (Unary, Cast)):
        return replace(e, arg=change(e.arg))
    if isinstance(e, Binary):
        return replace(e, left=change(e.left), right=change(e.right))
    if isinstance(e, Ternary):
        return replace(e, cond=change(e.cond), yes=change(e.yes), no=change(e.no))
    if isinstance(e, (Call, Gather)):
        return replace(e, args=tuple(map(change, e.args)))
    if isinstance(e, Store):
        place = change(e.place)
        assert isinstance(place, Gather)
        return Store(place, e.op, change(e.value))
    return e


def with_leaves(e: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The expression with other leaves in it."""
    return with_parts(e, lambda x: with_leaves(x, change)) if children(e) else change(e)
