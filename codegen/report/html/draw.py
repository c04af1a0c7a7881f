"""Makes SVG elements: paths, lines, rectangles, dots, text and arrows. Coordinates are rounded, which keeps the page
small."""

from __future__ import annotations

from codegen.report.html.model import SvgElement


def number(x: float) -> str:
    return f"{x:.1f}".removesuffix(".0")


def path(cls: str, d: str, title: str = "") -> SvgElement:
    return SvgElement("path", cls, (("d", d),), title=title)


def line(cls: str, x1: float, y1: float, x2: float, y2: float, title: str = "") -> SvgElement:
    return path(cls, f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}", title)


def rect(cls: str, x: float, y: float, width: float, height: float, title: str = "") -> SvgElement:
    sides = (("x", x), ("y", y), ("width", width), ("height", height))
    return SvgElement("rect", cls, tuple((name, number(v)) for name, v in sides), title=title)


def dot(cls: str, x: float, y: float, r: float, title: str = "") -> SvgElement:
    return SvgElement("circle", cls, (("cx", number(x)), ("cy", number(y)), ("r", number(r))), title=title)


def text(cls: str, x: float, y: float, words: str, anchor: str = "start") -> SvgElement:
    return SvgElement("text", cls, (("x", number(x)), ("y", number(y)), ("text-anchor", anchor)), words)


def arrow(cls: str, x1: float, y1: float, x2: float, y2: float, title: str = "") -> SvgElement:
    """A line with a head of six units."""
    dx, dy = x2 - x1, y2 - y1
    length = max((dx * dx + dy * dy) ** 0.5, 1e-9)
    ux, uy = dx / length * 6, dy / length * 6
    left = f"{number(x2 - ux - uy / 2)} {number(y2 - uy + ux / 2)}"
    right = f"{number(x2 - ux + uy / 2)} {number(y2 - uy - ux / 2)}"
    d = f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}M{left}L{number(x2)} {number(y2)}L{right}"
    return path(cls, d, title)
