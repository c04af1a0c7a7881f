"""How statements of a C tree move with one of its loops."""

from __future__ import annotations

from codegen.ast.ctree import Bin, CExpr, Instance, Int, Name, Neg, expr_names
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


def coefficient(e: CExpr, var: str) -> int | None:
    """What a step of the variable adds to the expression; None where that is not a constant."""
    if var not in expr_names(e):
        return 0
    if isinstance(e, Name):
        return 1
    if isinstance(e, Neg):
        inner = coefficient(e.arg, var)
        return None if inner is None else -inner
    if isinstance(e, Bin) and e.op in ("+", "-", "*"):
        if e.op == "*":
            inner = coefficient(e.right, var)
            return e.left.value * inner if isinstance(e.left, Int) and inner is not None else None
        a, b = coefficient(e.left, var), coefficient(e.right, var)
        return None if a is None or b is None else a + b if e.op == "+" else a - b
    return None
