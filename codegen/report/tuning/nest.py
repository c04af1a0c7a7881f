"""Draws the schedule tree of a plan as SVG (`nest_picture`): every loop is a box around what it repeats. Nests of a
product for certain sizes stand below it."""

from __future__ import annotations

from codegen.report.html.draw import rect, text
from codegen.report.html.model import Picture, SvgElement
from codegen.report.html.trees import loop_kinds, loop_words
from codegen.scop.product import Blocking, Exact, Nested
from codegen.scop.tree import Band, Hold, Leaf, Node, Seq, kids, statements

WIDTH, HEAD, PAD, GAP, LEAF = 420.0, 22.0, 8.0, 6.0, 24.0
LETTER = 7.3  # the width of one in a loop's name


def nest_picture(tree: Node) -> Picture:
    shapes: list[SvgElement] = []
    height = _draw(tree, 1.0, 1.0, WIDTH - 2, shapes)
    return Picture(WIDTH, height + 2, "The loops of the plan", tuple(shapes),
                   "Boxes are loops around what they repeat, from top to bottom in time")  # fmt: skip


def _draw(node: Node, x: float, y: float, width: float, shapes: list[SvgElement]) -> float:
    """Draw a node and tell its height."""
    if isinstance(node, Leaf):
        shapes += [rect("stmt", x, y, width, LEAF), text("stmt-name", x + width / 2, y + 16, node.stmt, "middle")]
        return LEAF
    if isinstance(node, Hold):
        return _draw(node.child, x, y, width, shapes)
    if isinstance(node, Seq):
        return _stack(kids(node), x, y, width, shapes)
    assert isinstance(node, Band)
    height = _band(node, 0, x, y, width, shapes)
    how = node.product.how if node.product is not None else None
    for nest in how.exact if isinstance(how, (Blocking, Nested)) else ():
        sizes = " by ".join(f"{v} = {n}" for v, n in nest.sizes.items())
        height += GAP + _chain(nest, 0, f"{statements(node)[0]}, {sizes}", (x, y + height + GAP, width), shapes)
    return height


def _stack(nodes: tuple[Node, ...], x: float, y: float, width: float, shapes: list[SvgElement]) -> float:
    at = y
    for k, child in enumerate(nodes):
        at += GAP if k else 0
        at += _draw(child, x, at, width, shapes)
    return at - y


def _band(band: Band, member: int, x: float, y: float, width: float, shapes: list[SvgElement]) -> float:
    """The loops of a band, one box inside the other; a product is one box."""
    if member == len(band.loops):
        return _draw(band.child, x, y, width, shapes)
    lp = band.loops[member]
    place = len(shapes)
    height = _band(band, member + 1, x + PAD, y + HEAD, width - 2 * PAD, shapes) + HEAD + PAD
    shapes[place:place] = _box(loop_words(lp), loop_kinds(lp, band), x, y, width, height)
    return height


def _chain(
    nest: Exact, member: int, what: str, corner: tuple[float, float, float], shapes: list[SvgElement]
) -> float:
    """The loops of a nest for certain sizes, in a box from x and y on of a width; its height."""
    x, y, width = corner
    if member == len(nest.loops):
        shapes += [rect("stmt", x, y, width, LEAF), text("stmt-name", x + width / 2, y + 16, what, "middle")]
        return LEAF
    name, size, rest, marks = nest.loops[member]
    copied = [word for mark, word in (("A", "left"), ("B", "right")) if mark in marks]
    parts = [f"loop {name}, {size} times", *([f"then {rest} more"] if rest else [])]
    words = ", ".join([*parts, *([f"{' and '.join(copied)} packed"] if copied else [])])
    kind = "loop threads" if "T" in marks else "loop lanes" if member == len(nest.loops) - 1 else "loop product"
    place = len(shapes)
    height = _chain(nest, member + 1, what, (x + PAD, y + HEAD, width - 2 * PAD), shapes) + HEAD + PAD
    shapes[place:place] = _box(words, kind, x, y, width, height)
    return height


def _box(words: str, kinds: str, x: float, y: float, width: float, height: float) -> list[SvgElement]:
    room = int((width - 14) / LETTER)
    shown = words if len(words) <= room else words[: room - 1] + "…"
    return [rect(f"box {kinds}", x, y, width, height, words), text("loop-name", x + 7, y + 15, shown)]
