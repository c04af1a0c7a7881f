"""Parses steps and constant bounds in the heads of printed loops of a core's kernel, and checks that a loop ends where
the one of the tree does; raises Unread otherwise."""

from __future__ import annotations

from codegen.ast.ctree import Bin, CExpr, For, Int
from codegen.verify.cores.expr import integer, same
from codegen.verify.cores.values import NameScope
from codegen.verify.text.read import Node, Unread


def with_integer(sc: NameScope, name: str, value: CExpr) -> NameScope:
    return sc._replace(integers={**sc.integers, name: value}, values={k: v for k, v in sc.values.items() if k != name})


def number(sc: NameScope, e: Node) -> int | None:
    """The value of an expression that is a number here."""
    try:
        found = _fold(integer(e, sc.integers))
    except Unread:
        return None
    return found


def _fold(e: CExpr) -> int | None:
    if isinstance(e, Int):
        return e.value
    if not isinstance(e, Bin) or e.op not in ("+", "-", "*", "/"):
        return None
    a, b = _fold(e.left), _fold(e.right)
    if a is None or b is None or (e.op == "/" and (a < 0 or b <= 0)):
        return None
    return {"+": a + b, "-": a - b, "*": a * b}.get(e.op, a // b if e.op == "/" else 0)


def step_of(step: Node, name: str) -> int:
    """By how much a loop goes on; 0 for anything else."""
    if step == Node("after", "++", (Node("name", name),)):
        return 1
    if step.kind == "assign" and step.text == "+=" and step.kids[0] == Node("name", name):
        by = step.kids[1]
        return int(by.text) if by.kind == "number" and by.text.isdigit() else 0
    return 0


def upper(sc: NameScope, cond: Node, name: str) -> int | None:
    """The number below which a loop runs."""
    plain = cond.kind == "binary" and cond.text == "<" and cond.kids[0] == Node("name", name)
    return number(sc, cond.kids[1]) if plain else None


def past(lp: For) -> CExpr:
    """The first value that a loop does not reach."""
    return lp.upper if lp.op == "<" else Bin("+", lp.upper, Int(1))


def check_end(sc: NameScope, cond: Node, name: str, lp: For) -> None:
    """A loop ends where the one of the tree does."""
    if cond.kind == "binary" and cond.kids[0] == Node("name", name):
        end = sc.integer(cond.kids[1])
        if cond.text == lp.op and same(end, lp.upper):
            return
        if cond.text == "<" and same(end, past(lp)):
            return
    raise Unread(f"the loop over `{name}` ends elsewhere")


def check_limit(sc: NameScope, cond: Node, name: str, op: str, end: CExpr, count: int = 0) -> None:
    """The condition of a loop is `name + count op end`."""
    left = Node("name", name)
    if count:
        left = Node("binary", "+", (left, Node("number", str(count))))
    if cond.kind != "binary" or cond.text != op or cond.kids[0] != left or not same(sc.integer(cond.kids[1]), end):
        raise Unread(f"a part of the loop over `{name}` ends elsewhere")
