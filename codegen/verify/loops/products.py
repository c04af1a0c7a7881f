"""Reads the text of a region with products beside its tree. Blocks of products are proven from their text
(`verify/text`); here it is shown that each one stands where the tree has it, that it was proven for this place, and
that its plain nest is the tree's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ast.ctree import Block, CNode, ProductNode
from codegen.ast.plain_nest import plain_nest
from codegen.patterns import pattern
from codegen.record import record
from codegen.scop.model import Statement
from codegen.scop.product import MatrixVector, Nested
from codegen.target.emit import all_views, exact_calls
from codegen.target.text.pieces import View
from codegen.verify.loops.cursor import Cursor
from codegen.verify.loops.events import PRODUCT, Event
from codegen.verify.loops.scope import Place
from codegen.verify.loops.tree import TreeReader
from codegen.verify.text.read import Unread

if TYPE_CHECKING:
    from codegen.target.matvec.view import MatvecView, MatvecWanted
    from codegen.target.product.view import ExactCall, ProductView

_SET = pattern(r"(\w+)(?:\[[^\]]*\])? [-+*/]?=(?!=)")
_ALLOC = pattern(r"(\w+) = [^;]*\btw_alloc\(")
_ENDS = ("}", "/if", "/for")


@record
class ProvenProducts:
    """What was proven of the products in a text, in its order."""

    products: Sequence[ProductView]
    matvecs: Sequence[MatvecView]
    nests: Sequence[ExactCall]


def proven_products(views: Sequence[View]) -> ProvenProducts:
    """Those of views, of which all are proven."""
    every = tuple(all_views(views))
    return ProvenProducts(
        [v.product for v in every if v.product is not None],
        [v.matvec for v in every if v.matvec is not None],
        [x for v in every for x in exact_calls(v)],
    )


class RegionReader(TreeReader):
    """Reads the text of a region in which these products were proven, in their order."""

    def __init__(self, cursor: Cursor, proven: ProvenProducts) -> None:
        super().__init__(cursor)
        self._products, self._matvecs, self._nests = list(proven.products), list(proven.matvecs), list(proven.nests)

    def check_all_read(self) -> None:
        if self._products or self._matvecs or self._nests:
            raise Unread("there are more products in the text than in the tree")

    def product(self, node: ProductNode, here: Place) -> None:
        calls = self._claimed(node, here)
        if isinstance(node.product.how, Nested) and not calls[0].test:
            self.call_alone()
        else:
            nested = isinstance(node.product.how, Nested)
            self.around_plain_nest(calls, nested, lambda: self.node(plain_nest(node), here))

    def first_of(self, nodes: Sequence[CNode], here: Place) -> int:
        node, after = nodes[0], nodes[1] if len(nodes) > 1 else None
        shared = bool(self._matvecs) and self._matvecs[0].beside is not None and _is_matvec(node)
        if not shared:
            return super().first_of(nodes, here)
        assert isinstance(node, ProductNode)
        if not isinstance(after, ProductNode) or not _is_matvec(after):
            raise Unread("two products share a text that do not follow each other")
        alone = bool(self._matvecs[0].serial)
        self._check_pair(node, after, here)
        otherwise = (node, after) if alone else (plain_nest(node), plain_nest(after))
        self.around_plain_nest((), False, lambda: self.node(Block(otherwise), here))
        return 2

    def _claimed(self, node: ProductNode, here: Place) -> Sequence[ExactCall]:
        """Kernels for certain sizes that are called ahead of a product, which was proven for this place."""
        how = node.product.how
        if isinstance(how, Nested):
            return self._nested(node, here)
        if isinstance(how, MatrixVector):
            self._check_matvec(node, here)
            return ()
        return self._check_blocked(node, here)

    def call_alone(self) -> None:
        """A product that is nothing but a call."""
        cursor = self.cursor
        cursor.peek()
        start = len(cursor.log)
        cursor.expect("stmt")
        cursor.log[start:] = [PRODUCT]

    def around_plain_nest(self, calls: Sequence[ExactCall], nested: bool, plain: Callable[[], None]) -> None:
        """Reads a product up to its plain nest, that, and what is behind it."""
        cursor = self.cursor
        cursor.peek()
        start = len(cursor.log)
        for call in calls:
            if cursor.expect("if").text != (call.test or "1"):
                raise Unread("a kernel for certain sizes has another test")
            cursor.skip_to_else()
        tests = len(calls) + (0 if nested else self._to_plain_nest())
        cursor.log[start:] = [PRODUCT]
        plain()
        end = len(cursor.log)
        for _ in range(tests):
            cursor.expect("/if")
        del cursor.log[end:]

    def _to_plain_nest(self) -> int:
        """Along the block up to the branch that runs where nothing is packed. Gives how many conditions it is in."""
        cursor = self.cursor
        if not cursor.next_statement().startswith("const long tw_rows = "):
            raise Unread("a product is not there")
        asked = frozenset[str]()
        while True:
            e = cursor.peek()
            if e.kind in ("stmt", "pragma"):
                asked |= frozenset(_ALLOC.findall(e.text))
                for name in _SET.findall(e.text):
                    if not name.startswith("tw_") or name in cursor.taken:
                        raise Unread(f"a product has a variable `{name}`")
                cursor.take()
                continue
            if e.kind in _ENDS:
                raise Unread("a product without a plain nest")
            end = cursor.end_of(cursor.at)
            if e.kind == "if" and cursor.events[end + 1].kind in _ENDS:
                return self._past_packed(asked)
            cursor.at = end + 1

    def _past_packed(self, asked: frozenset[str]) -> int:
        """`if (memory) { ... } else`, for each memory that was asked for. Gives how many there are."""
        cursor, tests = self.cursor, 0
        while not tests or asked:
            first = cursor.at
            test = cursor.expect("if").text
            cursor.skip_to_else()
            _check_given_back(test, asked, cursor.events[first + 1 : cursor.at - 1])
            asked -= {test}
            tests += 1
        return tests

    def _check_blocked(self, node: ProductNode, here: Place) -> Sequence[ExactCall]:
        from codegen.target.product.blocked import ProductPrinter

        if not self._products:
            raise Unread("a product is not there")
        view = self._products.pop(0)
        rows, columns, depth = view.wanted.names
        names = iter((rows, depth, columns))
        made = ProductPrinter(here.scop, here.ints, lambda _: next(names), here.held).wanted(node, view.wanted)
        if made != view.wanted:
            raise Unread("a product was proven for another place")
        if tuple(self._nests[: len(view.exact)]) != view.exact:
            raise Unread("kernels for certain sizes were proven for another place")
        self._check_calls(node, here, view.exact)
        return view.exact

    def _nested(self, node: ProductNode, here: Place) -> Sequence[ExactCall]:
        count = 1 if self._nests and not self._nests[0].test else len(node.exact)
        calls = tuple(self._nests[:count])
        if not calls or len(calls) != count:
            raise Unread("a product is not there")
        self._check_calls(node, here, calls)
        return calls

    def _check_calls(self, node: ProductNode, here: Place, calls: Sequence[ExactCall]) -> None:
        """Kernels for certain sizes are the node's, and were proven for this place."""
        del self._nests[: len(calls)]
        if not calls:
            return
        from codegen.target.product.blocked import ProductPrinter

        made = ProductPrinter(here.scop, here.ints, lambda name: name, here.held).exact_calls(node)
        if any((x.wanted, x.kernel) != (y.wanted, y.kernel) for x, y in zip(made, calls, strict=False)):
            raise Unread("a kernel for certain sizes was proven for another place")

    def _check_matvec(self, node: ProductNode, here: Place) -> None:
        if not self._matvecs or self._matvecs[0].beside is not None:
            raise Unread("a matrix-vector product is not there")
        self._check_place(node, here, self._matvecs.pop(0).wanted)

    def _check_pair(self, node: ProductNode, after: ProductNode, here: Place) -> None:
        """Two products that one block carries out, in whatever order: neither uses what the other one writes."""
        view = self._matvecs.pop(0)
        assert view.beside is not None
        _check_independent(*(here.scop.statement(x.product.what.stmt) for x in (node, after)))
        both = (view, view.beside) if view.wanted.what.stmt == node.product.what.stmt else (view.beside, view)
        for x, proven in zip((node, after), both, strict=True):
            self._check_place(x, here, proven.wanted)

    def _check_place(self, node: ProductNode, here: Place, wanted: MatvecWanted) -> None:
        from codegen.target.matvec.view import MatvecPrinter

        made = MatvecPrinter(here.scop, here.ints, here.held).wanted(node)
        if replace(made, how=wanted.how) != wanted:
            raise Unread("a matrix-vector product was proven for another place")


def _is_matvec(node: CNode) -> bool:
    return isinstance(node, ProductNode) and isinstance(node.product.how, MatrixVector)


def _check_independent(s: Statement, other: Statement) -> None:
    """Neither of two products uses an array that the other one writes."""
    for x, y in ((s, other), (other, s)):
        array = x.accesses[x.target].array
        if any(a.array == array for a in y.accesses):
            raise Unread(f"two products that both use `{array}` share a text")


def _check_given_back(test: str, asked: frozenset[str], events: Sequence[Event]) -> None:
    """Memory that a product asked for is given back where there was some, at the end and once; that of the other
    branches is not."""
    frees = [k for k, e in enumerate(events) if "tw_free(" in e.text]
    if not asked and not frees:
        return
    if frees != [len(events) - 1] or test not in asked or events[-1].text != f"tw_free({test});":
        raise Unread("memory of a product is not given back")
