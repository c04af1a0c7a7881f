"""Functions on pycparser trees for rewriting passes: walk and copy nodes, list the names that are used, assigned or
declared, build blocks and declarations, find names that are free, and exchange the statements of a region."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from pycparser import c_ast

from codegen.frontend.syntax.symbols import RegionSite

State = TypeVar("State")
STEPS = ("++", "--", "p++", "p--")


def with_statements(site: RegionSite, statements: Sequence[c_ast.Node]) -> RegionSite:
    """The region with other statements, in its function, too: whoever looks at the function sees these."""
    body = _exchanged(site.function.body, site.statements, list(statements))
    function = copy.copy(site.function)
    function.body = body
    return replace(site, function=function, statements=tuple(statements))


def _exchanged(node: c_ast.Node, old: Sequence[c_ast.Node], new: list[c_ast.Node]) -> c_ast.Node:
    if old and node is old[0]:
        return c_ast.Compound(new, node.coord)  # the body of a loop, without braces
    slot = "stmts" if isinstance(node, (c_ast.Case, c_ast.Default)) else "block_items"
    items = list(getattr(node, slot, None) or ())
    at = next((k for k, item in enumerate(items) if old and item is old[0]), -1)
    if at >= 0:
        made = copy.copy(node)
        setattr(made, slot, [*items[:at], *new, *items[at + len(old) :]])
        return made
    return mapped(node, lambda child: _exchanged(child, old, new))


def mapped(node: c_ast.Node, change: Callable[[c_ast.Node], c_ast.Node]) -> c_ast.Node:
    """A copy of a node with other children; the node itself if none has changed."""
    made: c_ast.Node | None = None
    for slot in node.__slots__:
        value = getattr(node, slot, None)
        new: object = value
        if isinstance(value, c_ast.Node):
            new = change(value)
        elif isinstance(value, list) and any(isinstance(x, c_ast.Node) for x in value):
            listed = [change(x) if isinstance(x, c_ast.Node) else x for x in value]
            new = listed if any(a is not b for a, b in zip(listed, value, strict=True)) else value
        if new is not value:
            made = made or copy.copy(node)
            setattr(made, slot, new)
    return made or node


def nodes(node: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """A node and all below it, in the order of the source."""
    left = [] if node is None else [node]
    while left:
        here = left.pop()
        yield here
        left.extend(reversed([*here]))


def names(node: c_ast.Node | None) -> set[str]:
    """The identifiers in it, members apart."""
    if node is None:
        return set()
    if isinstance(node, c_ast.ID):
        return {str(node.name)}
    inner = [node.name] if isinstance(node, c_ast.StructRef) else list(node)
    return set[str]().union(*(names(child) for child in inner))


def assigned(node: c_ast.Node | None) -> set[str]:
    """Variables that are set by their name somewhere in it, other than by their declaration."""
    out = set()
    for n in nodes(node):
        target = n.lvalue if isinstance(n, c_ast.Assignment) else None
        target = n.expr if isinstance(n, c_ast.UnaryOp) and n.op in STEPS else target
        if isinstance(target, c_ast.ID):
            out.add(str(target.name))
    return out


def stores(node: c_ast.Node | None) -> bool:
    """Is anything assigned or stepped in it: a variable, an element, a member?"""
    steps = (n.op in STEPS for n in nodes(node) if isinstance(n, c_ast.UnaryOp))
    return any(steps) or any(isinstance(n, c_ast.Assignment) for n in nodes(node))


def has_effects(node: c_ast.Node | None) -> bool:
    """May it do more than give a value? Functions may."""
    return stores(node) or any(isinstance(n, c_ast.FuncCall) for n in nodes(node))


def declared(node: c_ast.Node | None) -> list[str]:
    """The names that are declared in it, each as often as it is."""
    return [str(n.name) for n in nodes(node) if isinstance(n, c_ast.Decl) and n.name]


def shadowing(items: Sequence[c_ast.Node], visible: set[str]) -> set[str]:
    """Names that mean one thing in a part of a scope and another in the rest of it."""
    found: set[str] = set()
    seen = set(visible)

    def declare(name: str) -> None:
        found.update({name} & seen)
        seen.add(name)

    def visit(node: c_ast.Node) -> None:
        nonlocal seen
        if isinstance(node, (c_ast.Compound, c_ast.For)):
            saved = set(seen)
            for child in node:
                visit(child)
            seen = saved
            return
        if isinstance(node, c_ast.Decl) and node.name:
            declare(str(node.name))
        for child in node:
            visit(child)

    for item in items:
        visit(item)
    return found


def items_of(node: c_ast.Node | None) -> list[c_ast.Node]:
    """The statements of a block, or the one statement."""
    if node is None or isinstance(node, c_ast.EmptyStatement):
        return []
    return list(node.block_items or ()) if isinstance(node, c_ast.Compound) else [node]


def in_turn(
    items: Sequence[c_ast.Node], state: State, statement: Callable[[c_ast.Node, State], tuple[list[c_ast.Node], State]]
) -> tuple[list[c_ast.Node], State]:
    """What `statement` makes of each of the statements, with the state that the ones before have left."""
    out: list[c_ast.Node] = []
    for item in items:
        made, state = statement(item, state)
        out += made
    return out, state


def as_block(items: Sequence[c_ast.Node], like: c_ast.Node | None) -> c_ast.Node:
    """One statement for several."""
    return items[0] if len(items) == 1 and not isinstance(items[0], c_ast.Decl) else c_ast.Compound(
        list(items), None if like is None else like.coord
    )  # fmt: skip


def declaration(name: str, words: Sequence[str], value: c_ast.Node | None, coord: object) -> c_ast.Decl:
    """`words name = value;`"""
    kind = c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(list(words)))
    return c_ast.Decl(name, [], [], [], [], kind, value, None, coord)


def typename(words: Sequence[str]) -> c_ast.Typename:
    """A plain type, for casts."""
    return c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, c_ast.IdentifierType(list(words))))


class Fresh:
    """Names that nothing in sight has yet."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = set(taken)
        self.given: set[str] = set()

    def name(self, stem: str) -> str:
        """`stem`, with a number if that is taken."""
        name, k = stem, 2
        while name in self.taken:
            name, k = f"{stem}_{k}", k + 1
        self.taken.add(name)
        self.given.add(name)
        return name


def fresh_names(site: RegionSite) -> Fresh:
    """Every identifier of the function, its variables, functions, constants and macros are taken."""
    ids = {str(n.name) for n in nodes(site.function) if isinstance(n, (c_ast.ID, c_ast.Decl)) and n.name}
    types = set(site.types.typedefs)
    others = set(site.functions) | set(site.enums) | set(site.hidden) | set(site.macros)
    return Fresh(ids | set(site.variables) | others | types)
