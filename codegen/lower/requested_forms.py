"""Lists what a plan asked of loops (`vector ... of 16 bytes`, `jam`, `interleave`, `scalar_replace`), whether lowering
did it, and if not, why."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.ast.ctree import CNode, For, Instance, expr_names, node_kids, walk
from codegen.ast.lowered import ByWidth, ScalarReplacement, Strips, While
from codegen.lower.lanes import MOST_APART
from codegen.lower.loop_strides import loop_strides
from codegen.lower.statements import assignments, lanes_asked
from codegen.recognize.lanes import fits, stays
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import INTERLEAVED, JAMMED, VECTOR


@record
class RequestedForm:
    """A loop of the plan, by its name and statements, that was asked for something. It may stand in the code several
    times: `done` if one of them is what it was asked to be, else `why` says what is in the way."""

    word: str
    loop: str
    stmts: frozenset[str]
    done: bool
    why: str = ""


def asked(scop: Scop, tree: CNode) -> tuple[RequestedForm, ...]:
    """All of them, in textual order."""
    found: dict[tuple[str, str, frozenset[str]], RequestedForm] = {}
    for x in _asked(scop, tree):
        key = x.word, x.loop, x.stmts
        if key not in found or x.done:
            found[key] = x
    return tuple(found.values())


def _asked(scop: Scop, node: CNode) -> Iterator[RequestedForm]:
    if isinstance(node, For):
        stmts = frozenset(x.stmt for x in walk(node) if isinstance(x, Instance))
        name, done = node.loop.name, node.form is not None or node.alone is not None
        if node.loop.kind in (JAMMED, INTERLEAVED):
            word = "jam" if node.loop.kind == JAMMED else "interleave"
            yield RequestedForm(word, name, stmts, done, "" if done else _why_not_rows(scop, node))
        if node.loop.carry:
            kept = isinstance(node.form, ScalarReplacement)
            why = "" if kept else "it uses no element again that is sure to stay"
            yield RequestedForm("scalar_replace", name, stmts, kept, why)
        if node.loop.width:
            yield RequestedForm("vector", name, stmts, done, "" if done else _why_not_lanes(scop, node))
        inner = node.body
        if node.loop.kind == JAMMED and isinstance(node.form, Strips) and isinstance(inner, For) and inner.loop.width:
            first = node.form.parts[0]
            rows = isinstance(first, While) and isinstance(first.body[0], (Strips, ByWidth))
            yield RequestedForm("vector", inner.loop.name, stmts, rows, "" if rows else _why_not_lanes(scop, inner))
            return
    for kid in node_kids(node):
        yield from _asked(scop, kid)


def _why_not_lanes(scop: Scop, node: For) -> str:
    found = assignments(scop, node.body)
    if found is None:
        inner = any(isinstance(x, For) for x in walk(node.body))
        return (
            "lanes cannot run through the loops inside it together"
            if inner
            else "it holds more than assignments, made in any case, to elements that have one type"
        )
    if node.loop.reductions:
        return "what it gathers has no form in vectors"
    if node.step != 1 or node.loop.kind != VECTOR:
        return "it takes no single steps on one thread"
    lanes = lanes_asked(scop, node, found)
    if lanes is None:
        return "its elements have several types, or one of which a vector holds less than two or that has no vectors"
    for s, at in found:
        moves = loop_strides(s, at, node.var)
        if s.op == "=" and stays(moves, s.rhs):
            return f"{s.name} (`{s.source}`) stores one value in all lanes, as compilers do, too"
        if not fits(scop, s, moves, lanes.elem, MOST_APART):
            return f"lanes cannot compute {s.name} (`{s.source}`), or it does not step through its target"
    return "it has no form in vectors"


def _why_not_rows(scop: Scop, node: For) -> str:
    body = node.body.body if isinstance(node.body, For) and node.loop.kind == JAMMED else node.body
    if assignments(scop, body, inside=node.loop.kind == INTERLEAVED) is None:
        return "there is more inside than assignments, made in any case, to elements that have one type"
    if isinstance(node.body, For) and node.var in expr_names(node.body.lower) | expr_names(node.body.upper):
        return "the loop inside begins or ends elsewhere in other iterations"
    return "it takes no single steps"
