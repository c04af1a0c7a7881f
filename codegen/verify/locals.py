"""Proof of hoisted struct members: each variable holds what the region names by it.

The model says that a region changes none of them. Here it is shown that a variable is set from the member that it
stands for, of the member's type, and that its pointers are followed only where the region follows them in any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from codegen.ast.ctree import Block, CExpr, CNode, Declare, For, If, Name, expr_names
from codegen.scop.expr import Expr, Sym, with_leaves
from codegen.scop.expr import walk as parts
from codegen.scop.model import Access, AccessStep, Scop, Statement

_LINE = re.compile(r"(?:const )?(.*?)\s*(\*const |\b)(\w+) = ([^;]+);")


def wrong_locals(scop: Scop, short: Scop, declarations: Mapping[str, str], tree: CNode, guard: str) -> str:
    """What is wrong with variables in place of members; empty where nothing is. `short` is the region that uses them,
    `guard` the C text of a test that is evaluated ahead of them."""
    texts: dict[str, str] = {}
    for name, line in declarations.items():
        found = _LINE.fullmatch(line)
        if found is None or found[3] != name or name in scop.names:
            return f"`{line}` is no variable of its own"
        texts[name] = found[4]
        if not _followed(scop, texts[name], tree, guard):
            return f"`{found[4]}` is read where the region may not follow its pointers"
        if found[1] not in _types(scop, texts[name], bool(found[2].strip())):
            return f"`{name}` has another type than `{found[4]}`"
    if [_back(p.text, texts) for p in short.params] != [p.text for p in scop.params]:
        return "a parameter has the value of another"
    pairs = zip(scop.statements, short.statements, strict=True)
    return next((f"{s.name} uses another member" for s, t in pairs if not _same(scop, short, s, t, texts)), "")


def _back(text: str, texts: Mapping[str, str]) -> str:
    """A text with members in place of variables."""
    return re.sub(r"\b\w+\b", lambda m: texts.get(m[0], m[0]), text)


def _types(scop: Scop, text: str, pointer: bool) -> set[str]:
    """The types that something of this text has in the region: elements behind a pointer, or values."""
    if pointer:
        return {scop.arrays[a.array].elem.spelling for _, a in scop.accesses() if text in _ways(scop, a)}
    values = (e for s in scop.statements for e in parts(s.rhs) if isinstance(e, Sym) and e.text == text)
    found = {e.ctype.spelling for e in values if e.ctype is not None}
    return found | {p.ctype.spelling for p in scop.params if p.text == text}


def _ways(scop: Scop, a: Access) -> Iterator[str]:
    """The texts of what an access goes through, from its variable on."""
    text = scop.arrays[a.array].base
    yield text
    for step in a.path:
        if step.kind not in ("member", "arrow"):
            return
        text += ("->" if step.kind == "arrow" else ".") + step.text
        yield text


def _same(scop: Scop, short: Scop, s: Statement, t: Statement, texts: Mapping[str, str]) -> bool:
    def back(e: Expr) -> Expr:
        return Sym(_back(e.text, texts), e.ctype) if isinstance(e, Sym) else e

    if with_leaves(t.rhs, back) != s.rhs or len(s.accesses) != len(t.accesses):
        return False
    return all(_same_access(scop, short, a, b, texts) for a, b in zip(s.accesses, t.accesses, strict=True))


def _same_access(scop: Scop, short: Scop, a: Access, b: Access, texts: Mapping[str, str]) -> bool:
    """The same way to the same element, where a variable stands for the first steps of it."""
    base = short.arrays[b.array].base
    ways = list(_ways(scop, a))
    gone = len(a.path) - len(b.path)
    first = texts.get(base, base)
    rest = a.path[gone:] if gone else a.path
    if a.array != b.array or not 0 <= gone < len(ways) or ways[gone] != first:
        return False
    return len(rest) == len(b.path) and all(_same_step(x, y, texts) for x, y in zip(rest, b.path, strict=True))


def _same_step(x: AccessStep, y: AccessStep, texts: Mapping[str, str]) -> bool:
    return (x.kind, x.text, x.strides) == (y.kind, y.text, tuple(_back(t, texts) for t in y.strides))


def _followed(scop: Scop, text: str, tree: CNode, guard: str) -> bool:
    """Does the region follow all pointers on the way, whatever its sizes are?"""
    heads = {n for e in _always(tree) for n in expr_names(e)}
    read = [guard, *(p.text for p in scop.params if p.name in heads)]
    ways = [text[: m.start()] for m in re.finditer(r"->", text)]
    return all(any(re.search(rf"(?<![\w.>]){re.escape(w)}->", r) for r in read) for w in ways)


def _always(node: CNode) -> Iterator[CExpr]:
    """What is evaluated in any case: the first test of each outermost loop and condition."""
    if isinstance(node, Block):
        for child in node.children:
            yield from _always(child)
    elif isinstance(node, Declare):
        yield from _always(node.body)
    elif isinstance(node, If):
        yield node.cond
    elif isinstance(node, For):
        yield from (node.lower, node.upper)
    else:
        yield Name("")
