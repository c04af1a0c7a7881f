"""Statements of the sparse IR, the bodies of loop nests. An element is a call in an expression, so reads are found in
expressions and writes in statements."""
from __future__ import annotations

from typing import Union

from codegen.record import record
from codegen.sparse.algebra.expr import Exp
from codegen.sparse.ir.nest import Let


@record
class Store:
    """target(index) op value; op is =, +=, min or max. Without an index the target is a variable."""

    target: str
    index: Exp | None
    value: Exp
    op: str = "="


@record
class OnChange:
    """Where one of the keys differs from the one before (and at the start): count `var` on and run the body."""

    var: str
    keys: tuple[Exp, ...]
    body: tuple["Stmt", ...]


@record
class Recall:
    """At each new `key`, table(values(p)) = p for every p of low..high-1; then `var` = table(index).

    `span`: elements of the table.
    """

    var: str
    table: str
    values: str
    key: Exp
    low: Exp
    high: Exp
    index: Exp
    span: Exp


@record
class Insert:
    """Append key words to an ordered list."""

    list: str
    words: tuple[Exp, ...]


@record
class Find:
    """A new name for the position of key words in an ordered list without repeats."""

    var: str
    list: str
    words: tuple[Exp, ...]


@record
class Reject:
    """Give up with DUPLICATE where bit `index` of `seen` is set already; else set it."""

    seen: str
    index: Exp


Stmt = Union[Store, OnChange, Recall, Insert, Find, Reject, Let]
