"""The register tile on real register files."""
from __future__ import annotations

import pytest

from codegen.machine.registers import register_tile


@pytest.mark.parametrize(("what", "registers", "lanes", "latency", "throughput", "a_vectors", "tile"), [
    ("neon f64: 24 + 4 + 3", 32, 2, 4, 2, True, (6, 8)),
    ("neon f32: 24 + 3 + 2", 32, 4, 4, 2, True, (8, 12)),
    ("sve256 f64", 32, 4, 4, 2, True, (8, 12)),
    ("avx2 f64: 12 + 2 + 1", 16, 4, 5, 2, False, (6, 8)),
    ("avx2 f32", 16, 8, 5, 2, False, (6, 16)),
    ("avx512 f64: 28 + 2 + 1", 32, 8, 4, 2, False, (14, 16)),
    ("avx512 f32", 32, 16, 4, 2, False, (14, 32)),
    ("scalar", 16, 1, 4, 2, False, (4, 3)),
])
def test_tile(
    what: str, registers: int, lanes: int, latency: float, throughput: float, a_vectors: bool, tile: tuple[int, int]
) -> None:
    mr, nv = register_tile(registers, lanes, latency, throughput, a_vectors)
    assert (mr, nv * lanes) == tile


def test_every_tile_fits_and_fills_the_pipelines() -> None:
    for registers in (16, 32, 64):
        for lanes in (1, 2, 4, 8, 16, 32):
            for a_vectors in (False, True):
                for spare in (0, 1, 2):
                    mr, nv = register_tile(registers, lanes, 3, 1, a_vectors, spare=spare)
                    a = -(-mr // lanes) if a_vectors else 1
                    assert mr * nv + nv + a <= registers - spare
                    assert mr * nv >= 3


def test_registers_for_what_else_a_step_needs() -> None:
    assert register_tile(16, 4, 8, 1, False, spare=1) == (6, 2)
    assert register_tile(16, 4, 8, 1, False, spare=2) == (5, 2)


def test_limits() -> None:
    assert register_tile(32, 2, 4, 2, True, max_nv=2)[1] == 2
    assert register_tile(16, 4, 20, 2, False) == (6, 2), "too few registers to fill the pipelines: as without"
    assert register_tile(0, 1, 4, 2, False) == (1, 1)
    assert register_tile(2, 2, 4, 2, True) == (1, 1)


def test_latency_decides_where_it_can() -> None:
    """Tall tiles of one vector cost more loads but are all that 14 steps in flight leave room for."""
    assert register_tile(16, 4, 7, 2, False) == (14, 1)
