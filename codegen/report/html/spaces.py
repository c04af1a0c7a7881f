"""Pictures of iteration spaces: tiles with their boundaries and order, colours for what threads share out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.report.html.draw import line, number, path, text
from codegen.report.html.model import Picture, SvgElement
from codegen.report.html.slices import Cell, SliceGrid, Values, ranks
from codegen.report.sample import Sample
from codegen.scop.model import Statement

COLOURS = 6
SIDE, LEFT, TOP = 460.0, 44.0, 26.0
MOST_POINTS = 64  # of the line that shows the order inside a tile
Spots = Mapping[Values, Sequence[Cell]]


def space_picture(s: Statement, cut: SliceGrid, at: Sample) -> Picture:
    """The cut as a picture; rows grow downwards like the rows of a matrix."""
    size = min(26.0, SIDE / max(cut.shape))
    tiles: dict[Values, list[Cell]] = {}
    for cell in cut.cells:
        tiles.setdefault(cell.tile, []).append(cell)
    moments = _moments(tiles)
    fills = _fills(tiles, size, moments)
    shapes: list[SvgElement] = [*fills, *_walk(tiles, size), *_labels(tiles, size), *_axes(s, cut, size)]
    return Picture(
        LEFT + max(cut.shape[1] * size, 170) + 14,
        TOP + cut.shape[0] * size + 10,
        f"Iterations of {s.name} with tiles in their order",
        tuple(shapes),
        _caption(s, cut, at, len(tiles)),
        max(moments.values()) if len(set(moments.values())) > 1 else 0,
    )


def _moments(tiles: Spots) -> dict[Values, int]:
    """When each tile runs, counted from 1: by its step, and within one by what its thread does first."""
    first = {key: min(cells, key=lambda c: c.time) for key, cells in tiles.items()}
    groups: dict[tuple[Values, int | None], int] = {}
    turn = {}
    for key in sorted(tiles):
        mine = (first[key].step, first[key].lane)
        turn[key] = groups[mine] = groups.get(mine, 0) + 1
    order = ranks([(*first[key].step, turn[key]) for key in tiles])
    return {key: order[(*first[key].step, turn[key])] for key in tiles}


def _caption(s: Statement, cut: SliceGrid, at: Sample, tiles: int) -> str:
    where = [f"{s.iterators[d]} = {v}" for d, v in cut.fixed]
    sizes = [f"{name} = {v}" for name, v in sorted(at.params.items()) if name in at.shown]
    names = [s.iterators[d] if d >= 0 else "" for d in (cut.down, cut.across)]
    cells = [f"{n} {name}" for n, name in zip(cut.steps, names, strict=True) if n > 1]
    shared = len({c.lane for c in cut.cells}) > 1
    parts = [
        f"{s.name}: {' by '.join(n for n in names if n)}",
        f"at {', '.join(where)}" if where else "",
        f"for {', '.join(sizes)}" if sizes else "",
        f"a cell is {' by '.join(cells)}" if cells else "",
        "colours are threads' shares" if shared else "",
        "tiles of equal first numbers and different colours can run at the same time" if tiles > 1 and shared else "",
    ]
    return "; ".join(p for p in parts if p)


def _fills(tiles: Spots, size: float, moments: Mapping[Values, int]) -> list[SvgElement]:
    lanes = sorted({c.lane for cells in tiles.values() for c in cells if c.lane is not None})
    out, plain = [], len(tiles) > 1
    for k, key in enumerate(sorted(tiles)):
        cells = tiles[key]
        lane = cells[0].lane
        cls = f"lane{lanes.index(lane) % COLOURS}" if lane is not None else f"turn{k % 2 if plain else 0}"
        out.append(SvgElement("path", f"tile {cls}", (("d", _area(cells, size)), ("data-t", str(moments[key])))))
    edges = (SvgElement("path", "edge", (("d", _outline(tiles[key], size)), ("data-t", str(moments[key]))))
             for key in sorted(tiles, key=lambda k: (moments[k], k)))  # fmt: skip
    return [*out, *edges]


def _runs(values: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring numbers as (first, length)."""
    out: list[tuple[int, int]] = []
    for v in sorted(values):
        if out and out[-1][0] + out[-1][1] == v:
            out[-1] = (out[-1][0], out[-1][1] + 1)
        else:
            out.append((v, 1))
    return out


