"""PolyBench and more of the corpus on the emulator: results equal to the original's, bit by bit.

Every third program runs on one of the six grids, in turn, at a ragged and a padded size; `make sunway-corpus` runs all
of them on all grids and at all four sets of sizes."""

import pytest

from benchmarks.sunway_programs import GRIDS, contraction_files, run_subject, subjects
from benchmarks.tensor_contractions import contractions
from codegen.cli.main import main
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.corpus import some
from tests.sunway.programs import build

ON_MASTER = {"nussinov": "no-parallelism"}
SUBJECTS = [s.thinned() for s in some(subjects(), 2, 3)]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(SUBJECTS)), ids=[s.name for s in SUBJECTS])
def test_program(tmp_path, library, number):
    s = SUBJECTS[number]
    found = run_subject(s, GRIDS[-1 - number % len(GRIDS)], tmp_path, library)
    want = ("master", 0, ON_MASTER[s.name]) if s.name in ON_MASTER else ("equal", len(s.sizes), "")
    assert (found.kind, found.runs, found.why) == want


@pytest.mark.slow
def test_contractions(tmp_path, library):
    """Some, with four indices and more."""
    (few,) = contraction_files(tmp_path, contractions()[4::20])
    found = run_subject(few.thinned(), "4,8", tmp_path, library)
    assert (found.kind, found.runs) == ("equal", 2), found.why


@pytest.mark.slow
@pytest.mark.parametrize(("name", "real"), [("gemm", "int"), ("jacobi-2d", "float"), ("mvt", "float")])
def test_element_types(tmp_path, library, name, real):
    build(name, tmp_path, library, real=real).agree()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        *(("gemm", "published"), ("floyd-warshall", "published"), ("jacobi-2d", "published-padded")),
        *(("gemm", "no-mesh"), ("jacobi-2d", "no-steps")),
    ],
)
def test_schemes(tmp_path, library, name, scheme):
    build(name, tmp_path, library, scheme=scheme).agree()


def test_stencil_blocks(tmp_path, library):
    """Any number of steps, also none, and grids smaller than a margin."""
    built = build("jacobi-2d", tmp_path, library)
    for sizes in ((0, 40), (1, 90), (2, 3), (13, 133), (7, 1)):
        built.agree(*sizes)


def test_sweeps_of_several_arrays_and_borders(tmp_path, library):
    """Four sweeps, one of them along a border and with a value of each step, in one launch."""
    built = build("fdtd-2d", tmp_path, library)
    assert "time steps at once" in built.made.extra.file("_slave.c")
    for sizes in ((0, 20, 30), (1, 1, 1), (13, 50, 61), (7, 1, 90)):
        assert built.agree(*sizes).counts["launches"] == 1


def test_a_product_that_only_adds_shares_panels(tmp_path):
    """Nothing sets the target first, so with an empty depth nothing touches it."""
    source = tmp_path / "mm.c"
    source.write_text(
        "void mm(int n, int m, int l, double C[n][m], double A[n][l], double B[l][m]) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++)\n"
        "  C[i][j] += A[i][k] * B[k][j];\n#pragma endscop\n}\n"
    )
    made = generate("mm.c", source.read_text(), GenOptions(target="sunway"))
    assert "if (l >= 1) {" in made.extra.file("_slave.c") and "tw_best_shape(n, m, l" in made.extra.file("_slave.c")
    assert main(["check", "--target", "sunway", str(source)]) == 0


SWEEPS = """void f(int T, int n, int m, double A[n][n], double B[n][n]) {
#pragma scop
for (int t = 0; t < T; t++) {
  %s
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) B[i][j] = A[i - 1][j - 1] + A[i][j + 1];
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) A[i][j] = B[i - 1][j] + B[i + 1][j];
}
#pragma endscop
}"""


