"""Block sizes in closed form, for products of two matrices and for products of a matrix and a vector.

Two matrices: around the register tile, p runs over K_c, i over M_c by M_r, j over N_c by N_r. The K_c x N_r sliver of
B stays in the first cache while slivers of A (M_r x K_c) pass by; the packed M_c x K_c block of A stays in the second,
the packed K_c x N_c block of B in the third. `gemm_model` gives the exact values, `gemm_blocks` sizes for code. Where
the block of A would have very many rows, the two change places: see `gemm_blocks`.

A matrix and a vector: A is read once, so it is prefetched and not packed; the vectors are what stays in the caches.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, isqrt

from codegen.machine.processor import Processor, way_bytes
from codegen.record import record

# Of the third level, the part that the packed block of B may fill; the rest is for A and C, which pass through it.
B_SHARE = Fraction(1, 2)
# Slivers of B in a block where there is no third level: memory holds it, so only the fixed costs matter.
B_SLIVERS = 256
# Rows of a block of A up to which tiles are gone through row after row, column by column: every row of C is on a page
# of its own, and second-level TLBs hold 1,024 to 2,048 pages, those of the packed operands among them.
MOST_ROWS = 512
# The same where tiles have to be gone through down columns, whatever the caches are: with AVX2 on an Emerald Rapids,
# whose second cache has 2 MB, f64 blocks of 252 rows are 2 to 9 % faster than those of 510 for six shapes of seven.
ROWS_DOWN = 256
# Bytes of a second cache, for each core that shares it, that a running program believes in: QEMU tells of 4 MB by
# itself, and from 1 MB to 2 MB on only products of few rows gain anything.
SECOND_TOLD = 2**21
# Bytes of each row of a sliver of A, at least, where tiles are gone through along rows: what a tile costs beside its
# steps (250 cycles on a Cascade Lake, for 14 x 2 vectors) would be much of the time of fewer. Kernels ask for values of
# A ahead, so it does not matter that slivers of 14 rows are a third larger than a cache of 32 KB. Cascade Lake with
# AVX-512, of MKL, f64 with 1,752, 2,336 and 3,072 bytes: n = 500 0.89, 0.90, 0.93, n = 1000 0.91, 0.93, 0.94, n = 2000
# 0.93, 0.96, 0.98, 2000 x 2000 x 384 0.91, 0.92, 0.95; f32 with 1,752, 2,336 and 3,072: 0.98, 0.99, 1.04; 0.95, 0.98,
# 0.98; 0.97, 0.97, 0.98; 0.93, 0.94, 0.96.
ROW_BYTES = 3072
DEEPEST = 1024  # from there on, reading and writing C costs next to nothing


@record
class RegisterTile:
    """The register tile: `mr` rows of `nr` elements. A step has `lefts` packed elements of A for every row, and
    `rights` of B for every column."""

    mr: int
    nr: int
    lefts: int = 1
    rights: int = 1

    @property
    def a(self) -> int:
        """Elements of A's sliver, one step of it."""
        return self.mr * self.lefts

    @property
    def b(self) -> int:
        """The same of B's."""
        return self.nr * self.rights


@record
class GemmModel:
    """The exact values. `gamma` is the number of elements in flight; A's sliver has `a_ways` lines in each set of L1.

    `mc` follows from the whole part of `kc`. `kc` and `mc` are 0 where a cache has too few ways for the argument.
    """

    gamma: Fraction
    mr: int
    nr: int
    a_ways: int
    kc: Fraction
    mc: Fraction
    vector_registers: Fraction


@record
class GemmBlocks:
    """Sizes for code: `mc` is a multiple of `mr` and `nc` of `nr`, all at least one tile. `run` is the number of
    columns of B that stay in the second cache, while slivers of A pass through the first; 0: a sliver of B stays in the
    first cache, and the block of A in the second."""

    mr: int
    nr: int
    kc: int
    mc: int
    nc: int
    run: int = 0


@record
class MatvecBlocks:
    """Sizes for y = y + A'x (`nb` elements of y stay in registers) and for y = y + Ax (`mc` x `nr` sums do).

    `mc` rows and `nc` columns make a block of A. One turn of the loop that prefetches takes `cycles`; what it fetches
    is used `distance` turns later. A turn is a step of `nb` columns.
    """

    nb: int
    nr: int
    mc: int
    nc: int
    cycles: Fraction
    distance: int


