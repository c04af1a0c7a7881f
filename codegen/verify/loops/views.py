"""Checks the pieces (`View`) of loops that become part of a longer text (MPI, master of Sunway cores): `wrong_views`
compares them with the proven tree, `wrong_text_of` a printed text with them. Each returns the first difference, or the
empty string."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codegen.ast.ctree import CNode
from codegen.scop.model import Scop
from codegen.target.emit import exact_calls
from codegen.target.product.view import ExactCall
from codegen.target.text.pieces import View
from codegen.target.view import reserved
from codegen.verify.loops.cursor import Cursor
from codegen.verify.loops.events import PRODUCT, all_view_events, read_events, view_events
from codegen.verify.loops.products import ProvenProducts, RegionReader, proven_products
from codegen.verify.loops.region import check_views
from codegen.verify.loops.scope import first_place
from codegen.verify.text.read import Unread


def wrong_views(scop: Scop, tree: CNode, views: Sequence[View]) -> str:
    """What is other in views than in the proven tree that they were made of; empty where nothing is."""
    try:
        cursor = Cursor(all_view_events(views), reserved(scop))
        reader = _ViewsReader(cursor, proven_products(views))
        reader.node(tree, first_place(scop, cursor))
        reader.check_all_read()
        if cursor.peek().kind != "end":
            raise Unread(f"`{cursor.peek().text}` stands behind the loops")
        check_views(cursor.log, dict(reader.loops), views)
    except Unread as problem:
        return str(problem)
    return ""


def wrong_text_of(text: str, views: Sequence[View]) -> str:
    """What is other in a part of a printed text than in the views that it was printed from."""
    try:
        cursor = Cursor(read_events(text), ())
        _TextReader(cursor).views(views)
        if cursor.peek().kind != "end":
            raise Unread(f"`{cursor.peek().text}` stands behind it")
    except Unread as problem:
        return str(problem)
    return ""


class _ViewsReader(RegionReader):
    """Reads events of views, in which products are one event and their plain nests."""

    def call_alone(self) -> None:
        self.cursor.expect(PRODUCT.kind)

    def around_plain_nest(self, calls: Sequence[ExactCall], nested: bool, plain: Callable[[], None]) -> None:
        self.cursor.expect(PRODUCT.kind)
        plain()


class _TextReader(RegionReader):
    """Reads a text beside views."""

    def __init__(self, cursor: Cursor) -> None:
        super().__init__(cursor, ProvenProducts((), (), ()))

    def views(self, views: Sequence[View]) -> None:
        for v in views:
            if v.kind in ("for", "if"):
                if v.pragma:
                    self.cursor.expect("pragma", v.pragma)
                self.cursor.expect(v.kind, v.head)
                self.views(v.body)
                if v.orelse:
                    self.cursor.expect("else")
                    self.views(v.orelse)
                self.cursor.expect(f"/{v.kind}")
            elif v.kind == "block":
                self.views(v.body)
            elif v.nested is not None and v.nested.always:
                self.call_alone()
            elif v.kind in ("product", "matvec", "nested"):
                self.around_plain_nest(exact_calls(v), v.kind == "nested", lambda v=v: self.views(v.body))  # type: ignore[misc]
            else:
                for e in view_events((v,)):
                    self.cursor.expect(*e)


