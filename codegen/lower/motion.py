"""Strides of a statement's accesses along one loop of the C tree."""

from __future__ import annotations

from codegen.ast.ctree import Instance, expr_names
from codegen.ast.linear import coefficient
from codegen.recognize.lanes import Motion, in_row
from codegen.scop.model import Statement


def motion(s: Statement, at: Instance, var: str) -> Motion:
    """How the statement moves with the loop over `var`."""
    return Motion(
        tuple(step_of(s, at, k, var) for k in range(len(s.accesses))),
        tuple(var in expr_names(v) for v in at.values),
        at.accesses,
    )


def step_of(s: Statement, at: Instance, number: int, var: str) -> int | None:
    """By how many elements of one row the access moves with the loop; None where it leaves the row."""
    index = at.accesses[number]
    if not any(var in expr_names(e) for e in index):
        return 0
    moves = [coefficient(e, var) for e in index]
    row = in_row(s.accesses[number], len(index))
    return moves[-1] if row and None not in moves and not any(moves[:-1]) else None


def strides(s: Statement, at: Instance, number: int, var: str) -> int | None:
    """By how many elements the access moves with the loop: 0, 1, -1, or None for anything else."""
    step = step_of(s, at, number, var)
    return step if step in (0, 1, -1) else None
