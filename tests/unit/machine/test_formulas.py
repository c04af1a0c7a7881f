"""Block sizes: the published values of the model, and sizes for code."""
from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import pytest

from codegen.machine.formulas import (
    GemmBlocks,
    RegisterTile,
    gemm_blocks,
    gemm_model,
    matvec,
    matvec_transposed,
    matvec_transposed_l1,
    model_tile,
    n_block,
)
from codegen.machine.load import load
from codegen.machine.model import Cache
from codegen.machine.processor import Processor, processor

K = 1024
Given = tuple[int, int, float, float, tuple[int, int], tuple[int, int]]


def hp(size: int, lanes: int, latency: float, throughput: float, l1: tuple[int, int], l2: tuple[int, int]) -> Processor:
    """Caches are given in KiB and ways."""
    first, second = (Cache(n, kib * K, ways, 64) for n, (kib, ways) in enumerate((l1, l2), 1))
    return Processor(size, 16, lanes, F(latency), F(throughput), first, second)


INTEL = ((32, 8), (256, 8))
# Latencies as the tables below were computed with: some are larger than the true ones, for larger tiles.
GEMM = [
    # S_DATA, lanes, L, N, caches | gamma, N_r, M_r, C_Ar, K_c, M_c, registers
    ("sandy bridge f64", (8, 4, 8, 1, *INTEL), (32, 8, 4, 2, 256, 96, 10)),
    ("sandy bridge f32", (4, 8, 8, 1, *INTEL), (64, 8, 8, 3, 384, 128, 9)),
    ("kaby lake f64", (8, 4, 6, 2, *INTEL), (48, 8, 6, 3, 256, 96, 14)),
    ("kaby lake f32", (4, 8, 6, 2, *INTEL), (96, 16, 6, 1, F(512, 3), F(196608, 170 * 4), 14)),
    ("kaby lake f64, true latency", (8, 4, 4, 2, *INTEL), (32, 8, 4, 2, 256, 96, 10)),
    ("xeon phi f64", (8, 8, 7, 2, (32, 8), (1024, 16)), (112, 16, 7, 2, F(1024, 7), F(917504, 146 * 8), 16)),
    ("power8 f64", (8, 2, 12, 2, (64, 8), (512, 8)), (48, 8, 6, 3, 512, 96, 28)),
    ("power8 f32", (4, 4, 12, 2, (64, 8), (512, 8)), (96, 12, 8, 2, 512, 192, 27)),
    ("x-gene f64", (8, 2, 36, 0.5, *INTEL), (36, 6, 6, 3, 256, 96, 21)),
    ("x-gene f32", (4, 4, 36, 0.5, *INTEL), (72, 12, 6, 2, F(1024, 3), F(196608, 341 * 4), 21)),
    ("broadwell i16", (2, 16, 6, 2, *INTEL), (192, 16, 12, 3, 512, 192, 13)),
]


@pytest.mark.parametrize(("given", "wanted"), [row[1:] for row in GEMM], ids=[row[0] for row in GEMM])
def test_gemm_values(given: Given, wanted: tuple[F, ...]) -> None:
    m = gemm_model(hp(*given))
    assert (m.gamma, m.nr, m.mr, m.a_ways, m.kc, m.mc, m.vector_registers) == wanted


def test_gemm_values_as_printed() -> None:
    """The published tables give one decimal."""
    shown = {name: gemm_model(hp(*given)) for name, given, _ in GEMM}
    pairs = {name: (round(float(m.kc), 1), round(float(m.mc), 1)) for name, m in shown.items()}
    assert pairs["kaby lake f32"] == (170.7, 289.1)
    assert pairs["xeon phi f64"] == (146.3, 785.5)
    assert pairs["x-gene f32"] == (341.3, 144.1)


@pytest.mark.parametrize(("given", "wanted"), [
    (GEMM[0][1], GemmBlocks(4, 8, 320, 76, 1632)), (GEMM[3][1], GemmBlocks(6, 16, 349, 138, 2992)),
])
def test_gemm_sizes_for_code(given: Given, wanted: GemmBlocks) -> None:
    """K_c by capacity: 32 KiB less half of one of 8 ways, for slivers of A and B."""
    assert gemm_blocks(hp(*given), b_bytes=4 << 20) == wanted


