"""A plan drawn: every loop is a box around what it repeats."""

from __future__ import annotations

from codegen.report.html.draw import rect, text
from codegen.report.html.model import Picture, Shape
from codegen.report.html.trees import loop_kinds, loop_words
from codegen.scop.tree import Band, Hold, Leaf, Node, Seq, kids

WIDTH, HEAD, PAD, GAP, LEAF = 420.0, 22.0, 8.0, 6.0, 24.0


def nest_picture(tree: Node) -> Picture:
    shapes: list[Shape] = []
    height = _draw(tree, 1.0, 1.0, WIDTH - 2, shapes)
    return Picture(WIDTH, height + 2, "The loops of the plan", tuple(shapes),
                   "Boxes are loops around what they repeat, from top to bottom in time")  # fmt: skip


def _draw(node: Node, x: float, y: float, width: float, shapes: list[Shape]) -> float:
    """Draw a node and tell its height."""
    if isinstance(node, Leaf):
        shapes += [rect("stmt", x, y, width, LEAF), text("stmt-name", x + width / 2, y + 16, node.stmt, "middle")]
        return LEAF
    if isinstance(node, Hold):
        return _draw(node.child, x, y, width, shapes)
    if isinstance(node, Seq):
        return _stack(kids(node), x, y, width, shapes)
    assert isinstance(node, Band)
    return _band(node, 0, x, y, width, shapes)


def _stack(nodes: tuple[Node, ...], x: float, y: float, width: float, shapes: list[Shape]) -> float:
    at = y
    for k, child in enumerate(nodes):
        at += GAP if k else 0
        at += _draw(child, x, at, width, shapes)
    return at - y


def _band(band: Band, member: int, x: float, y: float, width: float, shapes: list[Shape]) -> float:
    """The loops of a band, one box inside the other; a product is one box."""
    if member == len(band.loops):
        return _draw(band.child, x, y, width, shapes)
    lp = band.loops[member]
    place = len(shapes)
    inner = y + HEAD
    height = _band(band, member + 1, x + PAD, inner, width - 2 * PAD, shapes) + HEAD + PAD
    words = loop_words(lp)
    shown = words if len(words) * 6.4 < width - 12 else words[: int((width - 12) / 6.4) - 1] + "…"
    box = rect(f"box {loop_kinds(lp, band)}", x, y, width, height, words)
    shapes[place:place] = [box, text("loop-name", x + 7, y + 15, shown)]
    return height
