"""Strides of a statement's accesses along one loop of the C tree, for vectorization."""

from __future__ import annotations

from codegen.ast.ctree import Instance, expr_names
from codegen.ast.linear import coefficient
from codegen.recognize.lanes import LoopStrides, in_row
from codegen.scop.model import Statement


def loop_strides(s: Statement, at: Instance, var: str) -> LoopStrides:
    """Strides of all accesses along the loop over `var`, and which affine values change with it."""
    return LoopStrides(
        tuple(row_stride(s, at, k, var) for k in range(len(s.accesses))),
        tuple(var in expr_names(v) for v in at.values),
        at.accesses,
    )


def row_stride(s: Statement, at: Instance, number: int, var: str) -> int | None:
    """The stride of an access within its row, in elements; None where it leaves the row."""
    index = at.accesses[number]
    if not any(var in expr_names(e) for e in index):
        return 0
    moves = [coefficient(e, var) for e in index]
    row = in_row(s.accesses[number], len(index))
    return moves[-1] if row and None not in moves and not any(moves[:-1]) else None


def unit_stride(s: Statement, at: Instance, number: int, var: str) -> int | None:
    """The stride of an access where it is 0, 1 or -1; None for anything else."""
    step = row_stride(s, at, number, var)
    return step if step in (0, 1, -1) else None
