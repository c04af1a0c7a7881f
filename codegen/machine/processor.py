"""The processor model behind the block-size formulas: the few figures of a machine that they need.

After Low, Igual, Smith and Quintana-Orti, "Analytical Modeling Is Enough for High-Performance BLIS", extended by
prefetch instructions, the latency of loads, and steps other than the FMA. Caches replace the least recently used line.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from codegen.machine.model import Cache, Machine
from codegen.machine.operations import exact, pair
from codegen.record import record


@record
class Processor:
    """A machine as one data type and one step `c = reduce(c, combine(a, b))` see it.

    `lanes` is 1 where there are no vector registers. `latency` and `throughput` are those of the vector step,
    `add_latency` is that of its `reduce` alone, `repeat` what a step waits for the sum of the one before. Latencies are
    in cycles, throughputs per cycle. `l2` is `l1` again where there is no second level, and `l3` is None where there is
    no third.
    """

    element_bytes: int
    registers: int
    lanes: int
    latency: Fraction
    throughput: Fraction
    l1: Cache
    l2: Cache
    l3: Cache | None = None
    load_latency: Fraction = Fraction(4)
    prefetches_per_cycle: Fraction = Fraction(1)
    prefetch_latency: Fraction = Fraction(300)
    add_latency: Fraction = Fraction(4)
    repeat: Fraction = Fraction(4)

    @property
    def in_flight(self) -> Fraction:
        """Vector steps that must be independent of each other to keep the pipelines full."""
        return self.latency * self.throughput


def way_bytes(cache: Cache) -> int:
    """Bytes between two addresses that fall into the same set: one line of every set."""
    return cache.sets * cache.line


def element_size(elem: str) -> int:
    """Bytes of an element type such as "f64" or "u16"."""
    return int(elem[1:]) // 8


def processor(machine: Machine, elem: str, combine: str = "mul", reduce: str = "add", threads: int = 1) -> Processor:
    """The machine for elements of type `elem` ("f64", "i16", ...), with caches as one of `threads` threads sees them.

    Of the first two levels a thread has its share where several of the threads use one cache. The third level
    holds what all threads read together and is not divided.
    """
    size = element_size(elem)
    step = pair(machine, elem, combine, reduce)
    first, *rest = (c if c.level > 2 else _share(c, threads) for c in machine.caches)
    return Processor(
        element_bytes=size,
        registers=machine.registers,
        lanes=machine.lanes(size) if machine.registers else 1,
        latency=step.latency,
        throughput=step.throughput,
        l1=first,
        l2=rest[0] if rest else first,
        l3=rest[1] if len(rest) > 1 else None,
        load_latency=exact(machine.load_latency),
        prefetches_per_cycle=exact(machine.prefetches_per_cycle),
        prefetch_latency=exact(machine.prefetch_latency),
        add_latency=step.last_latency,
        repeat=step.repeat,
    )


def _share(cache: Cache, threads: int) -> Cache:
    """Fewer sets, as many ways: the formulas ask how many lines of one set survive."""
    users = min(cache.shared_by, max(1, threads))
    sets = max(1, cache.sets // users)
    return replace(cache, bytes=sets * cache.ways * cache.line)
