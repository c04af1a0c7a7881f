"""`continue`, `switch`, `do { } while (0)` and leading `break`s as plain `if`s and loop conditions.

Each rewriting gives a statement with the same meaning, made of new nodes; what has no such form is left for the walk to
refuse.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from codegen.frontend.syntax.tree import has_effects


def plain_body(node: c_ast.Node | None) -> tuple[c_ast.Node, ...]:
    """The statements of a loop's body without `continue`, where it can do without."""
    return tuple(_without_continue(_items(node)))


def _items(node: c_ast.Node | None) -> list[c_ast.Node]:
    if node is None or isinstance(node, c_ast.EmptyStatement):
        return []
    return list(node.block_items or ()) if isinstance(node, c_ast.Compound) else [node]


def empty(node: c_ast.Node | None) -> bool:
    """Is there nothing to do?"""
    return all(isinstance(x, c_ast.EmptyStatement) for x in _items(node))


def _without_continue(items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
    """`if (c) { a; continue; } b;` is `if (c) { a; } else { b; }`."""
    for k, item in enumerate(items):
        if isinstance(item, c_ast.Continue):
            return list(items[:k])
        if isinstance(item, c_ast.Compound) and continues(item) and not _declares(item):
            return _without_continue([*items[:k], *_items(item), *items[k + 1 :]])
        if not isinstance(item, c_ast.If) or not continues(item):
            continue
        yes, no, rest = _items(item.iftrue), _items(item.iffalse), list(items[k + 1 :])
        if not _ends_loop(yes) and not _ends_loop(no):
            return list(items)  # one way on, with `continue` deeper inside
        yes, no = (yes, [*no, *rest]) if _ends_loop(yes) else ([*yes, *rest], no)
        made = c_ast.If(item.cond, _block(_without_continue(yes)), _block(_without_continue(no)), item.coord)
        return [*items[:k], _tidy(made)]
    return list(items)


def _tidy(node: c_ast.If) -> c_ast.If:
    """An `if` without anything to do when its condition holds asks for the opposite."""
    if not _items(node.iftrue) and _items(node.iffalse):
        return c_ast.If(c_ast.UnaryOp("!", node.cond, node.cond.coord), node.iffalse, None, node.coord)
    return c_ast.If(node.cond, node.iftrue, node.iffalse if _items(node.iffalse) else None, node.coord)


def _block(items: Sequence[c_ast.Node]) -> c_ast.Compound:
    return c_ast.Compound(list(items))


def _ends_loop(items: Sequence[c_ast.Node]) -> bool:
    """Does every way through these statements end the iteration?"""
    if not items:
        return False
    last = items[-1]
    if isinstance(last, c_ast.Continue):
        return True
    if isinstance(last, c_ast.Compound):
        return _ends_loop(_items(last))
    return isinstance(last, c_ast.If) and _ends_loop(_items(last.iftrue)) and _ends_loop(_items(last.iffalse))


def continues(node: c_ast.Node) -> bool:
    """Is there a `continue` of the loop around in it?"""
    if isinstance(node, (c_ast.For, c_ast.While, c_ast.DoWhile)):
        return False
    return isinstance(node, c_ast.Continue) or any(continues(child) for child in node)


def _declares(node: c_ast.Compound) -> bool:
    return any(isinstance(item, c_ast.Decl) for item in _items(node))


def leading_breaks(items: Sequence[c_ast.Node]) -> tuple[list[c_ast.If], list[c_ast.Node]]:
    """The `if (c) break;` at the start of a loop's body, and the rest."""
    found: list[c_ast.If] = []
    rest = list(items)
    while rest and isinstance(rest[0], c_ast.If) and rest[0].iffalse is None:
        inside = _items(rest[0].iftrue)
        if len(inside) != 1 or not isinstance(inside[0], c_ast.Break):
            break
        found.append(rest.pop(0))
    return found, rest


def once(node: c_ast.DoWhile) -> c_ast.Compound | None:
    """The body of `do { } while (0)`, as macros have it; None for other loops."""
    zero = isinstance(node.cond, c_ast.Constant) and node.cond.value == "0"
    return _block(_items(node.stmt)) if zero and not _leaves(node.stmt) else None


def _leaves(node: c_ast.Node) -> bool:
    """Is there a `break` or `continue` of the loop around in it?"""
    if isinstance(node, (c_ast.For, c_ast.While, c_ast.DoWhile)):
        return False
    if isinstance(node, c_ast.Switch):
        return continues(node)
    return isinstance(node, (c_ast.Break, c_ast.Continue)) or any(_leaves(child) for child in node)


def choices(node: c_ast.Switch) -> c_ast.Node | None:
    """A `switch` whose cases do not run into each other as a chain of `if`; None for others."""
    cases: list[tuple[list[c_ast.Node], bool, list[c_ast.Node]]] = []  # labels, default, statements
    labels: list[c_ast.Node] = []
    default = False
    for item in _items(node.stmt):
        if not isinstance(item, (c_ast.Case, c_ast.Default)):
            return None
        if isinstance(item, c_ast.Case):
            labels.append(item.expr)
        default = default or isinstance(item, c_ast.Default)
        inner = list(item.stmts or ())
        if any(isinstance(x, (c_ast.Case, c_ast.Default)) for x in inner):
            return None
        if inner:  # else it is the first of several labels
            cases.append((labels, default, inner))
            labels, default = [], False
    if labels or default:
        cases.append((labels, default, [c_ast.Break()]))
    made: list[tuple[list[c_ast.Node], bool, c_ast.Compound]] = []
    for k, (values, other, inner) in enumerate(cases):
        inner = _without_braces(inner)
        ended = isinstance(inner[-1], c_ast.Break)
        body = inner[:-1] if ended else inner
        if (not ended and k < len(cases) - 1) or any(_leaves(x) and not isinstance(x, c_ast.Continue) for x in body):
            return None
        made.append((values, other, _block(body)))
    chain: c_ast.Node | None = next((body for _, other, body in made if other), None)
    for values, other, body in reversed(made):
        if not other:
            chain = c_ast.If(_any(node.cond, values), body, chain, node.coord)
    if has_effects(node.cond) and not any(values and not other for values, other, _ in made):
        return _block([c_ast.If(node.cond, _block([]), None, node.coord), *_items(chain)])  # nobody asks for the value
    return chain if chain is not None else _block([])


def _without_braces(items: list[c_ast.Node]) -> list[c_ast.Node]:
    """`{ a; break; }` at the end of a case is `{ a; } break;`."""
    inside = _items(items[-1]) if isinstance(items[-1], c_ast.Compound) else []
    if not inside or not isinstance(inside[-1], c_ast.Break):
        return items
    return [*items[:-1], _block(inside[:-1]), inside[-1]]


def _any(value: c_ast.Node, labels: Sequence[c_ast.Node]) -> c_ast.Node:
    tests: list[c_ast.Node] = [c_ast.BinaryOp("==", value, label, value.coord) for label in labels]
    out = tests[0]
    for test in tests[1:]:
        out = c_ast.BinaryOp("||", out, test, value.coord)
    return out


__all__ = ["choices", "continues", "empty", "leading_breaks", "once", "plain_body"]