def gamma(p: Processor) -> Fraction:
    """Elements of C that must be under way to keep the pipelines full."""
    return p.lanes * p.in_flight


def model_tile(p: Processor) -> RegisterTile:
    """The smallest nearly square tile of at least gamma elements; nr is in whole vectors."""
    g = gamma(p)
    vectors = _ceil_root(g / p.lanes**2)
    nr = vectors * p.lanes
    return RegisterTile(ceil(g / nr), nr)


def a_ways(p: Processor, tile: RegisterTile) -> int:
    """Lines of each set of L1 for a sliver of A, when B's sliver takes its share and C one line."""
    return (p.l1.ways - 1) * tile.a // (tile.a + tile.b)


def k_block(p: Processor, tile: RegisterTile) -> Fraction:
    """K_c: a sliver of A then fills its lines exactly, so each one replaces the one before and nothing else."""
    return Fraction(a_ways(p, tile) * way_bytes(p.l1), tile.a * p.element_bytes)


def k_capacity(p: Processor, tile: RegisterTile) -> int:
    """K_c when a sliver of A and one of B together fill L1 but for half a way: B's comes back after A's has passed.

    `k_block` rounds A's share to whole ways, which leaves much of a cache of few ways unused. On a Neoverse N1 (64 KB,
    4 ways), f64 products of 1000 and 1500 run at 17.5 GFlop/s with its 341 and at 18.1 with the 512 of this one.
    """
    room = Fraction(p.l1.bytes * (2 * p.l1.ways - 1), 2 * p.l1.ways)
    return floor(room / ((tile.a + tile.b) * p.element_bytes))


def m_block(p: Processor, kc: int, lefts: int = 1) -> Fraction:
    """M_c: the block of A fills all of L2 but two lines of each set."""
    return Fraction((p.l2.ways - 2) * p.l2.bytes, kc * lefts * p.element_bytes * p.l2.ways)


def n_block(p: Processor, kc: int, nr: int, b_bytes: int) -> int:
    """N_c: as many slivers of B as fit into `b_bytes`."""
    return b_bytes // (kc * p.element_bytes * nr) * nr


def gemm_model(p: Processor, tile: RegisterTile | None = None) -> GemmModel:
    """The formulas' values before any rounding, for the model's own tile or a given one."""
    t = tile or model_tile(p)
    kc = k_block(p, t)
    mc = m_block(p, floor(kc), t.lefts) if kc >= 1 else Fraction(0)
    live = Fraction(t.mr * t.nr + t.nr, p.lanes)
    return GemmModel(gamma(p), t.mr, t.nr, a_ways(p, t), kc, mc, live)


