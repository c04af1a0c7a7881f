"""Inlines the function that chooses a micro-kernel for a tile, at its call."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.verify.text.read import Node, ParsedFunction, Unread


def written_out(call: Node, function: ParsedFunction) -> Node:
    """The body of the function with the call's arguments in place of its parameters."""
    parameters, body = function.parameters, function.body
    if len(parameters) != len(call.kids) or len(body) != 1:
        raise Unread(f"a call of {call.text} with {len(call.kids)} arguments")
    return _with(body[0], dict(zip(parameters, call.kids, strict=True)))


def _with(node: Node, given: Mapping[str, Node]) -> Node:
    if node.kind == "name":
        return given.get(node.text, node)
    if node.kind in ("assign", "after", "declare"):
        raise Unread("a choice of kernels that changes something")
    kids = tuple(_with(k, given) for k in node.kids)
    if node[:2] == ("binary", "*") and all(k.kind == "number" and k.text.isdigit() for k in kids):
        return Node("number", str(int(kids[0].text) * int(kids[1].text)))
    if node.kind == "call" and [k.kind for k in kids[:2]] == ["number", "number"]:
        return Node("call", kernel_call(node.text, kids[0].text, kids[1].text), kids[2:])
    return Node(node.kind, node.text, kids)


def kernel_call(function: str, rows: object, vectors: object) -> str:
    """How a kernel is called that is a case of a function."""
    return f"{function}({rows}, {vectors})"
