"""Proof of hoisting in the C tree: subscript values (`For.lets`) and conditions (`For.asked`) computed ahead of a loop.
They must not change in the loop; a condition must be that of all its statements, which store nothing without it, and
be safe to evaluate early. Returns what is wrong, or the empty string."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.ast.ctree import Block, For, Instance, expr_names, walk
from codegen.ast.normal_forms import difference, form
from codegen.scop.expr import Affine, Call, Expr, Gather, Ref, Ternary, children
from codegen.scop.expr import walk as parts
from codegen.scop.model import Scop, Statement
from codegen.verify.lowered.elements import at_index


def wrong_lets(lp: For, params: Sequence[str]) -> str:
    """What is wrong with names for values; empty where each is known ahead of the loop. Whether it is the right one is
    asked of the subscripts that use it."""
    inside = {x.var for x in walk(lp) if isinstance(x, For)} | {n for n, _ in lp.lets}
    for name, e in lp.lets:
        if expr_names(e) & inside:
            return "a subscript is computed that changes in it"
        if name in params or [n for n, _ in lp.lets].count(name) > 1:
            return "one name stands for two values"
    return ""


def wrong_conditions(scop: Scop, lp: For) -> str:
    """What is wrong with conditions that are asked ahead of a loop; empty where all its statements have them, where
    nothing in it changes what they read, and where without them nothing is stored."""
    body = lp.body.children if isinstance(lp.body, Block) else (lp.body,)
    found = [(scop.statement(x.stmt), x) for x in body if isinstance(x, Instance)]
    if len(found) != len(body) or lp.form is not None or lp.alone is not None or lp.loop.reductions:
        return "a condition is asked for more than plain statements"
    written = {a.array for s, _ in found for a in s.accesses if a.write}
    total = difference(form(lp.upper), form(lp.lower))
    sure = total is not None and total + (lp.op != "<") > 0
    for tested in lp.asked:
        for s, at in found:
            problem = _wrong(scop, s, at, lp, written, tested or sure)
            if problem:
                return f"the condition of {s.name} (`{s.source}`) is asked, {problem}"
        conds = [_meaning(s, at, s.rhs.cond) for s, at in found if isinstance(s.rhs, Ternary)]
        if any(c != conds[0] for c in conds[1:]):
            return "one condition is asked for statements that have several"
        found = [(replace(s, rhs=s.rhs.yes), at) for s, at in found if isinstance(s.rhs, Ternary)]
    return ""


def _wrong(scop: Scop, s: Statement, at: Instance, lp: For, written: set[str], runs: bool) -> str:
    if s.op != "=" or not isinstance(s.rhs, Ternary) or not s.rhs.branch or not isinstance(s.rhs.no, Ref):
        return "which stores without it, too"
    if at_index(s, s.rhs.no.access, at.accesses[s.rhs.no.access]) != at_index(s, s.target, at.accesses[s.target]):
        return "which stores without it, too"
    for e in parts(s.rhs.cond):
        if isinstance(e, Call):
            return "which calls a function"
        if isinstance(e, Affine) and lp.var in expr_names(at.values[e.value]):
            return "which changes in it"
        if isinstance(e, (Ref, Gather)):
            array = s.accesses[e.access].array
            if array in written or any(lp.var in expr_names(x) for x in at.accesses[e.access]):
                return f"which changes in it by `{array}`"
            if not runs and not scop.arrays[array].inside:
                return f"and `{array}` may not be there"
    return ""


def _meaning(s: Statement, at: Instance, e: Expr) -> object:
    """What tells the value of an expression from others."""
    if isinstance(e, Ref):
        return at_index(s, e.access, at.accesses[e.access])
    if isinstance(e, Affine):
        return form(at.values[e.value]), e.ctype
    what: object = e if not children(e) else (type(e).__name__, getattr(e, "op", getattr(e, "type_text", "")))
    if isinstance(e, Gather):
        what = s.accesses[e.access].array, s.accesses[e.access].path
    return what, tuple(_meaning(s, at, x) for x in children(e))