def gemm_blocks(
    p: Processor, tile: RegisterTile | None = None, b_bytes: int | None = None, along: bool | None = None
) -> GemmBlocks:
    """Block sizes for code. `tile` is the register tile in use, `b_bytes` the room for the packed block of B. `along`
    is whether tiles are gone through along rows of C, where that is decided. Generated code that finds out the sizes of
    caches by itself computes the same (`caches.c.j2`).

    Where a cache has too few ways for the formulas, the slivers (or the block of A) get half of its bytes.

    A large second cache beside a small first one makes blocks of many rows, and going down a column of tiles asks for
    two lines of a page and then for the next page. Then a sliver of A stays in the first cache, while tiles are gone
    through along a row of C, by columns of B that stay in the second. f64 products on an Emerald Rapids at one thread,
    n = 1000, 2000, 4000, GFlop/s: 73.0, 66.7, 64.8 down the columns; 77.9, 75.8, 76.6 along the rows.
    """
    t = tile or model_tile(p)
    kc = max(1, floor(k_block(p, t)), k_capacity(p, t))
    mc = floor(m_block(p, kc, t.lefts)) if p.l2.ways > 2 else p.l2.bytes // (2 * kc * t.lefts * p.element_bytes)
    run = 0
    if along or (along is None and mc > MOST_ROWS and p.l1.ways > 2):
        kc, mc, run = along_rows(p, t)
    elif along is not None:
        mc = min(mc, ROWS_DOWN)
    if b_bytes is None:
        nc = n_block(p, kc * t.rights, t.nr, floor(p.l3.bytes * B_SHARE)) if p.l3 else B_SLIVERS * t.nr
    else:
        nc = n_block(p, kc * t.rights, t.nr, b_bytes)
    return GemmBlocks(t.mr, t.nr, kc, max(t.mr, mc // t.mr * t.mr), max(t.nr, nc), run)


def along_rows(p: Processor, t: RegisterTile) -> tuple[int, int, int]:
    """K_c, M_c and columns of B where tiles are gone through along rows of C: a sliver of A fills the first cache but
    for two ways, which B and C pass through, or a little more; columns of B fill half of the second, and the block of A
    most of the rest.
    """
    fits = max(1, p.l1.ways - 2) * way_bytes(p.l1) // (t.a * p.element_bytes)
    kc = max(1, min(DEEPEST, max(fits, ROW_BYTES // (t.lefts * p.element_bytes))))
    depth = kc * p.element_bytes
    return kc, 3 * p.l2.bytes // (8 * depth * t.lefts), max(t.nr, p.l2.bytes // (2 * depth * t.rights) // t.nr * t.nr)


def matvec_transposed(p: Processor, rows: int = 0, vectors: int = 0) -> MatvecBlocks:
    """y = y + A'x: nc elements of y stay in one way of L2, mc rows of A are fetched into as many ways of L1.

    Code that takes other numbers of rows and of y's vectors at a time gets the distance that goes with them.
    """
    return _transposed(p, rows or min(p.l2.ways - 1, p.l1.ways), way_bytes(p.l2), vectors)


def matvec_transposed_l1(p: Processor) -> MatvecBlocks:
    """The same with y in one way of L1: more blocks to share among threads, each with y in its own cache."""
    return _transposed(p, p.l1.ways - 1, way_bytes(p.l1))


def _transposed(p: Processor, rows: int, y_bytes: int, given: int = 0) -> MatvecBlocks:
    vectors = given or max(ceil(p.in_flight), p.registers - 2, 1)  # beside y: one register for x, one for A
    conflict_free = -(-way_bytes(p.l1) // (p.lanes * p.element_bytes))
    nb = min(vectors, conflict_free) * p.lanes
    mc = max(1, rows)
    fetches = mc * -(-nb * p.element_bytes // p.l1.line)
    steps = ceil(nb / (p.lanes * p.throughput))
    cycles = ceil(fetches / p.prefetches_per_cycle) + mc * (steps + p.load_latency)
    return MatvecBlocks(nb, p.lanes, mc, _columns(p, y_bytes, p.lanes), cycles, ceil(p.prefetch_latency / cycles))


def matvec(p: Processor) -> MatvecBlocks:
    """y = y + Ax: mc rows at a time, few enough to be fetched into L1 together; x stays in one way of L2.

    Four lines of every row are fetched together (`nb` columns), which evens out the latency of memory.
    """
    ways = max(1, min(p.l1.ways, p.l2.ways - 1))
    nr = p.lanes * ceil(p.in_flight / ways)
    mc = ceil(p.in_flight * p.lanes / nr)
    nb = 4 * line_elements(p)
    fetch, turn = row_cycles(p, mc, nr)
    cycles = fetch + nb * turn / nr
    return MatvecBlocks(nb, nr, mc, _columns(p, way_bytes(p.l2), nr), cycles, ceil(p.prefetch_latency / cycles))


def row_cycles(p: Processor, mc: int, nr: int) -> tuple[int, Fraction]:
    """For mc rows: cycles to start the fetches of four lines of each and of x, and cycles of a step of nr columns."""
    return ceil(4 * (mc + 1) / p.prefetches_per_cycle), ceil(mc * nr / (p.throughput * p.lanes)) + p.load_latency


def line_elements(p: Processor) -> int:
    """Elements in a line of the first cache."""
    return max(1, p.l1.line // p.element_bytes)


def _columns(p: Processor, size: int, nr: int) -> int:
    return max(nr, size // p.element_bytes // nr * nr)


def _ceil_root(value: Fraction) -> int:
    """The smallest integer whose square is at least `value`, computed without rounding."""
    whole = ceil(value)
    return isqrt(whole - 1) + 1 if whole > 0 else 0
