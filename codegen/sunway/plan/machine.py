"""Core group descriptions, read from TOML: for the planner, the printer and the timing model."""

from __future__ import annotations

from itertools import pairwise

from codegen.record import record

# (bytes of a contiguous block, MB/s of the whole group): the table of feifeibear/swGEMM.
_SW26010_DMA = (
    (16, 3362), (32, 6343), (64, 11967), (128, 13356), (192, 19322), (256, 17568), (384, 19725), (512, 21103),
    (768, 22430), (1024, 23485), (2048, 24642), (3072, 25334), (8192, 26173),
)  # fmt: skip


# Cycles the memory controller spends on a command besides its bytes: fitted, see docs/sunway.md.
COMMAND = 36


@record
class CoreGroup:
    """One core group. Times are in cycles of a compute core."""

    name: str
    description: str
    ldm_bytes: int
    reserve: int  # for stack, arguments and reply words
    vector_bits: int
    registers: int
    clock_hz: float
    dma: tuple[tuple[int, int], ...]
    bad_blocks: tuple[tuple[int, int], ...]
    launch: int
    barrier: int
    startup: int
    fma_latency: int
    load_latency: int
    gld: int  # a load or store that goes to main memory
    crts: bool = False  # the newer interface: athread_dma_*, RMA instead of register communication
    rows: int = 8
    columns: int = 8

    def lanes(self, bytes_: int) -> int:
        """Elements in a vector, which holds as many floats as doubles."""
        return self.vector_bits // (64 if bytes_ == 4 else 8 * bytes_)

    @property
    def peak(self) -> float:
        """Double precision, flop/s of all compute cores."""
        return 2.0 * self.vector_bits / 64 * self.clock_hz * self.rows * self.columns

    def rate(self, block: int) -> float:
        """Bytes per cycle of the whole group for blocks of this length."""
        for bad, slow in self.bad_blocks:
            if block // 16 == bad // 16:
                return slow * 1e6 / self.clock_hz
        table = self.dma
        if block <= table[0][0]:
            return table[0][1] * block / table[0][0] * 1e6 / self.clock_hz
        for (a, ra), (b, rb) in pairwise(table):
            if block <= b:
                return (ra + (rb - ra) * (block - a) / (b - a)) * 1e6 / self.clock_hz
        return table[-1][1] * 1e6 / self.clock_hz


def line_of(group: CoreGroup) -> tuple[float, float]:
    """(a, b) so that an element of 8 bytes in a row of n takes about a + b / n cycles of the memory controller."""
    table = [(b / 8, 8 * group.clock_hz / (r * 1e6)) for b, r in group.dma if 128 <= b <= 2048]
    count, one, two = len(table), sum(1 / n for n, _ in table), sum(1 / n / n for n, _ in table)
    cycles, mixed = sum(c for _, c in table), sum(c / n for n, c in table)
    slope = (count * mixed - one * cycles) / (count * two - one * one)
    return (cycles - slope * one) / count, slope


SW26010 = CoreGroup(
    "sw26010-cpe", "64 compute cores of an SW26010 core group", 65536, 4096, 256, 32, 1.45e9, _SW26010_DMA,
    ((224, 8749), (448, 11486)), launch=20000, barrier=300, startup=270, fma_latency=7, load_latency=4, gld=278,
)  # fmt: skip
SW26010_PRO = CoreGroup(
    "sw26010-pro-cpe", "64 compute cores of an SW26010-Pro core group", 262144, 8192, 512, 32, 2.25e9,
    tuple((b, r * 3 // 2) for b, r in _SW26010_DMA), (), launch=30000, barrier=300, startup=400, fma_latency=7,
    load_latency=4, gld=400, crts=True,
)  # fmt: skip
GROUPS = {g.name: g for g in (SW26010, SW26010_PRO)}


def group_for(machine: str) -> CoreGroup:
    """The core group that --machine names; the SW26010 when it names none."""
    return GROUPS.get(machine, SW26010)
