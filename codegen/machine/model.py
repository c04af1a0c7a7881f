"""What the tool knows about a processor: the inputs of every cost formula."""
from __future__ import annotations

from codegen.record import record

ISAS = ("generic", "neon", "sve", "avx2", "avx512")


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
class Machine:
    """A processor. Throughput counts vector FMAs started per cycle and core; latency is in cycles.

    `parallel_overhead_cycles` is the cost of forking and joining a team of `cores` threads.
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

    def cache(self, level: int) -> Cache | None:
        """The data cache of this level, or None where the machine has no such level."""
        return next((c for c in self.caches if c.level == level), None)

    def lanes(self, element_bytes: int) -> int:
        """Elements of this size in one vector register; at least 1."""
        return max(1, self.vector_bits // (8 * element_bytes))
