"""PolyBench and more of the corpus on the emulator: results equal to the original's, bit by bit."""

import os

import pytest

from tests.sunway.programs import CONFIGURATIONS, POLYBENCH, build

# Nothing in these can run in parallel as they stand (or only what starting the cores would cost more than it saves).
ON_MASTER = {"floyd-warshall", "nussinov", "seidel-2d"}
OTHERS = (
    *("batched-gemm", "contract-4d", "conv2d", "conv2d-nchw", "fdtd-3d", "gauss-jordan", "gemm-at", "gemm-minus"),
    *("jacobi-varcoef", "kronecker", "ldlt", "maxplus", "minplus-fmin", "mttkrp", "softmax-rows"),
)


def _configurations(index: int) -> tuple[str, ...]:
    """One of the six each, in turn; all with TILEWRIGHT_ALL_TYPES."""
    return CONFIGURATIONS if os.environ.get("TILEWRIGHT_ALL_TYPES") else (CONFIGURATIONS[-1 - index % 6],)


CASES = [(name, grid) for k, name in enumerate((*POLYBENCH, *OTHERS)) for grid in _configurations(k)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "grid"), CASES)
def test_kernel(tmp_path, library, name, grid):
    built = build(name, tmp_path, library, threads=grid)
    if name in ON_MASTER:
        assert [n.id for d in built.made.diagnostics for n in d.notes] == ["no-parallelism"]
        return
    ran = built.agree()
    assert ran.counts["launches"] >= 1


@pytest.mark.slow
@pytest.mark.parametrize("grid", CONFIGURATIONS)
def test_every_configuration(tmp_path, library, grid):
    """A product, a triangle and a stencil on every grid, at sizes with ragged edges everywhere."""
    for name, sizes in (("gemm", (83, 131, 45)), ("syrk", (37, 90)), ("jacobi-2d", (5, 71))):
        build(name, tmp_path, library, threads=grid).agree(*sizes)


# The published table's four size sets, scaled down: as they are, and padded to multiples of 32.
SIZES = {
    "gemm": [(100, 110, 120), (128, 128, 128), (200, 230, 260), (256, 256, 288)],
    "gemver": [(200,), (224,), (400,), (416,)],
    "gesummv": [(130,), (160,), (280,), (288,)],
    "symm": [(50, 60), (64, 64), (100, 130), (128, 160)],
    "syr2k": [(50, 60), (64, 64), (100, 130), (128, 160)],
    "trmm": [(50, 60), (64, 64), (100, 130), (128, 160)],
    "2mm": [(80, 90, 110, 120), (96, 96, 128, 128), (160, 180, 220, 240), (160, 192, 224, 256)],
    "3mm": [(40, 45, 50, 55, 60), (64, 64, 64, 64, 64)],
    "atax": [(190, 210), (192, 224), (180, 220), (192, 224)],
    "doitgen": [(7, 8, 16), (8, 8, 32)],
    "mvt": [(200,), (224,), (400,), (416,)],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SIZES))
def test_size_sets(tmp_path, library, name):
    built = build(name, tmp_path, library)
    for sizes in SIZES[name]:
        built.agree(*sizes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "real"), [("gemm", "float"), ("gemm", "int"), ("jacobi-2d", "float"), ("mvt", "float")]
)
def test_element_types(tmp_path, library, name, real):
    build(name, tmp_path, library, real=real).agree()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["published", "published-padded", "no-mesh", "no-steps"])
def test_schemes(tmp_path, library, scheme):
    for name in ("gemm", "jacobi-2d"):
        build(name, tmp_path, library, scheme=scheme).agree()


def test_stencil_blocks(tmp_path, library):
    """Any number of steps, also none, and grids smaller than a margin."""
    built = build("jacobi-2d", tmp_path, library)
    for sizes in ((0, 40), (1, 90), (2, 3), (13, 133), (7, 1)):
        built.agree(*sizes)


def test_mesh_needs_all_cores(tmp_path, library):
    """Panels are shared on the full grid only; every core of it takes part in every step."""
    ran = build("gemm", tmp_path, library).agree(70, 300, 90)
    assert ran.counts["mesh_messages"] > 0
    other = build("gemm", tmp_path, library, threads="4,8").agree(70, 300, 90)
    assert other.counts["mesh_messages"] == 0


def test_pro_shares_panels_by_broadcast(tmp_path, library):
    built = build("gemm", tmp_path, library, machine="sw26010-pro-cpe")
    built.machine = "sw26010-pro"
    assert "athread_rma_row_ibcast" in built.made.sunway.slave and "REG_PUT" not in built.made.sunway.slave
    for sizes in ((70, 300, 90), (530, 77, 260)):
        assert built.agree(*sizes).counts["mesh_messages"] > 0


def test_pro_uses_the_newer_interface(tmp_path, library):
    built = build("mvt", tmp_path, library, machine="sw26010-pro-cpe")
    built.machine = "sw26010-pro"
    assert "athread_dma_iget_stride" in built.made.sunway.slave and "athread_get(" not in built.made.sunway.slave
    built.agree()
