"""Records that describe a CPU (caches, operations, cores): the inputs of the cost formulas for CPUs."""
from __future__ import annotations

from codegen.record import record

# What an operation table may describe. Unsigned types use the signed ones' figures.
TYPES = ("f64", "f32", "i64", "i32", "i16", "i8")
OPERATIONS = ("fma", "add", "sub", "mul", "div", "min", "max", "and", "or", "xor")


@record
class Cache:
    """One level of data cache. `shared_by` counts the cores that compete for these bytes."""

    level: int
    bytes: int
    ways: int
    line: int
    shared_by: int = 1

    @property
    def sets(self) -> int:
        return self.bytes // (self.ways * self.line)


@record
class Operation:
    """A vector instruction on elements of `type`: `throughput` counts those started per cycle and core.

    `units` has one character for each execution unit that can run it, such as "01"; empty when not known. `chain` is
    how long the next one waits for the sum alone, where that is shorter than the latency; 0 where it is not.
    """

    type: str
    name: str
    latency: float
    throughput: float
    units: str = ""
    chain: float = 0.0


@record
class Machine:
    """A processor. Throughput counts vector FMAs started per cycle and core; latency is in cycles.

    Where there is no FMA instruction, the FMA's figures are those of a multiplication and the addition after it.
    `parallel_overhead_cycles` is the cost of forking and joining a team of `cores` threads.
    `load_latency` is that of a vector load which hits the first cache, `prefetch_latency` that of memory.
    `memory_bandwidth` is what all cores together can read from memory, `core_bandwidth` what one can alone; bytes per
    second, and only reports use them.
    `add_latency` and `operations` refine what is otherwise derived from the FMA: see `operations.operation`.
    """

    name: str
    description: str
    isa: str
    vector_bits: int
    registers: int
    fma_throughput: float
    fma_latency: float
    line_bytes: int
    caches: tuple[Cache, ...]
    cores: int
    parallel_overhead_cycles: int
    frequency_hz: float | None = None
    load_latency: float = 4.0
    prefetches_per_cycle: float = 1.0
    prefetch_latency: float = 300.0
    add_latency: float | None = None
    core_bandwidth: float | None = None
    memory_bandwidth: float | None = None
    operations: tuple[Operation, ...] = ()

    def cache(self, level: int) -> Cache | None:
        """The data cache of this level, or None where the machine has no such level."""
        return next((c for c in self.caches if c.level == level), None)

    def lanes(self, element_bytes: int) -> int:
        """Elements of this size in one vector register; at least 1."""
        return max(1, self.vector_bits // (8 * element_bytes))
