"""The loop tree: a nest that computes, a nest that writes the result back, and a cursor on the first one.

Written as text, outermost loop first: `i28 j8* k192 i4 j16 | i28 i4 j128`. The star is the cursor, `|` stands before
the nest that writes back, `j1+32` is a loop of size 1 with a tail of 32, `i64[B]` packs the part of B that is used
below into a buffer before the loop starts. A variable whose name ends in a digit is written `i1:28`.
"""

from __future__ import annotations

from typing import NamedTuple

from codegen.lower.nest.contraction import Contraction
from codegen.lower.nest.contraction import show as show_problem
from codegen.lower.nest.loops import BadTree, Loop, check_nest, inner, joined, parse_nest, show_nest, steps

__all__ = [
    "BadTree", "Loop", "Tree", "inner", "joined", "key", "loops", "parse", "shared", "show", "show_nest", "start",
    "steps",
]  # fmt: skip


class Tree(NamedTuple):
    """`compute` and `write` are nests, outermost first; their common prefix is one set of loops. The cursor is an index
    into `compute`."""

    problem: Contraction
    compute: tuple[Loop, ...]
    write: tuple[Loop, ...]
    cursor: int = 0


def start(problem: Contraction) -> Tree:
    """The untuned tree: C's variables but the last, the sums, the last one of C; for matrices i, k, j."""
    sizes = dict(problem.sizes)
    order = (*problem.c[:-1], *problem.reductions, *problem.c[-1:])
    compute = tuple(Loop(v, sizes[v]) for v in order)
    return Tree(problem, compute, tuple(Loop(v, sizes[v]) for v in problem.c))


def shared(tree: Tree) -> int:
    """The length of the prefix that both nests have."""
    count = 0
    for a, b in zip(tree.compute, tree.write, strict=False):
        if a[:3] != b[:3]:
            break
        count += 1
    return count


def loops(tree: Tree) -> int:
    """How many loops the tree has; shared ones count once."""
    return len(tree.compute) + len(tree.write) - shared(tree)


def key(tree: Tree) -> str:
    """What the generated code depends on: the contraction and the order of its points, without the cursor."""
    return f"{show_problem(tree.problem)} : {show_nest(joined(tree.compute))}"


def show(tree: Tree) -> str:
    """The loops as one line, read back by `parse`."""
    return f"{show_nest(tree.compute, tree.cursor)} | {show_nest(tree.write)}"


def parse(text: str, problem: Contraction) -> Tree:
    """The tree of a line. Without `|`, the write nest is that of the start; without `*`, the cursor is on the first."""
    left, bar, right = text.partition("|")
    compute, cursor = parse_nest(left, problem)
    check_nest(compute, problem)
    if not bar:
        return Tree(problem, compute, start(problem).write, cursor)
    write, _ = parse_nest(right, problem)
    if {loop.var for loop in write} != set(problem.c):
        raise BadTree("the nest that writes back must have the variables of C")
    return Tree(problem, compute, write, cursor)
