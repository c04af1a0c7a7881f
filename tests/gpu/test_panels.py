"""Factorizations in blocks on a device: what a block changes beyond itself runs in tiles; results equal to the
original's, and no block of threads reads what another one writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.gpu.region import device_code
from codegen.gpu.tiles.find import TiledProduct, _apart
from codegen.options import CppOptions, GenOptions
from codegen.plan.model import Registers, StripMine
from codegen.region import ProvenRegion
from codegen.scop.model import Scop
from tests.corpus import KERNELS
from tests.gpu.programs import build, device_region, needs_cxx

OPTIONS = GenOptions(target="cuda", device="h200", cpp=CppOptions(args=(f"-I{KERNELS}",)))


def _made(name: str) -> ProvenRegion:
    path = KERNELS / f"{name}.c"
    return device_region(path.read_text(encoding="utf-8"), OPTIONS, str(path))


def _products(made: ProvenRegion) -> tuple[Scop, tuple[TiledProduct, ...]]:
    return made.program.scop, tuple(device_code(made, OPTIONS).tiled.values())


@pytest.mark.parametrize(("name", "products"), [("lu", 2), ("cholesky", 1)])
def test_products_of_blocks_are_in_tiles(name: str, products: int) -> None:
    made = _made(name)
    assert any(isinstance(d, StripMine) for d in made.plan.directives)
    scop, found = _products(made)
    assert len(found) == products and all(p.nest.cut is not None for p in found)
    for p in found:
        assert _apart(scop, p.nest, p.operands)
        own = (replace(p.operands[0], access=p.nest.statement.target),)
        assert not _apart(scop, p.nest, own)  # a block that reads what others write is found


def test_threads_take_no_whole_blocks() -> None:
    """In blocks, a thread of a triangular solve would take 48 columns."""
    assert not any(isinstance(d, StripMine) for d in _made("trsm").plan.directives)


def test_a_plain_product_needs_no_blocks() -> None:
    made = _made("gemm")
    assert not any(isinstance(d, StripMine) for d in made.plan.directives)
    assert any(isinstance(d, Registers) for d in made.plan.directives)


@needs_cxx
@pytest.mark.parametrize(("name", "sizes"), [("lu", (97, 48, 1, 0)), ("cholesky", (100, 48, 1, 0))])
def test_results(tmp_path: Path, emulator: Path, name: str, sizes: tuple[int, ...]) -> None:
    built = build(name, tmp_path, emulator)
    for n in sizes:
        assert bool(built.agree(n).counts["barriers"]) == (n > 48)
