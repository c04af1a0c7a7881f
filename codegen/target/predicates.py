"""Conditions on data that stay the same in all iterations of a loop: asked once, ahead of it.

An `if` of the source around a loop becomes a condition of every statement in it, and compilers that were told to use
vectors make masks of it: mix_down takes 3.8 of its time as written.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.ast.ctree import Block, For, Instance, expr_names
from codegen.record import record
from codegen.scop.expr import Affine, Call, Expr, Gather, Ref, Ternary, walk
from codegen.scop.model import Scop, Statement


@record
class Asked:
    """The condition, a statement and its instance to print it with, the loop and the region without it. `memory`: it
    reads more than variables of the region."""

    cond: Expr
    statement: Statement
    at: Instance
    loop: For
    scop: Scop
    memory: bool


def asked_once(scop: Scop, node: For) -> Asked | None:
    """The condition under which all statements of an innermost loop do something at all, if it stays the same."""
    body = node.body.children if isinstance(node.body, Block) else (node.body,)
    found = [(scop.statement(x.stmt), x) for x in body if isinstance(x, Instance)]
    if len(found) != len(body) or node.carried or node.loop.reductions:
        return None
    written = {s.accesses[s.target].array for s, _ in found}
    conds = []
    for s, at in found:
        if not isinstance(s.rhs, Ternary) or not s.rhs.branch or not _keeps(s, at, s.rhs.no):
            return None
        if not _stays(s, at, s.rhs.cond, node.var, written):
            return None
        conds.append((s.rhs.cond, [_place(s, at, e) for e in walk(s.rhs.cond)]))
    if any(c != conds[0] for c in conds[1:]):
        return None
    changed = {s.name: replace(s, rhs=s.rhs.yes) for s, _ in found if isinstance(s.rhs, Ternary)}
    statements = tuple(changed.get(s.name, s) for s in scop.statements)
    s, at = found[0]
    read = [scop.arrays[s.accesses[e.access].array] for e in walk(conds[0][0]) if isinstance(e, (Ref, Gather))]
    needed = {name: {e.access for e in walk(x.rhs) if isinstance(e, Ref)} for name, x in changed.items()}
    ahead = tuple(x for x in node.ahead if x.access in needed[x.at.stmt])  # what the condition reads is not among them
    loop, rest = replace(node, ahead=ahead), replace(scop, statements=statements)
    return Asked(conds[0][0], s, at, loop, rest, not all(a.inside for a in read))


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
