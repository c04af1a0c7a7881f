"""The `View` record that `region.c.j2` prints: one loop, `if`, statement, declaration, block or product of generated
code, as text with nested views. Also the names that views use, and fresh names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from codegen.record import record

if TYPE_CHECKING:
    from codegen.ast.ctree import For
    from codegen.target.matvec.view import MatvecView
    from codegen.target.product.view import NestsView, ProductView


# Where a variable gets a value, at the beginning of a statement.
_SET = re.compile(r"(^|[;{)] |\belse )[A-Za-z_]\w* [-+*/%&|^<>]{0,2}= ")


@record
class View:
    """kind: for, if, stmt, decl, block, product, matvec, nested. The template uses only the fields its kind needs."""

    kind: str
    head: str = ""
    comment: str = ""
    pragma: str = ""
    body: tuple["View", ...] = ()
    orelse: tuple["View", ...] = ()
    product: ProductView | None = None
    variants: tuple[ProductView, ...] = ()  # the product for variants of the machine
    matvec: MatvecView | None = None
    nested: NestsView | None = None
    stmt: str = ""  # the statement that it carries out
    loop: For | None = None  # the loop of the tree that it is


def beside(outer: View, inner: View) -> tuple[tuple[View, ...], tuple[View, ...]]:
    """What stands ahead of a piece and behind it, in the body or the branch of another that it is in."""
    for views in (outer.body, outer.orelse):
        for k, v in enumerate(views):
            if v is inner:
                return views[:k], views[k + 1 :]
    raise ValueError("it is in none of them")


def texts_of(views: Sequence[View]) -> list[str]:
    """Everything that is printed of them, but for comments and templates."""
    out: list[str] = []
    for v in views:
        out += [v.head, v.pragma, *texts_of(v.body), *texts_of(v.orelse)]
    return out


def words_of(views: Sequence[View]) -> set[str]:
    """The names in them."""
    return set(re.findall(r"[A-Za-z_]\w*", " ".join(texts_of(views))))


def reads_of(views: Sequence[View]) -> set[str]:
    """The names in them, but for variables that are only set."""
    texts = (_SET.sub(r"\1", text) for text in texts_of(views))
    return set(re.findall(r"[A-Za-z_]\w*", " ".join(texts)))


def fresh(name: str, taken: frozenset[str], endings: tuple[str, ...] = ()) -> str:
    """`name`, or the first of name2, name3, ... that is not taken, nor is it with one of the endings."""
    number = 1
    while True:
        found = name if number == 1 else f"{name}{number}"
        if taken.isdisjoint({found, *(found + x for x in endings)}):
            return found
        number += 1
