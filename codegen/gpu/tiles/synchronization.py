"""Proofs about copies, waits and barriers of a product in tiles: shared memory holds what is read, and no thread
overwrites it meanwhile. `wrong_order` returns a sentence about the first rule that is broken, empty where none is.

Events have times: the iteration of the loop over parts of the depth, -1 ahead of it, and their position there. There
are n parts, whatever n is. A copy belongs to the group that the next commit closes; a wait that leaves b groups under
way has seen all but the last b of those closed before it. Threads see each other's copies behind a barrier that follows
such a wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import islpy as isl

from codegen.gpu.tiles.order import BARRIER, COMMIT, COPY, LOAD, STEP, WAIT, TileEvent, TileProgram
from codegen.record import record

_EARLIER = "[n] -> { [t, p] -> [s, q] : t < s or (t = s and p < q) }"


@record
class _At:
    """An event, its position, the commits before it ahead of the loop or in one iteration, and whether it is looped."""

    event: TileEvent
    position: int
    commits: int
    looped: bool

    @property
    def when(self) -> str:
        """The iterations `t` in which it takes place."""
        first, only = ("t" if self.looped else "0"), self.event.only
        there = f" and {first} + {only} < n" if only >= 0 else ""
        return ("0 <= t < n" if self.looped else "t = -1") + there

    @property
    def part(self) -> str:
        return f"t + {self.event.part}" if self.looped else str(self.event.part)


def wrong_order(order: TileProgram, stages: int) -> str:
    """A sentence about the first rule that is broken; empty where all are kept."""
    if any(e.divergent for e in (*order.before, *order.loop) if e.kind in (BARRIER, WAIT, COMMIT)):
        return "a barrier stands where some threads of a block may not come"
    missing = {COPY, WAIT, BARRIER, LOAD, STEP} - {e.kind for e in order.loop}
    if missing:
        return f"there is no {min(missing)}"
    return _wrong_parts(order) or _too_early(order) or _overwritten(order, stages) or _wrong_registers(order)


def _all(order: TileProgram, kind: str) -> Iterator[_At]:
    for events, looped in ((order.before, False), (order.loop, True)):
        commits = 0
        for position, e in enumerate(events):
            if e.kind == kind:
                yield _At(e, position, commits, looped)
            commits += e.kind == COMMIT


def _union(order: TileProgram, kind: str, text: Callable[[_At], tuple[str, str]]) -> isl.Map:
    """What `text` says of all events of a kind, as pairs of tuples; t is the iteration."""
    total = isl.Map("[n] -> { [a] -> [b] : false }")
    for k, x in enumerate(_all(order, kind)):
        left, right = text(x)
        m = isl.Map(f"[n] -> {{ [t] -> [[{left}] -> [{right}]] : {x.when} }}").range().unwrap()
        total = m if k == 0 else total.union(m)
    return total.coalesce()


def _time(x: _At) -> str:
    return f"t, {x.position}"


def _closed(order: TileProgram, x: _At) -> str:
    """Groups that are closed before an event."""
    if not x.looped:
        return str(x.commits)
    ahead, each = (sum(e.kind == COMMIT for e in events) for events in (order.before, order.loop))
    return f"{ahead + x.commits} + {each} * t"


def _copies(order: TileProgram) -> isl.Map:
    """When parts are copied."""
    return _union(order, COPY, lambda x: (x.part, _time(x)))


def _groups(order: TileProgram) -> isl.Map:
    """Which group the copies of a part are in."""
    return _union(order, COPY, lambda x: (x.part, _closed(order, x)))


def _loads(order: TileProgram) -> isl.Map:
    """When registers for a step of a part are loaded."""
    return _union(order, LOAD, lambda x: (f"{x.part}, {x.event.step}", _time(x)))


def _seen(order: TileProgram) -> isl.Map:
    """Barriers, and how many groups all threads have seen behind each: those of the last wait before it, if that takes
    place whenever the barrier does."""
    waits = {(x.looped, x.position): x for x in _all(order, WAIT)}

    def text(x: _At) -> tuple[str, str]:
        before = [w for (looped, at), w in sorted(waits.items()) if looped == x.looped and at < x.position]
        if not before or before[-1].event.only not in (-1, x.event.only):
            return _time(x), "0"
        return _time(x), f"{_closed(order, before[-1])} - {before[-1].event.behind}"

    return _union(order, BARRIER, text)


def _wrong_parts(order: TileProgram) -> str:
    """All parts are copied, and no others; each step of them is loaded and computed once, in ascending order."""
    parts = isl.Set("[n] -> { [u] : 0 <= u < n }")
    steps = isl.Set(f"[n] -> {{ [u, s] : 0 <= u < n and 0 <= s < {order.steps} }}")
    if not _copies(order).domain().is_equal(parts) or not _copies(order).is_single_valued():
        return "a part of the depth is not staged, or staged twice"
    onward = isl.Map("{ [u] -> [v] : u < v }").intersect_domain(parts).intersect_range(parts)
    times = _copies(order).reverse().apply_range(onward).apply_range(_copies(order))
    if not times.is_subset(isl.Map(_EARLIER)):
        return "parts of the depth are not staged in ascending order"
    if not _loads(order).domain().is_equal(steps):
        return "a step is computed with registers that were not loaded"
    computed = [e for e in order.loop if e.kind == STEP]
    if [(e.part, e.step, e.only) for e in computed] != [(0, s, -1) for s in range(order.steps)]:
        return "steps are left out, or not in the order of the depth"
    return ""


def _too_early(order: TileProgram) -> str:
    """Whatever is loaded was copied, waited for, and a barrier followed."""
    earlier = isl.Map(_EARLIER)
    seen = _groups(order).apply_range(isl.Map("{ [g] -> [d] : g < d }")).apply_range(_seen(order).reverse())
    safe = seen.apply_range(earlier)
    reads = isl.Map("{ [u] -> [u, s] }").apply_range(_loads(order))
    return "" if reads.is_subset(safe) else "shared memory is read before all threads have what was copied to it"


def _overwritten(order: TileProgram, stages: int) -> str:
    """A room is written again behind a barrier that all reads of it precede, and when earlier copies are complete."""
    earlier, copies = isl.Map(_EARLIER), _copies(order)
    older = isl.Map(f"{{ [v] -> [u] : v < u and (u - v) % {stages} = 0 }}")
    reads = isl.Map("{ [u] -> [u, s] }").apply_range(_loads(order))
    barriers = _seen(order).domain()
    between = earlier.intersect_range(barriers).apply_range(earlier)
    if not reads.reverse().apply_range(older).apply_range(copies).is_subset(between):
        return "shared memory is written while other threads may still read it"
    seen = _groups(order).apply_range(isl.Map("{ [g] -> [d] : g < d }")).apply_range(_seen(order).reverse())
    if not older.intersect_domain(copies.domain()).apply_range(copies).is_subset(seen.apply_range(earlier)):
        return "two copies to one room are under way at the same time"
    return ""


def _wrong_registers(order: TileProgram) -> str:
    """A step computes with what was loaded for it, and with nothing that was loaded into the same set since."""
    earlier = isl.Map(_EARLIER)

    def text(x: _At) -> tuple[str, str]:
        return f"{x.part}, {x.event.step}, {x.event.registers}", _time(x)

    loads, steps = _union(order, LOAD, text), _union(order, STEP, text)
    before = loads.reverse().apply_range(steps).intersect(earlier)
    if not steps.range().is_subset(before.range()):
        return "a step computes with registers that others are loaded into"
    other = isl.Map("{ [u, s, w] -> [v, r, w] : u != v or s != r }")
    since = loads.reverse().apply_range(other).apply_range(loads).intersect(earlier)  # a load, and a later one
    spoiled = before.intersect(since.apply_range(earlier))
    return "" if spoiled.is_empty() else "registers are loaded again before their step is computed"
