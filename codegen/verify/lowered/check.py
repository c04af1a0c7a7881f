"""Proof of lowered loops (`ast/lowered.py`): each form does what the loop itself says.

The other proofs read the loop; here its form is read and compared with it, with nothing taken from the pass that made
it. A form is right if it runs the iterations of the loop, each statement of each iteration on the same elements, and
keeps the order of all that the loop itself has to keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codegen.ast.ctree import Block, CNode, For, Instance, expr_names, walk
from codegen.ast.lowered import (
    Ahead,
    Body,
    Form,
    Inner,
    Interleaved,
    Item,
    Plain,
    ScalarReplacement,
    Split,
    Strips,
    Together,
)
from codegen.ast.normal_forms import difference, form
from codegen.recognize.access.dereferenceable import certain
from codegen.scop.expr import Ternary
from codegen.scop.model import Statement
from codegen.scop.tree import CONCURRENT
from codegen.verify.evidence import Evidence, Finding
from codegen.verify.lowered.conditions import wrong_conditions, wrong_lets
from codegen.verify.lowered.counters import counts_in_int
from codegen.verify.lowered.elements import Box, Dim, Wrong, at_index, same_code
from codegen.verify.lowered.inner_loops import check_inner, check_split, check_together
from codegen.verify.lowered.scalar_replacement import check_scalar_replacement
from codegen.verify.lowered.strips import check_head, check_strips
from codegen.verify.lowered.trace import Trace
from codegen.verify.lowered.variables import BodyContext, Instead, Variable
from codegen.verify.lowered.widths import written_out
from codegen.verify.readback import StatementRun
from codegen.verify.scalar_replacement import written_before

LOOPS = (Inner, Together, Split, Strips)


def wrong_form(e: Evidence) -> Sequence[Finding]:
    """Every loop with a form runs as the loop itself would, and what is read ahead of one is what it would read."""
    out: list[Finding] = []
    for lp, inside in _loops(e):
        written = frozenset(_written(e, lp))
        for f in (lp.form, lp.alone):
            try:
                for each in () if f is None else written_out(f):
                    check_form(BodyContext(e.scop, None, "", written), lp, each)
            except Wrong as wrong:
                out.append(Finding("form", f"loop `{lp.loop.name}`, as it is carried out, {wrong}"))
        problem = _wrong_ahead(e, lp, inside) if lp.ahead or lp.sure else ""
        problem = problem or (wrong_conditions(e.scop, lp) if lp.asked else "")
        problem = problem or (wrong_lets(lp, [p.name for p in e.scop.params]) if lp.lets else "")
        if lp.narrow and not counts_in_int(e.scop, lp):
            out.append(Finding("form", f"loop `{lp.loop.name}` counts in an int, beyond which it may go"))
        if problem:
            out.append(Finding("ahead", f"ahead of loop `{lp.loop.name}` {problem}"))
    return out


def _loops(e: Evidence) -> Iterator[tuple[For, list[StatementRun]]]:
    seen: dict[int, tuple[For, list[StatementRun]]] = {}
    for r in e.runs:
        for lp in r.point.loops:
            if lp.otherwise:
                seen.setdefault(id(lp), (lp, []))[1].append(r)
    return iter(seen.values())


def _written(e: Evidence, lp: For) -> Iterator[str]:
    for x in walk(lp):
        if isinstance(x, Instance):
            s = e.scop.statement(x.stmt)
            yield from (a.array for a in s.accesses if a.write)


def check_form(at: BodyContext, plain: For, f: Form) -> None:
    """Raises Wrong where the form of a loop does not do what the loop does."""
    if isinstance(f, Strips):
        check_strips(_match, at, f, plain, (), {})
        return
    if isinstance(f, ScalarReplacement):
        check_scalar_replacement(at.scop, f, plain)
        return
    assert isinstance(f, Interleaved)
    check_head(f.head, plain, ())
    if plain.step != 1 or f.rest != plain.body:
        raise Wrong("does something else where not all iterations are there")
    box = (Dim(plain.var, f.count, plain.loop.kind in CONCURRENT),)
    _match(replace(at, alike=frozenset(plain.loop.alike)), plain.body, f.body, box, {})


def _match(at: BodyContext, plain: CNode, body: Body, box: Box, variables: dict[str, Variable]) -> dict[str, Variable]:
    """Does a body do in all iterations of a box what the plain one does? The result has what its variables then are."""
    children = plain.children if isinstance(plain, Block) else (plain,)
    if all(isinstance(x, Plain) for x in body):
        _check_plain(children, [x.node for x in body if isinstance(x, Plain)], box, variables)
        return variables
    left = list(body)
    group: list[Instance] = []
    for child in (*children, None):
        if isinstance(child, Instance):
            group.append(child)
            continue
        if group:
            variables = _statements(at, group, left, box, variables)
            group = []
        if isinstance(child, For):
            if not left or not all(d.free or d.size == 1 for d in box):
                raise Wrong(f"leaves out `{child.loop.name}`")
            _loop(at, child, left.pop(0), box, variables)
        elif child is not None:
            raise Wrong("has something else than loops and statements")
    if left:
        raise Wrong("does more than is to be done")
    return variables


def _statements(
    at: BodyContext, group: Sequence[Instance], left: list[Item], box: Box, variables: dict[str, Variable]
) -> dict[str, Variable]:
    """Statements up to the next loop."""
    trace = Trace(at, group, box, dict(variables))
    while left and not isinstance(left[0], LOOPS):
        trace.run([left.pop(0)])
    trace.finish()
    return trace.variables


def _loop(at: BodyContext, plain: For, x: Item, box: Box, variables: dict[str, Variable]) -> None:
    if isinstance(x, Strips):
        check_strips(_match, at, x, plain, box, variables)
    elif isinstance(x, Inner):
        check_inner(_match, at, x, plain, box, variables)
    elif isinstance(x, Together):
        check_together(_match, at, x, plain, box, variables)
    elif isinstance(x, Split):
        check_split(_match, at, x, plain, box, variables)
    else:
        raise Wrong(f"has statements in place of `{plain.loop.name}`")


def _check_plain(
    children: Sequence[CNode], nodes: Sequence[CNode], box: Box, variables: dict[str, Variable]
) -> None:
    """A part of the tree as it is: for one iteration, and the very part."""
    flat = [c for n in nodes for c in (n.children if isinstance(n, Block) else (n,))]
    if any(d.size > 1 for d in box):
        raise Wrong("runs one iteration in place of several")
    if any(isinstance(v, Instead) for v in variables.values()):
        raise Wrong("uses elements in memory while variables have them")
    same = len(flat) == len(children) and all(same_code(a, b) for a, b in zip(flat, children, strict=True))
    if not same:
        raise Wrong("does something else in single iterations")


def _wrong_ahead(e: Evidence, lp: For, inside: Sequence[StatementRun]) -> str:
    """What is wrong with what is read ahead of a loop; empty where each is what its statement reads, every time."""
    total = difference(form(lp.upper), form(lp.lower))
    if lp.sure and (total is None or total + (lp.op != "<") <= 0):
        return "there is no test, though it may have no iterations"
    if any(r.point.loops[-1] is not lp for r in inside):
        return "something is read for others inside it" if lp.ahead else ""
    elements: dict[str, object] = {}
    for x in lp.ahead:
        problem = _wrong_read(e, lp, inside, x, elements)
        if problem:
            return problem
    return ""


def _under(s: Statement, conditions: int) -> Statement:
    """The statement where so many of its conditions hold. They are asked before anything is read ahead of its loop."""
    for _ in range(conditions):
        s = replace(s, rhs=s.rhs.yes) if isinstance(s.rhs, Ternary) else s
    return s


def _wrong_read(e: Evidence, lp: For, inside: Sequence[StatementRun], x: Ahead, elements: dict[str, object]) -> str:
    s = e.scop.statement(x.at.stmt)
    what = f"`{s.accesses[x.access].array}` in {s.name} (`{s.source}`)"
    mine = [k for k, r in enumerate(inside) if r.instance == x.at]
    if not mine or s.accesses[x.access].write:
        return f"{what} is read, which is not in it"
    element = at_index(s, x.access, x.at.accesses[x.access])
    if elements.setdefault(x.name, element) != element:
        return f"one variable would be two elements, one of them {what}"
    every = lp.body.children if isinstance(lp.body, Block) else (lp.body,)
    if x.at not in every or not any(certain(e.scop, q, x.access) for q in (s, _under(s, len(lp.asked)))):
        return f"{what} is read, which may not be there"
    if any(lp.var in expr_names(i) for i in x.at.accesses[x.access]):
        return f"{what} is read, which moves with it"
    if e.scop.arrays[s.accesses[x.access].array].inside:
        return f"{what} is read, which is of another iteration"
    for k in mine:
        if written_before(e.scop, inside, k, x.access):
            return f"{what} is read, which is written before it is used"
    return ""
