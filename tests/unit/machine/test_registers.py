"""The register tile on real register files."""
from __future__ import annotations

import pytest

from codegen.machine.registers import LANES, VALUES, VECTORS, Needs, register_tile


@pytest.mark.parametrize(("what", "registers", "lanes", "latency", "throughput", "a", "tile"), [
    ("neon f64: 24 + 4 + 3", 32, 2, 4, 2, LANES, (6, 8)),
    ("neon f32: 24 + 3 + 2", 32, 4, 4, 2, LANES, (8, 12)),
    ("sve256 f64", 32, 4, 4, 2, LANES, (8, 12)),
    ("avx2 f64: 12 + 2 + 1", 16, 4, 5, 2, VALUES, (6, 8)),
    ("avx2 f32", 16, 8, 5, 2, VALUES, (6, 16)),
    ("avx512 f64: 28 + 2 + 1", 32, 8, 4, 2, VALUES, (14, 16)),
    ("avx512 f32", 32, 16, 4, 2, VALUES, (14, 32)),
    ("scalar", 16, 1, 4, 2, VALUES, (4, 3)),
])
def test_tile(
    what: str, registers: int, lanes: int, latency: float, throughput: float, a: str, tile: tuple[int, int]
) -> None:
    mr, nv = register_tile(registers, lanes, latency, throughput, Needs(a))
    assert (mr, nv * lanes) == tile


def test_every_tile_fits_and_fills_the_pipelines() -> None:
    for registers in (16, 32, 64):
        for lanes in (1, 2, 4, 8, 16, 32):
            for a in (LANES, VALUES, VECTORS):
                for temporaries in (0, 1, 2):
                    for sides in (1, 2):
                        needs = Needs(a, sides, sides, temporaries, 1)
                        mr, nv = register_tile(registers, lanes, 3, 1, needs)
                        column = -(-mr // lanes) if a == LANES else 1
                        assert mr * nv + (sides + temporaries) * nv + sides * column + 1 <= registers
                        assert mr * nv >= 3


def test_registers_for_what_else_a_step_needs() -> None:
    assert register_tile(16, 4, 8, 1, Needs(VALUES, constants=1)) == (6, 2)
    assert register_tile(16, 4, 8, 1, Needs(VALUES, constants=2)) == (5, 2)
    assert register_tile(16, 4, 4, 1, Needs(VALUES, temporaries=1)) == (5, 2), "avx2, min-plus: 10 + 2 + 1 + 2"


@pytest.mark.parametrize("lanes", [2, 4, 16])
def test_values_that_are_vectors(lanes: int) -> None:
    """A row then costs as much to load as a vector of B, so tiles are about square in vectors; 20 + 4 + 1 + 4."""
    assert register_tile(32, lanes, 4, 1, Needs(VECTORS, temporaries=1)) == (5, 4)


def test_two_products_at_once() -> None:
    """neon f64: 16 + 2*2 + 2*4 + 2."""
    assert register_tile(32, 2, 9, 0.66, Needs(LANES, 2, 2, 1)) == (8, 2)


def test_limits() -> None:
    assert register_tile(32, 2, 4, 2, Needs(LANES), max_nv=2)[1] == 2
    assert register_tile(16, 4, 20, 2, Needs(VALUES)) == (6, 2), "too few registers to fill the pipelines: as without"
    assert register_tile(0, 1, 4, 2, Needs(VALUES)) == (1, 1)
    assert register_tile(2, 2, 4, 2, Needs(LANES)) == (1, 1)


def test_latency_decides_where_it_can() -> None:
    """Tall tiles of one vector cost more loads but are all that 14 steps in flight leave room for."""
    assert register_tile(16, 4, 7, 2, Needs(VALUES)) == (14, 1)
