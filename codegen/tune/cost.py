"""Analytical cost model of a tensor contraction's loop tree, from the processor's description alone, for searches that
run nothing.

Cycles of the blocks (multiply-adds, loads, instructions, or the latency of a sum, whichever is most), of tiles of C
that come and go, of copies, and of cache lines. A cache holds what one turn of some loop touches, of the outermost such
loop; each time that loop is started, everything is brought in again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import ceil, gcd, prod

from codegen.isa.model import Isa, bits_of
from codegen.lower.nest.kernel import check
from codegen.lower.nest.schedule import INDEPENDENT, CannotEmit, NestSchedule, RegisterDemand, schedule, shape
from codegen.machine.model import Cache, Machine
from codegen.record import record
from codegen.tune.contraction import TENSORS, Contraction, extents, strides
from codegen.tune.tree import Tree

LOADS = 1.4  # a cycle, as measured: a row of C in registers, with one load for each multiply-add, is 68 % of the peak
SLIP = 0.1  # cycles that a load costs the multiply-adds beside it: 12x8, 8x12 and 6x16 take 13.6, 12.7, 12.9 for 12
STORES = 1.0
SPREAD = 2.0  # operations to bring a value into all lanes and keep it
SCATTERED = 4.0  # operations to put one element into a vector, by way of memory
ISSUED = 4.0  # instructions of all kinds a cycle
TURN = 1.0  # cycles of a loop's own, each time around
DRAIN = 12.0  # cycles until the last multiply-adds of a tile are done and its stores are on their way
# Cycles for a line from the next cache: second, third, memory. Long rows are fetched ahead while something is computed;
# for short ones, which lie far apart, a processor waits. Fitted to a Neoverse N1.
LINE = (4.0, 12.0, 40.0)
STREAMED = 0.6  # of these prices, where rows are long
LONG = 256  # bytes
FILLED = 0.8  # of a cache, before what is used next pushes out what is used again


@record
class Model:
    """A value: predicted GFLOPS at `frequency` (1 GHz where it is not known: the order is what counts)."""

    machine: Machine
    isa: Isa

    def __call__(self, trees: Sequence[Tree]) -> list[float | None]:
        return [self.gflops(t) for t in trees]

    def gflops(self, tree: Tree) -> float | None:
        """None where there is no code for the tree."""
        try:
            plan = check(schedule(tree, self.isa))
        except CannotEmit:
            return None
        hertz = self.machine.frequency_hz or 1e9
        return tree.problem.flops / (cycles(plan, self.machine, self.isa) / hertz) / 1e9


def cycles(plan: NestSchedule, machine: Machine, isa: Isa) -> float:
    """Of the whole contraction."""
    busy, streamed, scattered = parts(plan, machine, isa)
    return max(busy, streamed) + scattered


def parts(plan: NestSchedule, machine: Machine, isa: Isa) -> tuple[float, float, float]:
    """Cycles of the code itself, of cache lines in long rows, and of those in short ones."""
    return _Count(plan, machine, isa).total(), *_lines(plan, machine)


def filled(plan: NestSchedule, depth: int, cache: Cache) -> float:
    """The share of a cache that the levels from a depth on take."""
    return sum(_touched(plan, depth, t, cache).room for t in TENSORS) * cache.line / cache.bytes


class _Count:
    """Cycles without the memory behind the first cache, going down the levels as the code does."""

    def __init__(self, plan: NestSchedule, machine: Machine, isa: Isa) -> None:
        self.plan, self.machine, self.isa = plan, machine, isa
        self.known: dict[tuple[int, tuple[int, ...]], float] = {}
        self.names = plan.problem.names

    def total(self) -> float:
        return self._level(0, tuple(size for _, size in self.plan.problem.sizes))

    def _level(self, at: int, left: tuple[int, ...]) -> float:
        if (at, left) not in self.known:
            self.known[at, left] = self._new(at, left)
        return self.known[at, left]

    def _new(self, at: int, left: tuple[int, ...]) -> float:
        level = self.plan.levels[at]
        which = self.names.index(level.var)
        full, rest = divmod(left[which], level.step)
        found = sum(self._copy(t, at, left) for t in level.pack)
        if at == self.plan.hold:
            found += self._tile(dict(zip(self.names, left, strict=True)))
        if at == self.plan.unroll:
            return found + self._block(dict(zip(self.names, left, strict=True)))
        if full:
            found += full * (self._level(at + 1, _put(left, which, level.step)) + TURN * (full > 1))
        return found + (self._level(at + 1, _put(left, which, rest)) if rest else 0.0)

    def _block(self, left: Mapping[str, int]) -> float:
        """One run of the straight code. Where the tile of C comes and goes with it, that happens beside it."""
        need = shape(self.plan.problem, left, self.plan.vector, self.plan.lanes)
        sums = need.fmas / need.accumulators
        loads = sums * (self._reads("A", need.lefts) + self._reads("B", need.rights))
        copies = min(sums, max(1, INDEPENDENT // need.accumulators))
        waits = sums * self.machine.fma_latency / copies
        busy = (need.fmas + sums * self._shuffles(need)) / self.machine.fma_throughput + SLIP * loads
        around = self._traffic(need) if self.plan.hold == self.plan.unroll else (0.0, 0.0)
        loads += around[0]
        issued = (need.fmas + loads + around[1] + 3) / ISSUED
        return max(busy, loads / LOADS, around[1] / STORES, issued, waits if self.plan.hold < self.plan.unroll else 0.0)

    def _reads(self, tensor: str, values: int) -> float:
        """Loads for so many values of an operand; a vector of scattered elements takes one for each."""
        stride = self.plan.levels[-1].move(tensor)
        return values * (SCATTERED * self.plan.lanes if stride > 1 else 1)

    def _shuffles(self, need: RegisterDemand) -> float:
        """Vector operations of a step that compute nothing: putting scattered elements together, and bringing a value
        into all lanes where it stays for several vectors."""
        moves = [(n, self.plan.levels[-1].move(t)) for t, n in (("A", need.lefts), ("B", need.rights))]
        scattered = sum(n for n, move in moves if move > 1) * self.plan.lanes * SCATTERED
        values, vectors = sorted(moves, key=lambda x: x[1])
        crowded = need.accumulators + vectors[0] + 2 > self.isa.registers
        return scattered + (values[0] * SPREAD if values[1] == 0 and values[0] < vectors[0] and crowded else 0)

    def _traffic(self, need: RegisterDemand) -> tuple[float, float]:
        """Loads and stores of a tile of C."""
        each = 1 if self.plan.levels[-1].move("C") == 1 else SCATTERED * self.plan.lanes
        return need.accumulators * each, need.accumulators * each

    def _tile(self, left: Mapping[str, int]) -> float:
        """A tile of C that stays through sums: before and after them."""
        if self.plan.hold == self.plan.unroll:
            return 0.0
        loads, stores = self._traffic(shape(self.plan.problem, left, self.plan.vector, self.plan.lanes))
        return loads / LOADS + stores / STORES + DRAIN

    def _copy(self, tensor: str, at: int, left: tuple[int, ...]) -> float:
        own = strides(self.plan.problem, tensor)
        count = prod(n for v, n in zip(self.names, left, strict=True) if own[v])
        inner = next((x for x in reversed(self.plan.levels[at:]) if own[x.var]), None)
        together = inner is not None and own[inner.var] * inner.step == 1
        return count / (min(inner.size, self.plan.lanes) if inner and together else 1) * (1 / LOADS + 1 / STORES)


def _put(left: tuple[int, ...], which: int, n: int) -> tuple[int, ...]:
    return (*left[:which], n, *left[which + 1 :])


def _lines(plan: NestSchedule, machine: Machine) -> tuple[float, float]:
    """Cycles for lines that the caches do not have: of long rows, and of short ones."""
    streamed = scattered = 0.0
    for cache in machine.caches:
        price = LINE[min(cache.level, len(LINE)) - 1]
        for lines, is_long in _fetched(plan, cache):
            streamed += STREAMED * price * lines * is_long
            scattered += price * lines * (not is_long)
    return streamed, scattered


def _fetched(plan: NestSchedule, cache: Cache) -> list[tuple[float, bool]]:
    """Lines of A, B and C that come into a cache, all in all, and whether in long rows. None where it holds everything,
    since the contraction is taken to be done again and again."""
    room = FILLED * cache.bytes / cache.line  # the other cores are taken to be idle
    depth = next(
        (d for d in range(len(plan.levels) + 1) if sum(_touched(plan, d, t, cache).room for t in TENSORS) <= room),
        len(plan.levels),
    )
    if not depth:
        return []
    # From one turn of the loop above to the next, everything is still there; after all its turns, nothing is.
    turns = prod(max(1.0, _sizes(plan, at)[x.var] / x.step) for at, x in enumerate(plan.levels[: depth - 1]))
    found = [_touched(plan, depth - 1, t, cache) for t in TENSORS]
    return [(turns * x.lines, x.row >= LONG) for x in found]


def _sizes(plan: NestSchedule, depth: int) -> dict[str, int]:
    """How many values of each variable the levels from `depth` on run through, at most."""
    sizes = dict(plan.problem.sizes)
    for level in plan.levels[:depth]:
        sizes[level.var] = level.step
    return sizes


@record
class Touched:
    """Lines of an array, the room they take (more, where they share few sets), and the bytes of a row."""

    lines: float
    room: float
    row: float


def _touched(plan: NestSchedule, depth: int, tensor: str, cache: Cache) -> Touched:
    """What the levels from a depth on touch of an array."""
    size = bits_of(plan.problem.elem) // 8
    sizes = _sizes(plan, depth)
    if any(tensor in level.pack for level in plan.levels[: depth + 1]):
        own = strides(plan.problem, tensor)
        lines = prod(n for v, n in sizes.items() if own[v]) * size / cache.line
        return Touched(lines, lines, lines * cache.line)
    return _footprint(plan.problem, tensor, tuple(sorted(sizes.items())), size, cache)


@lru_cache(maxsize=65536)
def _footprint(
    problem: Contraction, tensor: str, sizes: tuple[tuple[str, int], ...], size: int, cache: Cache
) -> Touched:
    own, values = strides(problem, tensor), dict(sizes)
    whole = extents(problem, tensor)
    row = min((x for x in own.values() if x > 1), default=whole[0]) if problem.strides else whole[-1] if whole else 1
    # Along the last dimension elements are neighbours; everything else counts rows.
    width = min(row, 1 + sum((values[v] - 1) * own[v] for v in values if 0 < own[v] < row or own[v] == 1))
    rows = prod(n for v, n in values.items() if own[v] >= row and own[v] != 1)
    each = ceil(width * size / cache.line) if width < row or len(whole) == 1 else width * size / cache.line
    lines = rows * max(each, size / cache.line)
    step = row * size / cache.line
    if rows <= 1 or step != int(step):
        return Touched(lines, lines, width * size)
    places = cache.sets // gcd(int(step), cache.sets) * max(1, each)
    return Touched(lines, lines * max(1.0, min(lines / cache.ways, cache.sets) / places), width * size)
