"""What can be added to a plan: tiles where it has none, other orders, and rows side by side."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from codegen.plan.model import Directive, Jam, LoopRef, Multiply, Order, Plan, Schedule, Skew, Tile
from codegen.record import record
from codegen.scop.tree import Band, has_band, statements, walk
from codegen.tune.plans.bases import Base

SHAPES = (8, 16, 32, 64, 128, 256)  # of tiles; four times that along the innermost loop
MOST = 4  # loops of a nest whose orders are all tried


@record
class Change:
    """Directives to add after those in a slot, one of `options`, described by `choices`."""

    name: str
    slot: int
    choices: tuple[str, ...]
    options: tuple[tuple[Directive, ...], ...]


def nest_changes(base: Base) -> Iterator[Change]:
    """For every innermost nest that is no product and no skewed band."""
    plan = base.plan
    start = next((k for k, d in enumerate(plan.directives) if isinstance(d, Schedule)), None)
    if start is None or any(isinstance(d, Skew) for d in plan.directives):
        return
    schedule = plan.directives[start]
    assert isinstance(schedule, Schedule)
    products = {d.stmt for d in plan.directives if isinstance(d, Multiply)}
    for _, node in walk(schedule.tree):
        if isinstance(node, Band) and not has_band(node.child) and not products & set(statements(node)):
            names = tuple(lp.name for lp in node.loops)
            stmt = statements(node)[0]
            cut = _tiled(plan, stmt)
            yield from _orders(stmt, names, start if cut is None else cut, cut is not None)
            if cut is None and len(names) > 1:
                yield _tiles(stmt, names, start)
            if len(names) > 1 and not any(isinstance(d, Jam) for d in plan.directives):
                yield _rows(plan, stmt, names)


def _tiled(plan: Plan, stmt: str) -> int | None:
    """The last directive that cuts loops around the statement."""
    cuts = [(k, d) for k, d in enumerate(plan.directives) if isinstance(d, Tile)]
    return next((k for k, d in reversed(cuts) if any(ref.stmt == stmt for ref, _ in d.loops)), None)


def _orders(stmt: str, names: tuple[str, ...], slot: int, tiled: bool) -> Iterator[Change]:
    if not 2 <= len(names) <= MOST:
        return
    others = [p for p in permutations(names) if p != names]
    yield Change(f"order {stmt}", slot, tuple(map(" ".join, others)), tuple((_order(stmt, p),) for p in others))
    if tiled:
        tiles = [tuple(f"{n}t" for n in p) for p in others]
        options = tuple((_order(stmt, p),) for p in tiles)
        yield Change(f"order of tiles {stmt}", slot, tuple(map(" ".join, tiles)), options)


def _order(stmt: str, names: tuple[str, ...]) -> Order:
    return Order(tuple(LoopRef(n, stmt) for n in names))


def _tiles(stmt: str, names: tuple[str, ...], slot: int) -> Change:
    options = []
    for size in SHAPES:
        sizes = [*[size] * (len(names) - 1), 4 * size]
        options.append((Tile(tuple((LoopRef(n, stmt), s) for n, s in zip(names, sizes, strict=True))),))
    return Change(f"tiles {stmt}", slot, tuple(map(str, SHAPES)), tuple(options))


def _rows(plan: Plan, stmt: str, names: tuple[str, ...]) -> Change:
    """Side by side: rows of the loop around the innermost one; after everything else."""
    loop = LoopRef(names[-2], stmt)
    return Change(f"jam {stmt}", len(plan.directives) - 1, ("2", "4", "8"), tuple((Jam(loop, n),) for n in (2, 4, 8)))