@pytest.mark.slow
@pytest.mark.parametrize(("extra", "steps"), [
    ("", True),
    ("for (int j = 0; j < n; j++) A[0][j] = 1;", True),
    ("for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) A[i][j] += A[i - 1][j];", False),  # within a step
    ("for (int j = t; j < n; j++) A[0][j] *= 2;", False),  # not the same in all steps
    ("if (m > 5) for (int j = 0; j < n; j++) A[n - 1][j] = 1;", True),  # never read: a kernel of its own before
])  # fmt: skip
def test_what_is_a_sweep(tmp_path, extra, steps, capsys):
    source = tmp_path / "f.c"
    source.write_text(SWEEPS % extra)
    made = generate("f.c", source.read_text(), GenOptions(target="sunway", stem="f", timeout=100))
    assert ("time steps at once" in made.extra.file("_slave.c")) is steps
    if extra and steps:
        assert main(["check", "--target", "sunway", str(source), "--timeout", "100"]) == 0


TABLE = """void f(int n, double y[n], double x[n + 6], double w[7]) {
#pragma scop
for (int i = 0; i < n; i++)
  for (int k = 0; k < 7; k++) y[i] += w[k] * x[i + k];
#pragma endscop
}"""


@pytest.mark.parametrize(("threads", "together"), [("8,8", True), ("16", False)])
def test_small_tables_are_fetched_once(tmp_path, capsys, threads, together):
    """One command for all 64 cores; with fewer, each fetches its own."""
    source = tmp_path / "f.c"
    source.write_text(TABLE)
    made = generate("f.c", TABLE, GenOptions(target="sunway", stem="f", threads=threads))
    assert ("BCAST_MODE, &w[0]" in made.extra.file("_slave.c")) is together
    assert main(["check", "--target", "sunway", "--threads", threads, str(source)]) == 0


def test_diagonals_of_tiles(tmp_path, library):
    """Nothing is parallel in Gauss-Seidel sweeps but tiles on a diagonal: one launch, a barrier for each diagonal."""
    built = build("seidel-2d", tmp_path, library)
    for sizes in ((0, 20), (1, 2), (3, 3), (20, 70), (9, 150)):
        ran = built.agree(*sizes)
    assert ran.counts["launches"] == 1 and ran.counts["barriers"] > 4


def test_shared_products_of_every_size(tmp_path, library):
    """Less than a block, several turns, no depth at all, and no matrix."""
    built = build("gemm", tmp_path, library)
    for sizes in ((1, 1, 1), (8, 16, 0), (0, 5, 4), (5, 0, 4), (300, 40, 5), (130, 700, 33)):
        built.agree(*sizes)


SUMS = """void f(int n, double y[n], double z[n], double A[n][n], double x[n]) {
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) y[i] = %s;
#pragma endscop
}"""


@pytest.mark.parametrize("sum", ["y[i] + A[i][j] * x[j]", "A[i][j] * x[j] + y[i]", "y[i] - A[i][j] * x[j]"])
def test_sums_are_sums_however_they_are_written(tmp_path, capsys, sum):
    source = tmp_path / "f.c"
    source.write_text(SUMS % sum)
    made = generate("f.c", source.read_text(), GenOptions(target="sunway", stem="f"))
    assert "elements in registers" in made.extra.file("_slave.c")
    assert main(["check", "--target", "sunway", str(source)]) == 0


def test_mesh_needs_all_cores(tmp_path, library):
    """Panels are shared on the full grid only; every core of it takes part in every step."""
    ran = build("gemm", tmp_path, library).agree(70, 300, 90)
    assert ran.counts["mesh_messages"] > 0
    other = build("gemm", tmp_path, library, threads="4,8").agree(70, 300, 90)
    assert other.counts["mesh_messages"] == 0


def test_pro_shares_panels_by_broadcast(tmp_path, library):
    built = build("gemm", tmp_path, library, machine="sw26010-pro-cpe")
    slave = built.made.extra.file("_slave.c")
    assert "athread_rma_row_ibcast" in slave and "simd_put" not in slave
    for sizes in ((70, 300, 90), (530, 77, 260)):
        assert built.agree(*sizes).counts["mesh_messages"] > 0


def test_pro_uses_the_newer_interface(tmp_path, library):
    built = build("mvt", tmp_path, library, machine="sw26010-pro-cpe")
    slave = built.made.extra.file("_slave.c")
    assert "athread_dma_iget_stride" in slave and "athread_get(" not in slave
    built.agree()
