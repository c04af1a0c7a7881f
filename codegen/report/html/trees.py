"""Schedule trees as rows for the report page (`rows_of`), and for each directive of a plan the rows before and after
it, with what differs marked (`steps`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from codegen.diagnostics import InputError
from codegen.plan.model import Plan
from codegen.plan.text import show_directive
from codegen.report.directive_sentences import sentence
from codegen.report.html.model import StepView, TreeRow
from codegen.report.html.panes import hue_of
from codegen.scop.tree import INTERLEAVED, JAMMED, ON_THREADS, VECTOR, Band, Hold, Leaf, Loop, Node, kids
from codegen.transform.apply import apply
from codegen.transform.program import Program

Rows = tuple[TreeRow, ...]
NEAR = 4  # rows shown around a change


def rows_of(node: Node, depth: int = 0) -> Rows:
    """One row for each loop and each statement."""
    if isinstance(node, Leaf):
        return (TreeRow(depth, node.stmt, "leaf", hue=hue_of(node.stmt)),)
    if isinstance(node, Hold):
        names = ", ".join(s.array for s in node.slots)
        return (TreeRow(depth, f"storage for {names}", "hold"), *rows_of(node.child, depth + 1))
    if isinstance(node, Band):
        heads = tuple(TreeRow(depth + k, loop_words(lp), loop_kinds(lp, node)) for k, lp in enumerate(node.loops))
        return (*heads, *rows_of(node.child, depth + len(node.loops)))
    return tuple(row for child in kids(node) for row in rows_of(child, depth))


def loop_words(lp: Loop) -> str:
    """A loop in words."""
    extra = [x for x in (lp.kind, lp.note) if x]
    return f"loop {lp.name}" + (f" ({', '.join(extra)})" if extra else "")


def loop_kinds(lp: Loop, band: Band) -> str:
    """Words for the style of a loop."""
    kinds = ["loop"]
    if lp.kind in ON_THREADS:
        kinds.append("threads")
    elif lp.kind in (VECTOR, JAMMED, INTERLEAVED):
        kinds.append("lanes")
    if lp.tile:
        kinds.append("tiles")
    return " ".join([*kinds, "product"] if band.product is not None else kinds)


def steps(p: Program, plan: Plan) -> tuple[StepView, ...]:
    """Every directive with the tree before and after it."""
    out: list[StepView] = []
    before = rows_of(p.tree)
    for d in plan.directives:
        try:
            p = apply(p, d)
        except InputError:  # only legal together with what follows; the whole plan is proven elsewhere
            break
        after = rows_of(p.tree)
        name = "\n".join(show_directive(d, p.scop))
        out.append(StepView(name, sentence(d), *marked(before, after)))
        before = after
    return tuple(out)


def marked(before: Rows, after: Rows) -> tuple[Rows, Rows]:
    """Both with what differs marked, and only what is near it."""
    old, new = ([(r.depth, r.text, r.kinds) for r in rows] for rows in (before, after))
    parts = [x[1:] for x in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if x[0] != "equal"]
    return _around(before, [(a1, a2) for a1, a2, _, _ in parts]), _around(after, [(b1, b2) for _, _, b1, b2 in parts])


def _around(rows: Rows, changed: Sequence[tuple[int, int]]) -> Rows:
    """The rows near a change; the others between them become one."""
    out: list[TreeRow] = []
    for k, r in enumerate(rows):
        if any(first - NEAR <= k < last + NEAR for first, last in changed):
            out.append(replace(r, new=any(first <= k < last for first, last in changed)))
        elif not out or out[-1].kinds != "more":
            out.append(TreeRow(r.depth, "⋯", "more"))
    return tuple(out)
