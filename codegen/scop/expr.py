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
    """`place op value` where data decide about the place, or in a `DataLoop`, perhaps to a variable of that.

    In the model the target as a whole takes a new value; in memory one element of it does."""

    place: Expr
    op: str
    value: Expr


@record
class DataBlock:
    """Statements of a `DataLoop`."""

    items: tuple[Expr, ...]


@record
class Declare:
    """A variable of a `DataLoop`, which `Sym` names."""

    name: str
    ctype: CType
    value: Expr | None


@record
class Jump:
    """`break` or `continue` in a `DataLoop`."""

    word: str


@record
class DataLoop:
    """A loop of which data decide how often it runs, as what a statement does: `Store` is all that it changes."""

    counter: str
    ctype: CType
    first: Expr
    cond: Expr
    step: int
    body: Expr


Expr = Union[
    Lit, Sym, Ref, Affine, Unary, Binary, Ternary, Call, Cast, Gather, Store, DataBlock, Declare, Jump, DataLoop
]


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
    if isinstance(e, DataBlock):
        return e.items
    if isinstance(e, Declare):
        return () if e.value is None else (e.value,)
    if isinstance(e, DataLoop):
        return (e.first, e.cond, e.body)
    return ()


def sure_parts(e: Expr) -> tuple[Expr, ...]:
    """Those of its direct sub-expressions that are evaluated whenever it is."""
    parts = children(e)
    if isinstance(e, Ternary) or (isinstance(e, Binary) and e.op in ("&&", "||")):
        return parts[:1]
    return parts[:2] if isinstance(e, DataLoop) else parts


def may_skip(e: Expr) -> bool:
    """May a statement that does this leave its target alone?"""
    if isinstance(e, DataBlock):  # unless it begins by setting it
        return not any(isinstance(x, Store) and x.op == "=" and isinstance(x.place, Ref) for x in e.items)
    return isinstance(e, DataLoop) or (isinstance(e, Ternary) and e.branch)


def is_code(e: Expr) -> bool:
    """Does it store by itself, so that it is no value?"""
    return any(isinstance(x, (Store, DataLoop)) for x in walk(e))


def walk(e: Expr) -> Iterator[Expr]:
    """The expression and everything below it, parents first."""
    todo = [e]
    while todo:
        e = todo.pop()
        yield e
        todo += reversed(children(e))


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
        return Store(change(e.place), e.op, change(e.value))
    if isinstance(e, DataBlock):
        return DataBlock(tuple(map(change, e.items)))
    if isinstance(e, Declare):
        return replace(e, value=None if e.value is None else change(e.value))
    if isinstance(e, DataLoop):
        return replace(e, first=change(e.first), cond=change(e.cond), body=change(e.body))
    return e


def with_leaves(e: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The expression with other leaves in it."""
    return with_parts(e, lambda x: with_leaves(x, change)) if children(e) else change(e)
