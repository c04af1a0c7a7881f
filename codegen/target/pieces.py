"""What views are made of: the view itself, and names that are free."""

from __future__ import annotations

from codegen.record import record
from codegen.target.matvec import MatvecView
from codegen.target.product_view import NestsView, ProductView


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
    matvec: MatvecView | None = None
    nested: NestsView | None = None
    stmt: str = ""  # the statement that it carries out


def fresh(name: str, taken: frozenset[str], endings: tuple[str, ...] = ()) -> str:
    """`name`, or the first of name2, name3, ... that is not taken, nor is it with one of the endings."""
    number = 1
    while True:
        found = name if number == 1 else f"{name}{number}"
        if taken.isdisjoint({found, *(found + x for x in endings)}):
            return found
        number += 1
