"""Converts a loop tree to a graph: loops, data and computations as nodes; edges for nesting, for data flow, and for
strides.

T0 is the product, which never leaves a register; T1 is the sum, laid out as C.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from codegen.record import record
from codegen.tune.contraction import strides
from codegen.tune.tree import Loop, Tree, shared, show_nest, steps


@record
class GraphNode:
    """`kind` is loop, data or computation."""

    name: str
    kind: str
    label: str


@record
class GraphEdge:
    """`kind` is nesting, flow or stride; `stride` is in elements, for one more iteration of the loop."""

    source: str
    target: str
    kind: str
    stride: int = 0


@record
class Graph:
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


def graph(tree: Tree) -> Graph:
    """The graph of a tree; loops are named L0, L1, ... in the order of the observation."""
    names = tuple(f"L{n}" for n in range(len(tree.compute) + len(tree.write) - shared(tree)))
    compute = names[: len(tree.compute)]
    write = (*names[: shared(tree)], *names[len(tree.compute) :])
    loop_of = {**dict(zip(compute, tree.compute, strict=True)), **dict(zip(write, tree.write, strict=True))}
    nodes = (
        *(GraphNode(n, "loop", show_nest((loop_of[n],))) for n in names),
        *(GraphNode(n, "data", n) for n in ("A", "B", "T0", "T1", "C")),
        *(GraphNode(n, "computation", n) for n in ("mul", "add", "write")),
    )
    edges = (
        *_nesting((*compute, "mul")),
        *_nesting((*compute, "add"))[-1:],
        *_nesting((*write, "write"))[max(shared(tree) - 1, 0) :],
        *_flow(),
        *_strided(tree, compute, tree.compute, ("A", "B")),
        *_strided(tree, compute, tree.compute, ("T1",)),
        *_strided(tree, write[shared(tree) :], tree.write[shared(tree) :], ("T1",)),
    )
    return Graph(nodes, edges)


def _nesting(path: tuple[str, ...]) -> tuple[GraphEdge, ...]:
    return tuple(GraphEdge(a, b, "nesting") for a, b in itertools.pairwise(path))


def _flow() -> Iterator[GraphEdge]:
    for chain in (("A", "mul", "T0", "add", "T1", "write", "C"), ("B", "mul")):
        yield from (GraphEdge(a, b, "flow") for a, b in itertools.pairwise(chain))


def _strided(
    tree: Tree, names: tuple[str, ...], nest: tuple[Loop, ...], tensors: tuple[str, ...]
) -> Iterator[GraphEdge]:
    for name, loop, step in zip(names, nest, steps(nest), strict=True):
        for tensor in tensors:
            stride = stride_of(tree, tensor, loop.var) * step
            if stride:
                yield GraphEdge(name, tensor, "stride", stride)


def stride_of(tree: Tree, tensor: str, var: str) -> int:
    """How far an array is read when a variable grows by one; the sum T1 is laid out as C."""
    return strides(tree.problem, "C" if tensor == "T1" else tensor)[var]
