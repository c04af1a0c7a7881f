"""Reads the `schedule` directive, loops around statements with affine values, as a schedule tree; InputError unless
every statement of the region stands in it exactly once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from codegen.diagnostics import InputError, Loc
from codegen.plan.model import Directive, Schedule
from codegen.plan_reader.reader import PlanReader
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import Band, Leaf, Loop, Node, kids, seq, statements, with_kids
from codegen.strategy.orders.isl_schedule import describe
from codegen.transform.formulas import value_of

DEEPEST = 64  # loops inside each other


def schedule(r: PlanReader, at: Loc) -> Directive:
    r.take("{")
    tree = _items(r)
    r.take("}")
    assert r.scop is not None
    have, want = sorted(statements(tree)), sorted(s.name for s in r.scop.statements)
    if have != want:
        raise InputError(
            "bad-plan",
            f"the schedule lists {', '.join(have)} but the region has {', '.join(want)}",
            at,
            "every statement stands in the schedule exactly once",
        )
    return Schedule(_fill(tree, r.scop, r.blocks), at)


@record
class HeadText:
    """A loop as read: its name and the text of its value, for all statements ("") or by statement."""

    name: str
    values: Mapping[str, str]
    loc: Loc


def _items(r: PlanReader, depth: int = 0) -> Node:
    if depth > DEEPEST:
        raise InputError("bad-plan", f"more than {DEEPEST} loops inside each other", r.loc(), "leave some of them out")
    out: list[Node] = []
    while r.peek() not in ("}", ""):
        token = r.word("a loop or a statement")
        if token.text == "loop":
            heads = [read_head(r)]
            while r.accept(","):
                heads.append(read_head(r))
            r.take("{")
            child = _items(r, depth + len(heads))
            r.take("}")
            # Values are filled in once the statements below are known.
            out.append(Band(tuple(Loop(h.name, h) for h in heads), child))  # type: ignore[arg-type]
        else:
            out.append(Leaf(token.text))
    if not out:
        raise InputError("bad-plan", "an empty loop", r.loc(), "put at least one statement into it")
    return seq(out)


def read_head(r: PlanReader) -> HeadText:
    token = r.word("a loop name")
    if not r.accept("="):
        return HeadText(token.text, {}, token.loc)
    if r.accept("("):
        return HeadText(token.text, {"": r.until(")")}, token.loc)
    r.take("{")
    values = {}
    while not r.accept("}"):
        stmt = r.word("a statement").text
        r.take(":")
        if stmt in values:
            raise InputError("bad-plan", f"{stmt} is listed twice", r.loc(), "list each statement once")
        values[stmt] = r.until(";", "}")
        r.accept(";")
    return HeadText(token.text, values, token.loc)


def _fill(node: Node, scop: Scop, blocks: Mapping[str, int], around: tuple[str, ...] = ()) -> Node:
    if isinstance(node, Band):
        below = statements(node)
        for lp in node.loops:
            if lp.name in around:
                why, hint = f"loop {lp.name} is inside a loop of that name", "give one of the two another name"
                raise InputError("bad-plan", why, lp.exprs.loc, hint)  # type: ignore[attr-defined]
            around = (*around, lp.name)
        loops = tuple(_loop(lp.exprs, below, scop, blocks) for lp in node.loops)  # type: ignore[arg-type]
        return Band(loops, _fill(node.child, scop, blocks, around), len(loops) > 1)
    return with_kids(node, tuple(_fill(k, scop, blocks, around) for k in kids(node)))


def _loop(text: HeadText, below: tuple[str, ...], scop: Scop, blocks: Mapping[str, int]) -> Loop:
    exprs = {}
    for name in below:
        value = text.values.get(name, text.values.get("", text.name if not text.values else None))
        if value is None:
            hint = f"list it, as in `{name}: 0`"
            raise InputError("bad-plan", f"loop {text.name} has no value for {name}", text.loc, hint)
        exprs[name] = affine(scop, name, value, text.loc)
    for name in text.values:
        if name and name not in below:
            hint = f"statements there: {', '.join(below)}"
            raise InputError("bad-plan", f"{name} is not in loop {text.name}", text.loc, hint)
    lp = Loop(text.name, exprs)
    note = f"blocks of {blocks[text.name]}" if text.name in blocks else describe(scop, lp)
    return replace(lp, note=note)


def affine(scop: Scop, name: str, value: str, loc: Loc) -> isl.PwAff:
    """A value of a statement's instances, from isl's notation."""
    s = scop.statement(name)
    found = value_of(s, value)
    if found is None:
        raise InputError(
            "bad-plan",
            f"{value!r} is not an affine value of {name}",
            loc,
            f"it may use {', '.join(s.iterators) or 'no iterators'} and the parameters",
        )
    return found
