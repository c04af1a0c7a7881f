"""Lists the loop nests of a plan that `tune` can add directives for: innermost bands of its schedule without a product;
none where the plan skews a loop."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.plan.model import Multiply, Plan, Schedule, Skew, Tile
from codegen.record import record
from codegen.scop.tree import Band, has_band, statements, walk


@record
class PlannedNest:
    """An innermost nest in the order that a plan gives. `start`: the directive with the order; `cut`: the last one that
    cuts its loops, None where there is none."""

    stmt: str
    loops: tuple[str, ...]
    start: int
    cut: int | None


def planned_nests(plan: Plan) -> Iterator[PlannedNest]:
    start = next((k for k, d in enumerate(plan.directives) if isinstance(d, Schedule)), None)
    if start is None or any(isinstance(d, Skew) for d in plan.directives):
        return
    schedule = plan.directives[start]
    assert isinstance(schedule, Schedule)
    products = {d.stmt for d in plan.directives if isinstance(d, Multiply)}
    for _, node in walk(schedule.tree):
        if isinstance(node, Band) and not has_band(node.child) and not products & set(statements(node)):
            stmt = statements(node)[0]
            yield PlannedNest(stmt, tuple(lp.name for lp in node.loops), start, _tiled(plan, stmt))


def _tiled(plan: Plan, stmt: str) -> int | None:
    cuts = [(k, d) for k, d in enumerate(plan.directives) if isinstance(d, Tile)]
    return next((k for k, d in reversed(cuts) if any(ref.stmt == stmt for ref, _ in d.loops)), None)
