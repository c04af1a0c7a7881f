"""Proof of printed loops over the elements of messages: `ElementReader` reads their views beside the proven loops, and
raises Unread where they differ.

A run of elements stands for a loop where the elements lie side by side, which the printed subscripts show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from codegen.ast.ctree import Bin, Block, CExpr, CNode, For, If, Instance, Int, Name, substitute
from codegen.lower.shift import simple
from codegen.mpi.text.message_views import spelled
from codegen.mpi.trees import MessageLoops
from codegen.patterns import pattern
from codegen.scop.model import Scop
from codegen.target.text.body import BodyPrinter
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import View
from codegen.verify.text.read import Node, Unread, nodes, read_expression

_COUNTED = pattern(r"long (\w+) = ")
_AT = "tw_at"  # stands for an element's last subscript


class Row:
    """Views that stand one behind the other, of which those that were read are gone."""

    def __init__(self, views: Sequence[View]) -> None:
        self.left = list(views)

    def next_text(self) -> str:
        """The next view's text, if it is a statement or a declaration."""
        return self.left[0].head if self.left and self.left[0].kind in ("decl", "stmt") else ""

    def take(self, kind: str, head: str | None = None) -> View:
        v = self.left.pop(0) if self.left else View("end")
        if v.kind != kind or (head is not None and v.head != head):
            raise Unread(f"`{v.head or v.kind}` stands where `{head or kind}` should")
        if v.kind != "if" and v.orelse:
            raise Unread(f"`{v.head}` has another branch")
        return v

    def text(self, text: str) -> str:
        if self.next_text() != text:
            raise Unread(f"`{self.left[0].head if self.left else 'nothing'}` stands where `{text}` should")
        self.left.pop(0)
        return text

    def starts_with(self, views: Sequence[View]) -> bool:
        """Are these the next ones, and no others that look alike?"""
        return len(self.left) >= len(views) and all(x is y for x, y in zip(self.left, views, strict=False))

    def skip(self, count: int) -> None:
        del self.left[:count]

    def end(self) -> None:
        if self.left:
            raise Unread(f"`{self.left[0].head or self.left[0].kind}` stands behind the rest")


def counter_of(head: str, node: For, ints: IntPrinter) -> str:
    """The name of a loop's counter, if a head is the loop's. Raises Unread."""
    m = _COUNTED.match(head)
    name = m[1] if m is not None else ""
    step = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
    if head != f"long {name} = {ints.text(node.lower)}; {name} {node.op} {ints.text(node.upper, 5)}; {step}":
        raise Unread(f"`{head}` is not loop `{node.loop.name}`")
    return name


