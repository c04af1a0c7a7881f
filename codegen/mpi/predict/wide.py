"""Steps that ranks take without a message, as a generated program chooses them at run time (`depth`), and how much more
a rank computes in those (`doubled`)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from codegen.mpi.network import ITERATION, MESSAGES, PLAIN, Network
from codegen.mpi.predict.load import Setting, block, grid_sides, value
from codegen.mpi.share import SharedRegion
from codegen.mpi.wide.steps import Wide
from codegen.record import record

MOST = 256  # steps without a message


@record
class TimeTiles:
    """Tiles over time in what a rank runs, of so many steps; `line`: its threads, so many, run them one behind the
    other."""

    steps: int = 1
    line: bool = False
    threads: int = 1

    def few(self, steps: int) -> bool:
        """Do threads share the rows of each step instead, as `tw_few_tiles` finds it?"""
        turns = -(-steps // self.steps // self.threads)
        return self.line and PLAIN * steps < self.threads * min(turns * self.steps, steps)

    def factor(self, steps: int, reach: int, rows: float) -> float:
        """How many times as long some steps take as if all threads were busy with tiles."""
        few = self.few(steps)
        plain = PLAIN if self.steps == 1 or few else 1
        if few or not self.line:
            return plain
        count = -(-steps // self.steps)
        late = 1 + (min(count, self.threads) - 1) * (reach + 1) * self.steps / rows if rows else 1.0
        return plain * late * -(-count // self.threads) * self.threads / count


def ends(wide: Wide, at: Setting) -> tuple[int, int]:
    """The first step, and the one behind the last."""
    return value(wide.first, at), value(wide.past, at)


def depth(x: SharedRegion, wide: Wide, at: Setting, network: Network, work: float, tiles: TimeTiles) -> int:
    """How many steps ranks take without a message, as `tw_wide_steps` finds it for so much work."""
    begin, end = ends(wide, at)
    reach, steps, axes = max(wide.slope, *wide.more.values()), end - begin, x.ranked.blocks[0].axes
    step = work * ITERATION / at.ranks / tiles.threads / steps if steps > 0 else 0.0
    message = MESSAGES * axes * network.latency
    each = _rows(x, at)
    best, least = 1, steps * (step * PLAIN + message)
    for d in range(max(2, tiles.steps), min(MOST, steps + tiles.steps - 1) + 1, tiles.steps):
        if any(rows and reach * d >= rows for rows in each):
            break
        took = -(-steps // d) * message
        for a in range(0, steps, d):
            left = min(d, steps - a)
            one = left * step * tiles.factor(left, reach, each[0])
            took += one * prod(1 + reach * left / rows for rows in each if rows)
        if took < least:
            best, least = d, took
    return best


def _rows(x: SharedRegion, at: Setting) -> tuple[float, ...]:
    """Rows of a block along each axis; none where no other rank is beside it."""
    sides = grid_sides(at.ranks, x.ranked.blocks[0].axes)
    whole = [(b.axis, block(b, Setting(at.sizes, 1), 0)) for b in x.ranked.blocks]
    rows = {axis: past - first for axis, (first, past) in whole}
    return tuple(rows[a] / parts if parts > 1 else 0.0 for a, parts in enumerate(sides))


def doubled(x: SharedRegion, wide: Wide, at: Setting, steps: int) -> float:
    """How many times as much a rank in the middle computes in so many steps as its block has."""
    sides = grid_sides(at.ranks, x.ranked.blocks[0].axes)
    more = sum(wide.more.values()) / max(1, len(wide.more))
    far = wide.slope * (steps - 1) / 2 + more  # beyond one end of a block, on average
    return prod(1 + min(2, parts - 1) * far / rows for rows, parts in zip(_rows(x, at), sides, strict=True) if rows)


def groups(begin: int, end: int, steps: int) -> Sequence[tuple[int, int]]:
    """Steps without a message, from one to before another, as `tw_next_step` has them."""
    out = []
    while begin < end:
        behind = min(end, begin + steps - begin % steps)
        out.append((begin, behind))
        begin = behind
    return out
