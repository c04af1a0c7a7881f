"""Puts two matrix-vector products of one matrix, one along its lines and one across them, on a few threads that follow
each other: a thread takes some lines of the matrix and goes along them block by block, each element once for both
products, behind the thread of the lines before. Threads that share one product after the other read all of it twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from codegen.isa.widths import WIDTHS
from codegen.machine import Machine
from codegen.plan.model import Directive, Distribute, LoopRef, Multiply, Pipeline, Plan, Schedule, Tile
from codegen.scop.product import MatrixVector
from codegen.scop.tree import Band, Leaf, Loop, Node, enclosing, parts_of, seq
from codegen.strategy.author import Author
from codegen.strategy.choice import Decision
from codegen.transform.program import Program
from codegen.transform.tile import tiles_of

# Lines that a thread takes, and elements along them between two looks at the one before it. Cascade Lake, two threads,
# f64, bicg 600, 1000 and 2100 x 1900 in ms: 64 by 256 0.125, 0.31, 1.56; 64 by 512 0.167, 0.34, 1.67; 64 by 1024 0.163,
# 0.51, 1.78; 16 by 512 0.184, 0.37, 1.73; 32 by 512 0.178, 0.36, 1.57; 128 by 512 0.195, 0.35, 1.78.
LINES, ALONG = 64, 256
# Lines and elements along them that each of the threads needs, and with how many threads at most there are enough
# blocks along a line for each of them. Two threads, bicg n = 300, 400, 500 in us: 42, 50 and 62, one 28, 50 and 87.
SIDE, MOST_THREADS = 200, 4
# Lines of a strip whose products threads share: enough work for two meetings, few enough for their second caches.
WIDE, WIDE_SIDE = 64, 500


def behind(source: Program, plan: Plan, machine: Machine) -> Decision | None:
    """The plan of a region, with each pair of such products in one nest of lines that follow each other on threads.
    None where it has no such pair."""
    first, *rest = plan.directives
    if not isinstance(first, Schedule):
        return None
    products = {d.stmt: d for d in rest if isinstance(d, Multiply)}
    nodes, cuts = list[Node](), list[Directive]()
    follow, turned = list[Directive](), dict[str, Multiply]()
    left = list(parts_of(first.tree))
    while left:
        pair = _pair(left[:2], products)
        if pair is None:
            nodes.append(left.pop(0))
            continue
        nodes.append(_together(left[:2], pair))
        left = left[2:]
        lines, along = (LoopRef(n, pair[0].stmt) for n in (*pair[0].rows, *pair[0].depth))
        cuts += (Tile(((lines, LINES), (along, ALONG))), Distribute(along), Distribute(lines))
        tiles = tiles_of(source.scop, enclosing(first.tree, pair[0].stmt), (lines.name, along.name))
        follow.append(Pipeline(replace(lines, name=tiles[lines.name]), replace(along, name=tiles[along.name])))
        across, other = pair
        turned[other.stmt] = replace(other, rows=across.depth, depth=across.rows)
    if not follow:
        return None
    kept = [turned.get(d.stmt, d) if isinstance(d, Multiply) else d for d in rest]
    author = Author(source, [], [], machine)
    if not author.all_or_none((Schedule(seq(nodes)), *cuts, *kept, *follow)):
        return None
    return Decision(replace(plan, directives=tuple(author.directives)), (), author.p)


def wider_strips(source: Program, plan: Plan, machine: Machine) -> Decision | None:
    """The plan of a region in strips for one thread, with strips that are wide enough for a few to share."""
    changed = [_wider(d) for d in plan.directives]
    author = Author(source, [], [], machine)
    if sum(isinstance(d, Tile) for d in changed) != 1 or not author.all_or_none(changed):
        return None
    return Decision(replace(plan, directives=tuple(changed)), (), author.p)


def _wider(d: Directive) -> Directive:
    if isinstance(d, Tile):
        return replace(d, loops=((d.loops[0][0], WIDE),))
    if not isinstance(d, Multiply) or not isinstance(d.how, MatrixVector):
        return d
    # All products of a strip are shared, whatever the vectors.
    return replace(d, how=replace(d.how, threads=d.how.threads * WIDTHS[0] // WIDTHS[-1]))


def _pair(nodes: Sequence[Node], products: Mapping[str, Multiply]) -> tuple[Multiply, Multiply] | None:
    """The product along lines of a matrix and the one across them, if these are nests of their own that stand beside
    each other and were found to share a kernel."""
    found = [_product(n, products) for n in nodes]
    if len(found) != 2 or found[0] is None or found[1] is None:
        return None
    one, two = sorted((d for d in found if d is not None), key=lambda d: _how(d).form)
    fits = (_how(one).form, _how(two).form) == ("across", "lanes") and _how(one).pair
    return (one, two) if fits else None


def _product(node: Node, products: Mapping[str, Multiply]) -> Multiply | None:
    """The matrix-vector product that a nest of two loops is."""
    if not isinstance(node, Band) or not isinstance(node.child, Leaf) or len(node.loops) != 2:
        return None
    d = products.get(node.child.stmt)
    return d if d is not None and isinstance(d.how, MatrixVector) else None


def _how(d: Multiply) -> MatrixVector:
    assert isinstance(d.how, MatrixVector)
    return d.how


def _together(nodes: Sequence[Node], pair: tuple[Multiply, Multiply]) -> Band:
    """One nest of both products, lines of the matrix outside."""
    across, other = pair
    mine, others = _loops(nodes, across), _loops(nodes, other)
    lines = _joined(mine[across.rows[0]], others[other.depth[0]])
    along = _joined(mine[across.depth[0]], others[other.rows[0]])
    return Band(
        (lines, along),
        seq(
            [
                Leaf(n.child.stmt)
                for n in nodes
                if isinstance(n, Band)  # in their order
                and isinstance(n.child, Leaf)
            ]
        ),
        True,
    )


def _loops(nodes: Sequence[Node], d: Multiply) -> dict[str, Loop]:
    band = next(n for n in nodes if isinstance(n, Band) and n.child == Leaf(d.stmt))
    return {lp.name: lp for lp in band.loops}


def _joined(lp: Loop, other: Loop) -> Loop:
    return Loop(lp.name, {**lp.exprs, **other.exprs})