@dataclass
class ElementReader:
    """Reads the elements of messages. `taken` are names that nothing may be declared by."""

    taken: Set[str]

    def read(self, row: Row, parts: Sequence[MessageLoops], given: Mapping[str, str]) -> None:
        """Elements of several arrays, or boxes of one; those under the same condition may stand under one."""
        shared: tuple[str, Row] | None = None
        for t in parts:
            scop = spelled(t.made.scop, given)
            for node in t.made.code.children if isinstance(t.made.code, Block) else (t.made.code,):
                cond = _ints(scop, {}).text(node.cond) if isinstance(node, If) and node.orelse is None else ""
                if shared is not None and (cond != shared[0] or not shared[1].left):
                    shared[1].end()
                    shared = None
                if not cond:
                    self._node(row, node, scop, {})
                    continue
                assert isinstance(node, If)
                shared = shared or (cond, Row(self._condition(row, cond)))
                self._node(shared[1], node.then, scop, {})
        if shared is not None:
            shared[1].end()

    def _condition(self, row: Row, cond: str) -> Sequence[View]:
        v = row.take("if", cond)
        if v.orelse:
            raise Unread("a message has other elements where a condition does not hold")
        return v.body

    def _node(self, row: Row, node: CNode, scop: Scop, names: Mapping[str, str]) -> None:
        ints = _ints(scop, names)
        if isinstance(node, Block):
            for child in node.children:
                self._node(row, child, scop, names)
        elif isinstance(node, If):
            v = row.take("if", ints.text(node.cond))
            for views, inner in ((v.body, node.then), (v.orelse, node.orelse)):
                inside = Row(views)
                if inner is not None:
                    self._node(inside, inner, scop, names)
                inside.end()
        elif isinstance(node, Instance):
            row.text(_run(scop, node, names, "1"))
        elif isinstance(node, For) and row.next_text():
            self._together(row, node, scop, names)
        elif isinstance(node, For) and row.left and row.left[0].kind == "if":
            # of a panel: nothing is named where there is nothing
            inside = Row(self._condition(row, ints.text(Bin("<", node.lower, _past(node)))))
            self._together(inside, node, scop, names)
            inside.end()
        else:
            assert isinstance(node, For)
            v = row.take("for")
            name = counter_of(v.head, node, ints)
            if name in self.taken or name in names.values() or name.startswith("tw_"):
                raise Unread(f"`{name}` hides another variable")
            inside = Row(v.body)
            self._node(inside, node.body, scop, {**names, node.var: name})
            inside.end()

    def _together(self, row: Row, node: For, scop: Scop, names: Mapping[str, str]) -> None:
        """One call for all elements of a loop: from the first one on, as many as the loop has."""
        at = node.body
        if not isinstance(at, Instance) or node.step != 1 or node.op not in ("<", "<="):
            raise Unread("elements go together that are no run")
        inner = {**names, node.var: _AT}
        for k in range(len(at.accesses)):
            _check_side_by_side(read_expression(_element(scop, at, inner, k)))
        if at.accesses[0][-1] != Name(node.var):
            raise Unread("a run of elements begins elsewhere")
        begin = {node.var: node.lower}
        first = replace(at, accesses=tuple((*i[:-1], simple(substitute(i[-1], begin))) for i in at.accesses))
        count = _ints(scop, names).wide(simple(Bin("-", _past(node), node.lower)))
        row.text(_run(scop, first, names, count))


def _past(node: For) -> CExpr:
    return node.upper if node.op == "<" else Bin("+", node.upper, Int(1))


def _check_side_by_side(element: Node) -> None:
    """The last subscript of an element grows by one with a loop, and nothing else changes."""
    if element.kind != "index" or _uses(element.kids[0]) or not _grows_by_one(element.kids[1]):
        raise Unread("elements go together that do not lie side by side")


def _grows_by_one(e: Node) -> bool:
    """Is it a sum in which the number stands once?"""
    if e.kind == "cast" and e.text == "long":
        return _grows_by_one(e.kids[0])
    if e.kind == "binary" and e.text in ("+", "-"):
        left, right = e.kids
        if not _uses(right):
            return _grows_by_one(left)
        return e.text == "+" and not _uses(left) and _grows_by_one(right)
    return e == Node("name", _AT)


def _uses(e: Node) -> bool:
    return Node("name", _AT) in nodes(e)


def _ints(scop: Scop, names: Mapping[str, str]) -> IntPrinter:
    return IntPrinter({p.name: p for p in scop.params}, names, set())


def _element(scop: Scop, at: Instance, names: Mapping[str, str], number: int) -> str:
    (statement,) = scop.statements
    return BodyPrinter(scop, _ints(scop, names), {}).access(statement, at, number)


def _run(scop: Scop, at: Instance, names: Mapping[str, str], count: str) -> str:
    (statement,) = scop.statements
    size = scop.arrays[statement.accesses[0].array].elem.spelling
    places = ", ".join(f"&{_element(scop, at, names, k)}" for k in range(len(statement.accesses)))
    call = "tw_run" if len(statement.accesses) == 1 else "tw_panel_run"
    return f"{call}(tw_k, {places}, {count}, sizeof({size}));"
