"""Every built-in machine gives sizes that code can use."""
from __future__ import annotations

import pytest

from codegen.machine.formulas import (
    DEEPEST,
    ROW_BYTES,
    RegisterTile,
    gemm_blocks,
    matvec,
    matvec_transposed,
    matvec_transposed_l1,
)
from codegen.machine.load import load, names
from codegen.machine.processor import Processor, processor
from codegen.machine.registers import LANES, VALUES, VECTORS, Needs, register_tile

TYPES = ("f64", "f32", "i16", "i32")


def _tile(p: Processor, a: str) -> RegisterTile:
    mr, nv = register_tile(p.registers, p.lanes, p.latency, p.throughput, Needs(a))
    return RegisterTile(mr, nv * p.lanes, p.lanes if a == VECTORS else 1)


@pytest.mark.parametrize("name", names())
def test_gemm(name: str) -> None:
    m = load(name)
    for elem in TYPES:
        for threads in (1, 1000):
            p = processor(m, elem, threads=threads)
            _check_gemm(p, None)
            for a in (LANES, VALUES, VECTORS):
                _check_gemm(p, _tile(p, a))


def _check_gemm(p: Processor, tile: RegisterTile | None) -> None:
    b = gemm_blocks(p, tile)
    lefts = tile.lefts if tile else 1
    slivers, block = (b.mr * lefts + b.nr) * b.kc * p.element_bytes, b.mc * b.kc * lefts * p.element_bytes
    assert b.nr % p.lanes == 0 and b.mc % b.mr == 0 and b.nc % b.nr == 0
    assert (64 if lefts == 1 else 32) <= b.kc <= 4096  # whole vectors of A: 640 bytes for a step of AVX-512
    if b.run:
        left, right = b.mr * lefts * b.kc * p.element_bytes, b.run * b.kc * p.element_bytes
        assert left <= max(p.l1.bytes, b.mr * ROW_BYTES) and (p.l1.bytes / 4 <= left or b.kc == DEEPEST)
        assert p.l2.bytes / 4 <= right <= p.l2.bytes / 2 and p.l2.bytes / 4 <= block <= p.l2.bytes / 2
        assert b.run % b.nr == 0
        return
    assert p.l1.bytes / 4 <= slivers <= p.l1.bytes
    assert p.l2.bytes / 4 <= block <= p.l2.bytes
    assert p.l3 is None or p.l3.bytes / 4 <= b.nc * b.kc * p.element_bytes <= p.l3.bytes


@pytest.mark.parametrize("name", names())
def test_matvec(name: str) -> None:
    m = load(name)
    for elem in TYPES:
        for combine, reduce in (("mul", "add"), ("add", "min"), ("div", "max"), ("and", "or")):
            _check_matvec(processor(m, elem, combine, reduce))


def _check_matvec(p: Processor) -> None:
    for b in (matvec_transposed(p), matvec_transposed_l1(p), matvec(p)):
        assert b.nr % p.lanes == 0 and b.nb % p.lanes == 0 and b.nc % b.nr == 0
        assert 1 <= b.mc <= p.l1.ways and b.nb <= b.nc
        assert b.nc * p.element_bytes <= p.l2.bytes
        assert 1 <= b.distance <= 40 and b.cycles > 0
    assert matvec(p).mc * matvec(p).nr >= p.in_flight * p.lanes


def test_the_tile_in_use_here() -> None:
    p = processor(load("neoverse-n1"), "f64")
    b = gemm_blocks(p, _tile(p, LANES))
    assert (b.mr, b.nr, b.kc, b.mc) == (6, 8, 512, 192)