def _area(cells: Sequence[Cell], size: float) -> str:
    rows: dict[int, list[int]] = {}
    for c in cells:
        rows.setdefault(c.row, []).append(c.column)
    boxes = [(x, row, n) for row in sorted(rows) for x, n in _runs(rows[row])]
    side = number(size)
    return "".join(
        f"M{number(LEFT + x * size)} {number(TOP + y * size)}h{number(n * size)}v{side}h{number(-n * size)}z"
        for x, y, n in boxes
    )


def _outline(cells: Sequence[Cell], size: float) -> str:
    """The sides of cells that have no neighbour in the tile."""
    have = {(c.row, c.column) for c in cells}
    flat: dict[int, list[int]] = {}
    tall: dict[int, list[int]] = {}
    for row, column in have:
        for near, y in (((row - 1, column), row), ((row + 1, column), row + 1)):
            if near not in have:
                flat.setdefault(y, []).append(column)
        for near, x in (((row, column - 1), column), ((row, column + 1), column + 1)):
            if near not in have:
                tall.setdefault(x, []).append(row)
    out = [
        f"M{number(LEFT + x * size)} {number(TOP + y * size)}h{number(n * size)}"
        for y in sorted(flat) for x, n in _runs(flat[y])
    ]  # fmt: skip
    out += [
        f"M{number(LEFT + x * size)} {number(TOP + y * size)}v{number(n * size)}"
        for x in sorted(tall) for y, n in _runs(tall[x])
    ]  # fmt: skip
    return "".join(out)


def _centre(cell: Cell, size: float) -> tuple[float, float]:
    return LEFT + (cell.column + 0.5) * size, TOP + (cell.row + 0.5) * size


def _walk(tiles: Spots, size: float) -> list[SvgElement]:
    """The order inside the largest tile, from its first cell on."""
    largest = max(sorted(tiles), key=lambda k: len(tiles[k]))
    cells = sorted(tiles[largest], key=lambda c: c.time)[:MOST_POINTS]
    if len(cells) < 2:
        return []
    points = [_centre(c, size) for c in cells]
    d = "L".join(f"{number(x)} {number(y)}" for x, y in points)
    x, y = points[0]
    return [path("walk", f"M{d}"), SvgElement("circle", "from", (("cx", number(x)), ("cy", number(y)), ("r", "3")))]


def _labels(tiles: Spots, size: float) -> list[SvgElement]:
    """The step of each tile; tiles that one thread runs one after the other in a step get a second number."""
    if len(tiles) < 2:
        return []
    first = {key: min(cells, key=lambda c: c.time) for key, cells in tiles.items()}
    step = ranks([c.step for c in first.values()])
    groups: dict[tuple[Values, int | None], list[Values]] = {}
    for key in sorted(tiles):
        groups.setdefault((first[key].step, first[key].lane), []).append(key)
    several = any(len(g) > 1 for g in groups.values())
    out = []
    for (when, _), keys in groups.items():
        for k, key in enumerate(keys, 1):
            cells = tiles[key]
            x = sum(_centre(c, size)[0] for c in cells) / len(cells)
            y = sum(_centre(c, size)[1] for c in cells) / len(cells)
            words = f"{step[when]}.{k}" if several else str(step[when])
            room = max(c.column for c in cells) - min(c.column for c in cells) + 1
            if room * size >= 7 * len(words):
                out.append(text("order", x, y + 4, words, "middle"))
    return out


def _axes(s: Statement, cut: SliceGrid, size: float) -> list[SvgElement]:
    width, height = cut.shape[1] * size, cut.shape[0] * size
    last = [a + (n - 1) * k for a, n, k in zip(cut.start, cut.shape, cut.steps, strict=True)]
    out = [
        line("axis", LEFT, TOP, LEFT + width, TOP),
        text("name", LEFT + width / 2, TOP - 9, f"{s.iterators[cut.across]} →", "middle"),
    ]
    if width >= 70:  # else the numbers would run into the name
        out.append(text("value", LEFT, TOP - 8, str(cut.start[1])))
        out.append(text("value", LEFT + width, TOP - 8, str(last[1]), "end"))
    if cut.down >= 0:
        out += [
            line("axis", LEFT, TOP, LEFT, TOP + height),
            text("name", LEFT - 8, TOP + height / 2 + 4, f"{s.iterators[cut.down]} ↓", "end"),
            text("value", LEFT - 6, TOP + 10, str(cut.start[0]), "end"),
            text("value", LEFT - 6, TOP + height, str(last[0]), "end"),
        ]
    return out
