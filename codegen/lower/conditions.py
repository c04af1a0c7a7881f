"""Loop unswitching: finds the conditions on data that all statements of an innermost loop share and that are invariant
in it, to be tested once, ahead of it (`asked_ahead`), and returns statements without them (`without_conditions`).

An `if` of the source around a loop becomes a condition of every statement in it, and compilers that were told to use
vectors make masks of it: mix_down takes 3.8 of its time as written.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.ast.ctree import Block, For, Instance, expr_names
from codegen.lower.shift import runs_for_sure
from codegen.lower.statements import Statements
from codegen.scop.expr import Affine, Call, Expr, Gather, Ref, Ternary, walk
from codegen.scop.model import Scop, Statement


def asked_ahead(scop: Scop, node: For) -> tuple[bool, ...]:
    """For each condition, outermost first, under which all statements of an innermost loop do something at all and
    that stays the same: whether it may be asked only where the loop runs, since it reads memory."""
    body = node.body.children if isinstance(node.body, Block) else (node.body,)
    found: Statements = tuple((scop.statement(x.stmt), x) for x in body if isinstance(x, Instance))
    if len(found) != len(body) or node.carried or node.loop.reductions:
        return ()
    out = []
    while _shared(node, found):
        (s, _), *_ = found
        assert isinstance(s.rhs, Ternary)
        read = [scop.arrays[s.accesses[e.access].array] for e in walk(s.rhs.cond) if isinstance(e, (Ref, Gather))]
        out.append(not all(a.inside for a in read) and not runs_for_sure(node))
        found = tuple((without_condition(s), at) for s, at in found)
    return tuple(out)


def without_condition(s: Statement) -> Statement:
    """A statement as it is where its condition holds."""
    assert isinstance(s.rhs, Ternary)
    return replace(s, rhs=s.rhs.yes)


def without_conditions(s: Statement, count: int) -> Statement:
    """A statement as it is where so many of its conditions hold."""
    for _ in range(count):
        s = without_condition(s)
    return s


def _shared(node: For, found: Statements) -> bool:
    """Is there a condition of all statements that stays the same?"""
    written = {s.accesses[s.target].array for s, _ in found}
    conds = []
    for s, at in found:
        if not isinstance(s.rhs, Ternary) or not s.rhs.branch or not _keeps(s, at, s.rhs.no):
            return False
        if not _stays(s, at, s.rhs.cond, node.var, written):
            return False
        conds.append((s.rhs.cond, [_place(s, at, e) for e in walk(s.rhs.cond)]))
    return all(c == conds[0] for c in conds[1:])


def _keeps(s: Statement, at: Instance, value: Expr) -> bool:
    """Does storing the value leave the target as it is?"""
    if s.op != "=" or not isinstance(value, Ref):
        return False
    a, b = s.accesses[value.access], s.accesses[s.target]
    return (a.array, a.path) == (b.array, b.path) and at.accesses[value.access] == at.accesses[s.target]


def _stays(s: Statement, at: Instance, cond: Expr, var: str, written: set[str]) -> bool:
    """Is the condition the same in all iterations?"""
    for e in walk(cond):
        if isinstance(e, Call):
            return False
        if isinstance(e, Affine) and var in expr_names(at.values[e.value]):
            return False
        if isinstance(e, (Ref, Gather)):
            index = at.accesses[e.access]
            if s.accesses[e.access].array in written or any(var in expr_names(x) for x in index):
                return False
    return True


def _place(s: Statement, at: Instance, e: Expr) -> object:
    """What a leaf stands for, whatever its number in the statement."""
    if isinstance(e, Ref):
        a = s.accesses[e.access]
        return a.array, a.path, at.accesses[e.access]
    return at.values[e.value] if isinstance(e, Affine) else None
