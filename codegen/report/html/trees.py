"""Schedule trees as rows, and what each directive of a plan makes of them."""

from __future__ import annotations

from dataclasses import replace
from difflib import SequenceMatcher

from codegen.diagnostics import InputError
from codegen.plan.model import Plan
from codegen.plan.text import show_directive
from codegen.report.html.model import StepView, TreeRow
from codegen.scop.tree import CONCURRENT, THREADED, Band, Hold, Leaf, Loop, Node, kids
from codegen.transform.apply import apply
from codegen.transform.program import Program

Rows = tuple[TreeRow, ...]
NEAR = 4  # rows shown around a change


def rows_of(node: Node, depth: int = 0) -> Rows:
    """One row for each loop and each statement."""
    if isinstance(node, Leaf):
        return (TreeRow(depth, node.stmt, "leaf"),)
    if isinstance(node, Hold):
        names = ", ".join(s.array for s in node.slots)
        return (TreeRow(depth, f"storage for {names}", "hold"), *rows_of(node.child, depth + 1))
    if isinstance(node, Band):
        heads = tuple(TreeRow(depth + k, _words(lp), _kinds(lp, node)) for k, lp in enumerate(node.loops))
        return (*heads, *rows_of(node.child, depth + len(node.loops)))
    return tuple(row for child in kids(node) for row in rows_of(child, depth))


def _words(lp: Loop) -> str:
    extra = [x for x in (lp.kind, lp.note) if x]
    return f"loop {lp.name}" + (f" ({', '.join(extra)})" if extra else "")


def _kinds(lp: Loop, band: Band) -> str:
    kinds = ["loop"]
    if lp.kind in THREADED:
        kinds.append("threads")
    elif lp.kind in CONCURRENT:
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
        out.append(StepView(name, *_compare(before, after)))
        before = after
    return tuple(out)


def _compare(before: Rows, after: Rows) -> tuple[Rows, Rows]:
    """Both with what differs marked."""
    old, new = ([(r.depth, r.text, r.kinds) for r in rows] for rows in (before, after))
    marked = (list(before), list(after))
    for what, a1, a2, b1, b2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            for rows, first, last in ((marked[0], a1, a2), (marked[1], b1, b2)):
                rows[first:last] = [replace(r, new=True) for r in rows[first:last]]
    return _around(marked[0]), _around(marked[1])


def _around(rows: list[TreeRow]) -> Rows:
    """The rows near one that changed; the others between them become one."""
    near = {j for k, r in enumerate(rows) if r.new for j in range(k - NEAR, k + NEAR + 1)}
    out: list[TreeRow] = []
    for k, r in enumerate(rows):
        if k in near:
            out.append(r)
        elif not out or out[-1].kinds != "more":
            out.append(TreeRow(r.depth, "⋯", "more"))
    return tuple(out)
