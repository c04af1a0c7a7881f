"""Predicts the seconds of a region on many ranks (`predict`): counts of iterations and bytes, times what one of each
takes. The result tells computing, waiting for messages, and messages hidden behind computing apart.

A rank computes a phase, then its messages travel while the next phase computes what does not need them; the rest of
their time is waited for. All ranks are as late as the latest of some that are looked at: the first, one in the middle
and the last. Who is sent to is looked at near by, and far away for all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import log2

from codegen.machine import Machine as Described
from codegen.mpi.blocks import blocks_for
from codegen.mpi.counting import points, with_values
from codegen.mpi.messages import START, Exchange
from codegen.mpi.network import ITERATION, PLAIN, Network
from codegen.mpi.panels.buffers import PANELS
from codegen.mpi.phases import Phase
from codegen.mpi.predict.load import (
    Setting,
    block,
    exchange_behind,
    grid_sides,
    iterations,
    message_bytes,
    panel_ends,
    panelled,
    place,
    times,
)
from codegen.mpi.predict.wide import TimeTiles, depth, doubled, ends, groups
from codegen.mpi.share import SharedRegion, several_steps
from codegen.mpi.trees import MessageLoops
from codegen.mpi.wide.steps import Wide, widened
from codegen.record import record

NEAR = 2  # ranks on either side that are looked at one by one
GRID = 16  # ranks in a grid that are all looked at
NEXT = 0.25  # of a latency: what each further message of an exchange takes to be handed to the network
Move = tuple[Exchange, Sequence[MessageLoops]]
Messages = Sequence[tuple[float, float]]  # bytes of one, and how many there are of it


@record
class Crowding:
    """How much slower the cores of a node are where several compute: they share caches, the bus to memory, units for
    arithmetic and the power for a higher clock. So many times as long takes an iteration on each if so many do."""

    known: tuple[tuple[int, float], ...] = ()

    @staticmethod
    def measured(speeds: Mapping[int, float]) -> Crowding:
        """From so many cores, each with how many times as fast as one of them they are together."""
        return Crowding(tuple((n, max(1.0, n / max(speeds[n], 1e-9))) for n in sorted(speeds) if n > 1))

    def slower(self, cores: int) -> float:
        """Along lines between what is known, and behind that along the line from one core to all that are known."""
        before = (1, 1.0)
        for n, longer in self.known:
            if cores <= n:
                return before[1] + (longer - before[1]) * (cores - before[0]) / (n - before[0])
            before = (n, longer)
        return 1 + (before[1] - 1) * (cores - 1) / (before[0] - 1) if before[0] > 1 else 1.0


@record
class Machine:
    """The network, and the seconds of one iteration of a statement on one rank with all its threads."""

    network: Network
    iteration: float = ITERATION
    crowding: Crowding = Crowding()

    def slower(self, ranks: int) -> float:
        """How many times as long an iteration takes if so many ranks compute."""
        return self.crowding.slower(ranks) if self.network.one_node else 1.0


def crowding_of(machine: Described) -> Crowding:
    """From the description of a processor: of what all cores could read of memory, what there is."""
    if not machine.core_bandwidth or not machine.memory_bandwidth:
        return Crowding()
    speed = min(machine.cores, machine.memory_bandwidth / machine.core_bandwidth)
    return Crowding.measured({machine.cores: speed})


@record
class Prediction:
    """Seconds of a region: computing, waiting for messages, and messages that travel behind the computing. `sent` are
    the bytes that all ranks send."""

    computing: float
    waiting: float
    hidden: float
    sent: float

    @property
    def seconds(self) -> float:
        return self.computing + self.waiting


def predict(x: SharedRegion, at: Setting, machine: Machine, tiles: TimeTiles | None = None) -> Prediction:
    """One region, on so many ranks: step by step; or, where ranks run tiles over time, in as many steps without a
    message as they choose."""
    wide = widened(x.ranked) if tiles is not None and at.ranks > 1 else None
    if tiles is not None and wide is not None:
        return _in_steps(x, wide, at, machine, tiles)
    phases = x.ranked.cut.phases
    runs = {q.name: times(x.program.scop, q, at) for q in phases}
    one = machine.iteration * machine.slower(busy_ranks(x, at))
    beside_messages = 0.0 if machine.network.one_node else one  # there the cores that compute copy messages, too
    early = {q.name: _early(x, q, at, runs[q.name][1]) * beside_messages for q in phases}
    computing = waiting = hidden = sent = 0.0
    moves = [(START, 1.0, early[phases[0].name]), ("", 1.0, 0.0)]
    for k, q in enumerate(phases):
        count, outers = runs[q.name]
        following = phases[(k + 1) % len(phases)] if q.depth else phases[min(k + 1, len(phases) - 1)]
        moves.append((q.name, count, early[following.name]))
        waiting += count * len(q.reduced) * 2 * log2(at.ranks) * machine.network.latency
        took = sum(_slowest(x, q, at, o) for o in outers) / max(1, len(outers)) * one
        computing += count * took
        if q.panels is not None and count:
            panels = max(1, len(panel_ends(q, at)) - 1)
            moves.append((PANELS + q.name, count * panels, 0.0 if machine.network.one_node else took / panels))
    for name, count, beside in moves:
        took, moved = _exchange(x, exchange_behind(x, name), at, count, machine)
        waiting += max(0.0, took - beside) * count
        hidden += min(took, beside) * count
        sent += moved
    return Prediction(computing, waiting, hidden, sent)


def _in_steps(x: SharedRegion, wide: Wide, at: Setting, machine: Machine, tiles: TimeTiles) -> Prediction:
    """Steps without a message; one by one each brings all its data from memory."""
    steps, far = depth(x, wide, at, machine.network, work(x, at.sizes), tiles), several_steps(x.ranked)
    if steps == 1 or far is None:
        slow = replace(machine, iteration=machine.iteration * (PLAIN if tiles.steps > 1 else 1))
        return predict(x, at, slow)
    found = Counter(_alike(wide, at, steps))
    alone = predict(x, at, machine).computing
    computing = alone * sum(n * (b - a) * doubled(x, wide, at, b - a) for (a, b), n in found.items())
    waiting = sent = 0.0
    for (a, b), n in found.items():
        took, moved = _exchange(x, far.move, at, 1, machine, (a, b))
        waiting, sent = waiting + n * took, sent + n * moved
    return Prediction(computing / sum(n * (b - a) for (a, b), n in found.items()), waiting, 0.0, sent)


def _alike(wide: Wide, at: Setting, steps: int) -> Iterator[tuple[int, int]]:
    """Steps without a message, those in the middle as one of them: they have messages of one size. Ahead of the first
    two, of which the first may be short, there also goes what nobody writes."""
    found = groups(*ends(wide, at), steps)
    for k, one in enumerate(found):
        yield one if k < 2 or k == len(found) - 1 else found[2]


def busy_ranks(x: SharedRegion, at: Setting) -> int:
    """How many have something to do."""
    if x.cyclic or any(b.axes > 1 for b in x.ranked.blocks):
        return at.ranks
    sizes = (block(b, Setting(at.sizes, 1), 0) for b in x.ranked.blocks)
    return max(1, min(at.ranks, max((high - low for low, high in sizes), default=at.ranks)))


def seen_ranks(x: SharedRegion, at: Setting) -> tuple[int, ...]:
    """The first two, of which one may have but the edge of an array, one in the middle and the last: of those that have
    something to do."""
    busy = busy_ranks(x, at)
    return tuple(dict.fromkeys((0, min(1, busy - 1), busy // 2, busy - 1)))


def _slowest(x: SharedRegion, q: Phase, at: Setting, outer: Sequence[int]) -> float:
    if q.shared is None:
        return iterations(x, q, at, outer, 0)
    found = [iterations(x, q, at, outer, r) for r in seen_ranks(x, at)]
    return max(*found, iterations(x, q, Setting(at.sizes, 1), outer, 0) / at.ranks)


def _early(x: SharedRegion, q: Phase, at: Setting, outers: Sequence[Sequence[int]]) -> float:
    """Iterations of a phase that a rank runs before it waits."""
    return min(early_of(x, q, at, outers[0], r) for r in seen_ranks(x, at)) if outers else 0.0


def early_of(x: SharedRegion, q: Phase, at: Setting, outer: Sequence[int], rank: int) -> float:
    """Iterations of a rank that do not wait for messages."""
    m = x.early.get(q.name)
    if m is None:
        return 0.0
    free = 1.0
    for b in blocks_for(x.ranked.blocks, q.name):
        low, high = block(b, at, rank)
        free *= max(0, high - low - sum(m.sides[b.axis])) / max(1, high - low)
    return free * iterations(x, q, at, outer, rank)


def partners(at: Setting, rank: int, axes: int = 1) -> tuple[tuple[int, float], ...]:
    """Other ranks that are looked at, each with the number of ranks for which it stands: those near by and, for the
    others, both ends. In a grid, all whose coordinates are near by, and for others along an axis one of them."""
    if axes > 1:
        return _grid_partners(at, rank, axes)
    near = [r for r in range(rank - NEAR, rank + NEAR + 1) if r != rank and 0 <= r < at.ranks]
    far = [r for r in dict.fromkeys((0, at.ranks - 1)) if r != rank and r not in near]
    rest = at.ranks - 1 - len(near)
    return (*((r, 1.0) for r in near), *((r, rest / len(far)) for r in far))


def _grid_partners(at: Setting, rank: int, axes: int) -> tuple[tuple[int, float], ...]:
    mine, sides = place(rank, at.ranks, axes), grid_sides(at.ranks, axes)
    around = [range(max(0, c - 1), min(side, c + 2)) for c, side in mine]
    out = [(_number(c, sides), 1.0) for c in product(*around) if c != tuple(c for c, _ in mine)]
    for axis, (c, side) in enumerate(mine):
        rest = side - len(around[axis])
        if rest:
            far = [x for x, _ in mine]
            far[axis] = 0 if c > 1 else side - 1
            out.append((_number(far, sides), float(rest)))
    return tuple(out)


def _number(coordinates: Sequence[int], sides: Sequence[int]) -> int:
    """The rank at a place of the grid."""
    out = 0
    for c, side in zip(coordinates, sides, strict=True):
        out = out * side + c
    return out


def _exchange(
    x: SharedRegion, move: Move | None, at: Setting, count: float, machine: Machine, outer: Sequence[int] | None = None
) -> tuple[float, float]:
    """Seconds that an exchange takes of which there are so many, and the bytes that all ranks send in all of them; or
    in one, in an iteration of the loops around it. On one node the core of a rank copies what it sends, and what it
    gets; buffers of panels are shared there: who holds a panel copies it there once, and others read it."""
    if move is None or at.ranks == 1 or not count:
        return 0.0, 0.0
    worst, sent = 0.0, []
    axes = max(b.axes for b in x.ranked.blocks)
    every = axes > 1 and at.ranks <= GRID
    seen = tuple(range(at.ranks)) if every else seen_ranks(x, at)
    net, crowded = machine.network, machine.slower(busy_ranks(x, at))  # on one node each rank copies its own messages
    for rank in seen:
        others = partners(at, rank, axes)
        out = [(message_bytes(x, move, at, outer, (rank, r)), n) for r, n in others]
        back = [(message_bytes(x, move, at, outer, (r, rank)), n) for r, n in others]
        sent.append(sum(b * n for b, n in out))
        copied = _copied(x, move, at, outer, rank, (out, back)) if net.one_node else ()
        for side in (out, back):
            messages = sum(n for b, n in side if b)
            moved = sum(b * n for one in copied or (side,) for b, n in one)
            if messages:
                worst = max(worst, net.latency * (1 + NEXT * (messages - 1)) + crowded * moved / count / net.bandwidth)
    if every:
        return worst, sum(sent)
    ends, middle = (sent[0], sent[-1]), sent[len(sent) // 2]
    return worst, sum(ends) + middle * max(0, seen[-1] - 1) if len(seen) > 1 else sum(sent)


def _copied(
    x: SharedRegion, move: Move, at: Setting, outer: Sequence[int] | None, rank: int, sides: Sequence[Messages]
) -> Sequence[Messages]:
    """What the core of a rank copies of an exchange."""
    return sides if panelled(x, move[0]) is None else (((message_bytes(x, move, at, outer, (rank, rank)), 1.0),),)


def work(x: SharedRegion, sizes: Mapping[str, int]) -> float:
    """Instances of all statements: what one rank alone runs."""
    return sum(points(with_values(s.domain, sizes)) for s in x.program.scop.statements)
