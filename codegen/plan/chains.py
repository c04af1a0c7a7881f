"""Recurrences along the innermost loop, inside a loop that is free: some rows take turns, so that chains overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from codegen.plan.model import Abreast, Directive, Distribute, LoopRef, Order, Tile
from codegen.plan.wavefront import ROWS
from codegen.scop.tree import Band, Node, Seq, has_band, statements, walk


def chains(tree: Node, free: Callable[[Band], bool]) -> Iterator[tuple[tuple[str, ...], tuple[Directive, ...]]]:
    """For each nest that ends in a sequential loop right inside a parallel one: all statements concerned, and what to
    do: blocks of rows, and in each the sequential loop around the rows. Then a row's next point need not wait for the
    last one, and what lies along columns is read by whole lines. `free` says that no variable of the region lives
    along the loops of a band: one variable would not do for several rows."""
    for _, node in walk(tree):
        if not isinstance(node, Band) or node.product is not None:
            continue
        row = node.loops[-1]
        if not has_band(node.child):
            if len(node.loops) > 1 and not row.coincident and node.loops[-2].coincident and free(node):
                name = statements(node)[0]
                rows, inner = LoopRef(node.loops[-2].name, name), LoopRef(row.name, name)
                cut = (Tile(((rows, ROWS), (inner, 0))), Order((inner, rows)))
                yield statements(node), (*cut, *_abreast(node.child, rows))
        elif row.coincident and isinstance(node.child, Seq):
            inside = [k for k in node.child.children if isinstance(k, Band)]
            if len(inside) == 1 and _is_chain(inside[0]) and free(inside[0]) and free(node):
                name, first = statements(inside[0])[0], statements(node)[0]
                rows, inner = LoopRef(row.name, name), LoopRef(inside[0].loops[0].name, name)
                apart = (Tile(((LoopRef(row.name, first), ROWS),)), Distribute(LoopRef(row.name, first)))
                yield statements(node), (*apart, Order((inner, rows)), *_abreast(inside[0].child, rows))


def _is_chain(band: Band) -> bool:
    alone = len(band.loops) == 1 and band.product is None and not has_band(band.child)
    return alone and not band.loops[0].coincident


def _abreast(body: Node, rows: LoopRef) -> tuple[Directive, ...]:
    """Written out side by side for one statement; for several the registers would not do."""
    return (Abreast(rows),) if len(statements(body)) == 1 else ()