def test_gemm_room_for_b() -> None:
    p = hp(8, 4, 8, 1, *INTEL)
    assert n_block(p, 256, 8, 4 << 20) == 2048
    assert gemm_blocks(p, b_bytes=1).nc == 8, "never below one tile"
    assert gemm_blocks(p).nc == 256 * 8, "no third level"
    assert gemm_blocks(replace(p, l3=Cache(3, 8 << 20, 16, 64))).nc == 1632, "half of it"


def test_gemm_with_a_tile_of_ones_own() -> None:
    assert gemm_blocks(hp(8, 4, 5, 2, *INTEL), RegisterTile(6, 8), 4 << 20) == GemmBlocks(6, 8, 274, 84, 1912)


def test_gemm_with_few_ways() -> None:
    """A first level of two ways has no way to spare; a second of two has none left for A."""
    p = hp(8, 2, 8, 1, (64, 2), (512, 2))
    m = gemm_model(p, RegisterTile(4, 6))
    assert (m.a_ways, m.kc, m.mc) == (0, 0, 0)
    b = gemm_blocks(p, RegisterTile(4, 6))
    assert b.kc == 64 * K * 3 // 4 // (10 * 8) and b.mc == 512 * K // 2 // (b.kc * 8) // 4 * 4


def test_tile_of_a_fraction_in_flight() -> None:
    assert model_tile(hp(8, 2, 5.5, 0.5, *INTEL)) == RegisterTile(2, 4)
    assert model_tile(hp(8, 1, 0.5, 1, *INTEL)) == RegisterTile(1, 1)


MATVEC = [
    # N_b, N_r, M_c, N_c, B, D of y += A'x | the same of y += Ax | M_c, N_c of the variant for L1
    ("xeon-e5450", (28, 2, 8, 32768, 176, 2), (2, 8, 32768, 228, 2), (7, 512)),
    ("xeon-e5-2660", (56, 4, 7, 4096, 151, 2), (8, 4, 4096, 58, 6), (7, 512)),
    ("xeon-e5-2697v4", (56, 4, 7, 4096, 102, 3), (8, 5, 4096, 48, 7), (7, 512)),
    ("opteron-8354", (28, 2, 2, 4096, 40, 8), (8, 2, 4096, 54, 6), (1, 4096)),
]


@pytest.mark.parametrize(("machine", "transposed", "plain", "small"), MATVEC)
def test_matvec_values(
    machine: str, transposed: tuple[int, ...], plain: tuple[int, ...], small: tuple[int, int]
) -> None:
    """From the built-in descriptions, which have the figures that the tables were computed with."""
    p = processor(load(machine), "f64")
    t, a, s = matvec_transposed(p), matvec(p), matvec_transposed_l1(p)
    assert (t.nb, t.nr, t.mc, t.nc, t.cycles, t.distance) == transposed
    assert (a.nr, a.mc, a.nc, a.cycles, a.distance) == plain
    assert (s.mc, s.nc) == small


def test_matvec_without_second_level_uses_the_first() -> None:
    p = processor(load("sw26010-cpe"), "f64")
    assert matvec_transposed(p) == matvec_transposed_l1(p)


def test_matvec_without_vectors() -> None:
    p = processor(replace(load("generic"), registers=0), "f64")
    t = matvec_transposed(p)
    assert (p.lanes, t.nr, t.nb) == (1, 1, 8)


def test_threads_share_a_cache() -> None:
    """Two cores of this machine have one second level between them."""
    m = load("xeon-e5450")
    alone, team = processor(m, "f64"), processor(m, "f64", threads=8)
    assert alone.l2.bytes == 2 * team.l2.bytes and alone.l2.ways == team.l2.ways and alone.l1 == team.l1
    assert gemm_model(alone).mc == 2 * gemm_model(team).mc
