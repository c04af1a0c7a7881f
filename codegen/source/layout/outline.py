"""Outline of statements in unpreprocessed text, found by keywords and brackets alone: where each begins and ends; None
where they do not fit together.

Macros may hide anything. So whoever uses an outline compares it with the parser's tree (`matched`), block by block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pycparser import c_ast

from codegen.record import record
from codegen.source.layout.lexis import CHAR, STRING, blank, blank_comments, closing

_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"\w+|.", re.S)
_HIDDEN = re.compile(rf"^[ \t]*(?:\#|%:)(?:\\\r?\n|[^\n])*|{STRING}|{CHAR}", re.M)
_HEADED = {"for": c_ast.For, "while": c_ast.While, "if": c_ast.If, "switch": c_ast.Switch}
_PLAIN = "plain"  # expressions, declarations, jumps, and whatever a macro makes of itself


@record
class StatementSpan:
    """text[begin:end] is a statement of this kind. `blocks` are those inside: a loop has one, an `if` one or two."""

    kind: str
    begin: int
    end: int
    blocks: tuple[Compound, ...] = ()


@record
class Compound:
    """Statements in braces, or a single one without."""

    braced: bool
    spans: tuple[StatementSpan, ...]


class _Lost(Exception):
    """The text has another structure than C's."""


def outline(text: str, begin: int, end: int) -> Compound | None:
    """The statements of text[begin:end]; None where brackets or keywords do not fit together."""
    bare = _HIDDEN.sub(lambda m: blank(m.group()), blank_comments(text[begin:end]))
    try:
        return Compound(True, tuple(_shifted(s, begin) for s in _spans(bare, 0, len(bare))))
    except (_Lost, RecursionError):
        return None


def _shifted(s: StatementSpan, by: int) -> StatementSpan:
    blocks = tuple(Compound(b.braced, tuple(_shifted(x, by) for x in b.spans)) for b in s.blocks)
    return StatementSpan(s.kind, s.begin + by, s.end + by, blocks)


def _spans(text: str, at: int, end: int) -> Iterator[StatementSpan]:
    at = _skip(text, at)
    while at < end:
        made = _span(text, at, end)
        yield made
        at = _skip(text, made.end)


def _span(text: str, at: int, end: int) -> StatementSpan:
    word = _word(text, at)
    if word == "{":
        after = _closing(text, at)
        return StatementSpan("{", at, after, (Compound(True, tuple(_spans(text, at + 1, after - 1))),))
    if word in _HEADED:
        body = _block(text, _closing(text, _skip(text, at + len(word)), "("), end)
        inner: tuple[Compound, ...] = (body[0],)
        after = body[1]
        other = _skip(text, after)
        if word == "if" and _word(text, other) == "else":
            last = _block(text, other + len("else"), end)
            inner, after = (*inner, last[0]), last[1]
        return StatementSpan(word, at, after, inner)
    if word == "do":
        inside, after = _block(text, at + len(word), end)
        return StatementSpan("do", at, _semicolon(text, after, end), (inside,))
    return StatementSpan(_PLAIN, at, _semicolon(text, at, end))


def _block(text: str, at: int, end: int) -> tuple[Compound, int]:
    """The statement at `at` as a block, and where it ends."""
    made = _span(text, _skip(text, at), end)
    return (made.blocks[0] if made.kind == "{" else Compound(False, (made,))), made.end


def _semicolon(text: str, at: int, end: int) -> int:
    """Behind the semicolon that ends a statement. One with braces of its own is no plain statement."""
    for m in re.compile(r"[;{}(\[]").finditer(text, at, end):
        if m.start() < at:
            continue
        if m.group() == ";":
            return m.end()
        if m.group() in "{}":
            break
        at = _closing(text, m.start())
    raise _Lost()


def _closing(text: str, at: int, opening: str = "") -> int:
    after = closing(text, at) if text[at : at + 1] and text[at] == (opening or text[at]) else -1
    if after < 0:
        raise _Lost()
    return after


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _word(text: str, at: int) -> str:
    found = _WORD.match(text, at)
    return found.group() if found else ""


def matched(spans: Sequence[StatementSpan], nodes: Sequence[c_ast.Node], text: str) -> tuple[StatementSpan | None, ...]:
    """For each statement of the parser's tree where it is in the text; None for pragmas, which are no statements of a
    text, and for what macros have a hand in. Each must be on the lines where the parser has seen it, so that nothing
    that a macro hides can take the place of something else."""
    real = [n for n in nodes if not isinstance(n, c_ast.Pragma)]
    if len(spans) != len(real):
        return (None,) * len(nodes)
    here = {id(n): s for n, s in zip(real, spans, strict=True) if _alike(s, n, text)}
    return tuple(here.get(id(n)) for n in nodes)


def _whole(spans: Sequence[StatementSpan], nodes: Sequence[c_ast.Node], text: str) -> bool:
    real = [n for n in nodes if not isinstance(n, c_ast.Pragma)]
    return len(spans) == len(real) and all(_alike(s, n, text) for s, n in zip(spans, real, strict=True))


def _alike(s: StatementSpan, node: c_ast.Node, text: str) -> bool:
    """The same statement, at every depth?"""
    line = getattr(node.coord, "line", None)
    if line is not None:
        first = text.count("\n", 0, s.begin) + 1
        if not first <= line <= (first if s.kind != _PLAIN else text.count("\n", 0, s.end) + 1):
            return False
    if s.kind == _PLAIN:
        return not isinstance(node, (c_ast.Compound, *_HEADED.values()))
    kinds = {**_HEADED, "{": c_ast.Compound, "do": c_ast.DoWhile}
    if not isinstance(node, kinds[s.kind]):
        return False
    if s.kind == "switch":
        return True
    inside = blocks(node)
    return len(inside) == len(s.blocks) and all(
        _whole(b.spans, n, text) for b, n in zip(s.blocks, inside, strict=True)
    )


def blocks(node: c_ast.Node) -> tuple[tuple[c_ast.Node, ...], ...]:
    """The statements in each block of a statement."""
    if isinstance(node, c_ast.Compound):
        return (tuple(node.block_items or ()),)
    if isinstance(node, (c_ast.For, c_ast.While, c_ast.DoWhile)):
        return (_items(node.stmt),)
    if isinstance(node, c_ast.If):
        return (_items(node.iftrue), *(() if node.iffalse is None else (_items(node.iffalse),)))
    return ()


def _items(node: c_ast.Node) -> tuple[c_ast.Node, ...]:
    return tuple(node.block_items or ()) if isinstance(node, c_ast.Compound) else (node,)
