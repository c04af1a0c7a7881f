"""Dependence distances of a statement as arrows in the plane of two iterators."""

from __future__ import annotations

import islpy as isl

from codegen.recognize.access.instances import fixed
from codegen.record import record
from codegen.report.html.draw import arrow, dot, line, text
from codegen.report.html.model import Picture, SvgElement
from codegen.report.sample import Sample, span
from codegen.scop.dependences import Dependences
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Statement

MOST = 24  # arrows of one dependence
FAR = 6  # longer ones are only mentioned
STEP, MARGIN = 34.0, 34.0
BESIDE = {"flow": 0.0, "anti": 4.0, "output": -4.0}  # so that arrows between the same points do not hide each other


@record
class Distance:
    kind: str
    array: str
    target: str
    by: tuple[int, int]


def distances(s: Statement, deps: Dependences, at: Sample, down: int, across: int) -> tuple[list[Distance], list[str]]:
    """Distances to instances with as many iterators, and the dependences that are not shown."""
    found: dict[tuple[str, str, str, tuple[int, int]], Distance] = {}
    rest: list[str] = []
    for d in deps.all:
        for m in maps_of(d.relation):
            if m.get_tuple_name(isl.dim_type.in_) != s.name:
                continue
            target = m.get_tuple_name(isl.dim_type.out)
            vectors = _vectors(m, at, down, across)
            if vectors is None:
                rest.append(f"{d.kind} through {d.array} to {target}")
            for by in vectors or ():
                found[(d.kind, d.array, target, by)] = Distance(d.kind, d.array, target, by)
    return [found[key] for key in sorted(found)], rest


def _vectors(m: isl.Map, at: Sample, down: int, across: int) -> list[tuple[int, int]] | None:
    """The few different vectors in the plane; None where they are many or far, or the spaces differ."""
    if m.dim(isl.dim_type.in_) != m.dim(isl.dim_type.out):
        return None
    plain = m.set_tuple_name(isl.dim_type.out, m.get_tuple_name(isl.dim_type.in_))
    gaps = fixed(plain.deltas(), at.params)
    if gaps.is_empty():
        return []
    for d in reversed(range(gaps.dim(isl.dim_type.set))):
        if d not in (down, across):
            gaps = gaps.project_out(isl.dim_type.set, d, 1)
    n = gaps.dim(isl.dim_type.set)
    if not all(gaps.dim_is_bounded(isl.dim_type.set, d) for d in range(n)):
        return None
    ends = [span(gaps, d) for d in range(n)]
    if any(max(abs(low), abs(high)) > FAR for low, high in ends):
        return None
    found: list[tuple[int, ...]] = []
    gaps.foreach_point(lambda p: found.append(
        tuple(int(p.get_coordinate_val(isl.dim_type.set, d).to_str()) for d in range(n))
    ))  # fmt: skip
    pairs = sorted((0, v[0]) if n == 1 else (v[0], v[1]) for v in found)
    return pairs if len(pairs) <= MOST else None


def distance_picture(s: Statement, deps: Dependences, at: Sample, down: int, across: int) -> Picture | None:
    """Arrows from one iteration to those that wait for it."""
    shown, rest = distances(s, deps, at, down, across)
    if not shown:
        return None
    low = [min([0, *(d.by[k] for d in shown)]) - 1 for k in (0, 1)]
    high = [max([0, *(d.by[k] for d in shown)]) + 1 for k in (0, 1)]

    def place(row: float, column: float) -> tuple[float, float]:
        return MARGIN + (column - low[1]) * STEP, MARGIN + (row - low[0]) * STEP

    shapes: list[SvgElement] = []
    for r in range(low[0], high[0] + 1):
        shapes.append(line("grid", *place(r, low[1]), *place(r, high[1])))
    for c in range(low[1], high[1] + 1):
        shapes.append(line("grid", *place(low[0], c), *place(high[0], c)))
    for d in shown:
        title = f"{d.kind} through {d.array}: {s.name} to {d.target}, ({d.by[0]}, {d.by[1]})"
        if d.by == (0, 0):
            shapes.append(dot(f"ring {d.kind}", *place(0, 0), 9 + BESIDE[d.kind] * 0.75, title))
        else:
            shapes.append(arrow(f"way {d.kind}", *_aside(place(0, 0), place(*d.by), BESIDE[d.kind]), title))
    shapes.append(dot("from", *place(0, 0), 3.5))
    width, height = (2 * MARGIN + (high[k] - low[k]) * STEP for k in (1, 0))
    shapes.append(text("name", width / 2, 16, f"{s.iterators[across]} →", "middle"))
    if down >= 0:
        shapes.append(text("name", MARGIN - 8, height / 2 + 4, f"{s.iterators[down]} ↓", "end"))
    caption = f"What waits for one iteration of {s.name}"
    if rest:
        caption += f"; not drawn, since the distance varies or the loops differ: {', '.join(dict.fromkeys(rest))}"
    return Picture(max(width, 150), height, caption, tuple(shapes), caption)


def _aside(
    start: tuple[float, float], end: tuple[float, float], by: float
) -> tuple[float, float, float, float]:
    """Both ends moved sideways."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = (dx * dx + dy * dy) ** 0.5
    ox, oy = -dy / length * by, dx / length * by
    return start[0] + ox, start[1] + oy, end[0] + ox, end[1] + oy
