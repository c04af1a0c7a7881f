"""Printed matrix-vector products are proven from the text itself: damaged text is refused, one place at a time.

Every change is one that a mistake in a template or printer would make. Nothing here is compiled or run.
"""

from __future__ import annotations

from functools import cache

import pytest

from codegen.isa.load import load as load_isa
from codegen.machine.load import load_for
from codegen.opened import open_source
from codegen.options import GenOptions
from codegen.region import make, process_region
from codegen.region_model import model_region
from codegen.scop.lanes import Lane
from codegen.target.emit import RegionText, Surroundings, emit_region
from codegen.target.matvec.kernel import MatvecKernel, matvec_kernel
from codegen.target.matvec.sweep import MatvecPrinter
from codegen.verify.text.check import wrong_text
from codegen.verify.text.sweep.check import wrong_sweeps
from codegen.verify.text.sweep.kernel import wrong_sweep_kernel
from tests.unit.verify.text.test_products import changed

ACROSS = """void f(int n, int m, double alpha, double A[n][m], double x[m], double y[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i] += alpha * A[i][j] * x[j];
#pragma endscop
}
"""
LANES = ACROSS.replace("A[n][m]", "A[m][n]").replace("A[i][j]", "A[j][i]")
FOLD = """void f(int n, int m, int A[n][m], int x[m], int y[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i] += A[i][j] * x[j];
#pragma endscop
}
"""
COPIED = """void f(int n, int m, double A[n][m], double x[m][3], double y[n][2])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i][1] += A[i][j] * x[j][2];
#pragma endscop
}
"""
SOURCES = {"across": ACROSS, "lanes": LANES, "fold": FOLD, "copied": COPIED}


@cache
def printed(form: str, target: str = "openmp") -> RegionText:
    chosen = GenOptions(target=target, isa="avx2")
    (s,) = open_source("in.c", SOURCES[form], chosen).slices
    model = model_region(s, chosen)
    assert model is not None
    made = make(model, chosen, load_for("generic", "avx2"))
    return emit_region(made.program.scop, made.code, Surroundings(), target != "c")


@pytest.mark.parametrize("form", SOURCES)
@pytest.mark.parametrize("target", ["c", "openmp"])
def test_sweeps_are_proven(form: str, target: str) -> None:
    emitted = printed(form, target)
    assert emitted.sweeps
    assert wrong_text(emitted) == ""


# The form, what is damaged, the text, what stands there instead, and which of several places (-1: all).
BLOCKS = {
    "a constant is another": ("across", "tw_s0 = alpha", "tw_s0 = 2 * alpha", 0),
    "the matrix begins with another element": (
        "across",
        "tw_a0 = (const double *)&A[0][0]",
        "tw_a0 = (const double *)&A[0][1]",
        0,
    ),
    "lines are further apart": ("across", "&A[1][0] - tw_a0", "&A[2][0] - tw_a0", 0),
    "lines run along the other subscript": ("across", "&A[1][0] - tw_a0", "&A[0][1] - tw_a0", 0),
    "the vector begins with its second element": ("across", "(const double *)&x[0]", "(const double *)&x[1]", 0),
    "the result is another array": ("across", "(double *)&y[0]", "(double *)&x[0]", 0),
    "work is taken to be there": ("across", "tw_work >= TW_SIZE(64)", "tw_work >= -2", 0),
    "blocks of the depth leave steps out": ("across", "tw_b += TW_SIZE(", "tw_b += 1 + TW_SIZE(", -1),
    "blocks of the depth overlap": ("across", "tw_min(TW_SIZE(8192), tw_depth - tw_b)", "tw_depth - tw_b", 0),
    "the last block has a step too many": ("across", "tw_depth - tw_b)", "tw_depth - tw_b + 1)", 0),
    "the vector does not move with the block": ("across", "tw_x0 + tw_b", "tw_x0", 0),
    "the matrix does not move with the block": ("across", "tw_first * tw_pitch0 + tw_b", "tw_first * tw_pitch0", 0),
    "a thread's rows begin elsewhere": ("across", "tw_y + tw_first", "tw_y", 0),
    "a thread reads the first rows": ("across", "tw_a0 + tw_first * tw_pitch0", "tw_a0", 0),
    "threads overlap": ("across", "(tw_me + 1)", "(tw_me + 2)", 0),
    "rows of a thread are lost": ("across", "(tw_me + 1)", "tw_me", 0),
    "units are too few": ("across", "tw_panels(tw_rows, 12)", "tw_rows / 12", 0),
    "more rows than there are": ("across", "tw_min(tw_rows, tw_units", "tw_max(tw_rows, tw_units", 0),
    "a part of a group of lines": ("across", "/ 12 * 12", "/ 12 * 11", 0),
    "more groups than lines": ("across", ": tw_rows / 12 * 12", ": tw_rows / 12 * 12 + 12", 0),
    "blocks of rows leave rows out": ("lanes", "tw_b += TW_SIZE(", "tw_b += 1 + TW_SIZE(", -1),
    "the result does not move with the block": ("lanes", "tw_y + tw_b", "tw_y", 0),
    "one step less": ("lanes", "- tw_b), tw_depth,", "- tw_b), tw_depth - 1,", 0),
    "a block of one thread goes on": ("lanes", "tw_past - tw_b", "tw_rows - tw_b", 0),
    "the memory for copies is too small": (
        "copied",
        "tw_alloc((tw_depth + tw_rows)",
        "tw_alloc((tw_depth + tw_rows - 1)",
        0,
    ),
    "the memory is for one vector": ("copied", "tw_alloc((tw_depth + tw_rows)", "tw_alloc((tw_depth)", 0),
    "a part of the vector is copied": ("copied", "tw_i < tw_depth", "tw_i < tw_depth - 1", 0),
    "another column is copied": ("copied", "x[tw_i][2]", "x[tw_i][1]", 0),
    "another element is copied": ("copied", "x[tw_i][2]", "x[tw_i + 1][2]", 0),
    "the result's copy lies on the vector's": ("copied", "tw_y = tw_next", "tw_y = tw_room", 0),
    "the result is not copied first": ("copied", "tw_y[tw_i] = y[tw_i][1]", "tw_y[tw_i] = 0", 0),
    "the result is copied back elsewhere": ("copied", "y[tw_i][1] = tw_y[tw_i]", "y[tw_i][0] = tw_y[tw_i]", 0),
    "a part of the result is copied back": (
        "copied",
        "tw_i < tw_rows; tw_i++) y[",
        "tw_i < tw_rows - 1; tw_i++) y[",
        0,
    ),
}


@pytest.mark.parametrize("what", BLOCKS)
def test_damaged_blocks_are_refused(what: str) -> None:
    form, *change = BLOCKS[what]
    emitted = printed(form)
    assert wrong_sweeps(changed(emitted.plain, *change), emitted.sweeps)  # type: ignore[arg-type]


def test_results_must_be_copied_back() -> None:
    emitted = printed("copied")
    text = changed(emitted.plain, "y[tw_i][1] = tw_y[tw_i];", ";", 0)
    assert wrong_sweeps(text, emitted.sweeps)


def test_what_a_printer_that_errs_prints_gives_way_to_a_simpler_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    right = MatvecPrinter._address
    monkeypatch.setattr(MatvecPrinter, "_address", lambda *a: right(*a).replace("x[0]", "x[1]"))
    chosen = GenOptions(target="c", isa="avx2")
    (s,) = open_source("in.c", ACROSS, chosen).slices
    outcome = process_region(s, ACROSS, chosen, load_for("generic", "avx2"))
    assert outcome.text is not None and "tw_depth" not in outcome.text
    assert "could not be proven" in "".join(d.message for d in outcome.diagnostics if d.id == "fallback")


ADD = Lane("add", (Lane("acc"), Lane("mul", (Lane("a"), Lane("b")))))
LEAST = Lane("min", (Lane("acc"), Lane("add", (Lane("a"), Lane("b")))))
SCALED = Lane("add", (Lane("acc"), Lane("mul", (Lane("mul", (Lane("a"), Lane("const"))), Lane("b")))))
TWO = Lane("add", (ADD, Lane("mul", (Lane("a", (), 1), Lane("b", (), 1)))))


def kernel(form: str, elem: str = "f64", lanes: int = 4) -> MatvecKernel:
    if form == "lanes":
        return MatvecKernel("lanes", elem, SCALED, 1, 1, 1, 3, 2, 8, 16)
    if form == "fold":
        return MatvecKernel("fold", elem, ADD, 1, 1, 0, 2, 2, 8, 16, "add", "zero")
    return MatvecKernel("across", elem, ADD, 1, 1, 0, 2 * lanes, 1, 8, 16)


@pytest.mark.parametrize("isa", ["generic", "avx2", "avx512", "neon"])
@pytest.mark.parametrize("elem", ["f64", "f32", "i32"])
def test_kernels_are_proven(isa: str, elem: str) -> None:
    table = load_isa(isa)
    lanes = table.lanes_max(elem)
    kernels = [kernel("lanes", elem), kernel("across", elem, lanes), kernel("fold", elem)]
    kernels += [
        MatvecKernel("lanes", elem, TWO, 2, 2, 0, 3, 8, 8, 0),
        MatvecKernel("across", elem, TWO, 2, 2, 0, lanes, 1, 8, 16),
        MatvecKernel("fold", elem, LEAST, 1, 1, 0, 4, 2, 8, 16, "min", "most"),
    ]
    for k in kernels:
        assert wrong_sweep_kernel(table, k, matvec_kernel(table, k)) == ""


# Of the kernel for AVX2 on doubles: its form, the text, what stands there instead, and which of several places.
KERNELS = {
    "the next element of the vector": ("lanes", "_mm256_set1_pd(x[p + 1])", "_mm256_set1_pd(x[p + 2])", 0),
    "the next line": ("lanes", "a_1 = a + (p + 1) * pitch", "a_1 = a + (p + 2) * pitch", 0),
    "a vector further": ("lanes", "_mm256_loadu_pd(a_0 + j + 4)", "_mm256_loadu_pd(a_0 + j + 8)", 0),
    "steps in another order": (
        "lanes",
        "c0 = tw_avx2_fma_f64(c0, _mm256_mul_pd(_mm256_loadu_pd(a_1 + j), s0v), x_1)",
        "c0 = tw_avx2_fma_f64(c0, _mm256_mul_pd(_mm256_loadu_pd(a_2 + j), s0v), x_2)",
        0,
    ),
    "a constant is left out": ("lanes", "_mm256_mul_pd(_mm256_loadu_pd(a_1 + j), s0v)", "_mm256_loadu_pd(a_1 + j)", 0),
    "the wrong sum is stored": ("lanes", "_mm256_storeu_pd(y + j + 4, c1)", "_mm256_storeu_pd(y + j + 4, c0)", 0),
    "a sum is stored elsewhere": ("lanes", "_mm256_storeu_pd(y + j + 4, c1)", "_mm256_storeu_pd(y + j + 8, c1)", 0),
    "a sum is not stored": ("lanes", "_mm256_storeu_pd(y + j + 4, c1);", "", 0),
    "vectors go past the end": ("lanes", "j <= n - 4; j += 4", "j <= n - 3; j += 4", 0),
    "vectors leave elements out": ("lanes", "j <= n - 8; j += 8", "j <= n - 8; j += 12", 0),
    "vectors overlap": ("lanes", "j <= n - 8; j += 8", "j <= n - 8; j += 4", 0),
    "vectors begin with the second": ("lanes", "long j = 0;", "long j = 4;", 0),
    "the rest is lost": ("lanes", "if (j < n)", "if (j < n - 1)", 0),
    "the rest has an element too few": ("lanes", "e < n - j; e++) y", "e < n - j - 1; e++) y", 0),
    "the rest reads past the end": (
        "lanes",
        "for (long e = 0; e < n - j; e++) {",
        "for (long e = 0; e < n - j + 1; e++) {",
        0,
    ),
    "the rest's lines are exchanged": ("lanes", "rest[8 + e] = a_1[j + e]", "rest[8 + e] = a_2[j + e]", 0),
    "the rest's lines overlap": ("lanes", "rest[8 + e] = a_1[j + e]", "rest[7 + e] = a_1[j + e]", 0),
    "there is no room for the rest": ("lanes", "double rest[16]", "double rest[12]", 0),
    "the rest is stored elsewhere": ("lanes", "y[j + e] = rest[e]", "y[j + e] = rest[e + 4]", 0),
    "steps are repeated": ("lanes", "p < several; p += 3", "p < several; p += 2", 0),
    "steps go past the end": ("lanes", "for (; p < k; p++)", "for (; p <= k; p++)", 0),
    "the last steps are left out": ("lanes", "for (; p < k; p++)", "for (; p < k - 1; p++)", 0),
    "a lane of another row": (
        "across",
        "TW_AVX2_SHUFFLE_F64(r0_0, r0_1, 0, 4, 2, 6)",
        "TW_AVX2_SHUFFLE_F64(r0_0, r0_1, 0, 5, 2, 6)",
        0,
    ),
    "a shuffle of other rows": (
        "across",
        "TW_AVX2_SHUFFLE_F64(r0_0, r0_1, 0, 4, 2, 6)",
        "TW_AVX2_SHUFFLE_F64(r0_0, r0_2, 0, 4, 2, 6)",
        2,
    ),
    "columns are exchanged": (
        "across",
        "c0 = tw_avx2_fma_f64(c0, t0_4, x_0)",
        "c0 = tw_avx2_fma_f64(c0, t0_6, x_0)",
        0,
    ),
    "a step is taken twice": (
        "across",
        "c0 = tw_avx2_fma_f64(c0, t0_6, x_1)",
        "c0 = tw_avx2_fma_f64(c0, t0_4, x_0)",
        0,
    ),
    "another block of columns": ("across", "_mm256_loadu_pd(a_2 + j + 4)", "_mm256_loadu_pd(a_2 + j)", 0),
    "a row is read twice": ("across", "a_5 = a + (i + 5) * pitch", "a_5 = a + (i + 4) * pitch", 0),
    "a row past the end": ("across", "(m > 2 ? 2 : m - 1)", "(m > 1 ? 2 : m - 1)", 0),
    "the last row is read beside the matrix": ("across", "(m > 3 ? 3 : m - 1)", "(m > 3 ? 3 : m)", 0),
    "the edge is taken to be whole": ("across", "m == 4 ? y + i : edge", "m == 3 ? y + i : edge", 0),
    "the edge has an element too many": ("across", "r < m; r++) y", "r < m + 1; r++) y", 0),
    "the edge is stored elsewhere": ("across", "y[i + r] = edge[r]", "y[i + r + 1] = edge[r]", 0),
    "the edge is not loaded": ("across", "edge[r] = y[i + r]", "edge[r] = y[i]", 0),
    "a step beyond the last": ("across", "if (j + 1 < k)", "if (j + 1 <= k)", 0),
    "a step of the rest is lost": ("across", "if (j + 1 < k)", "if (j + 2 < k)", 0),
    "the rest's columns are exchanged": ("across", "_mm256_set1_pd(rest[32 + 1])", "_mm256_set1_pd(rest[32 + 2])", 0),
    "rows are stored in one place": ("across", "_mm256_storeu_pd(y + i + 4, c1)", "_mm256_storeu_pd(y + i, c1)", 0),
    "groups of rows leave one out": ("across", "i < several; i += 8", "i < several; i += 9", 0),
    "a sum begins with something": ("fold", "_mm256_set1_pd(-0.0)", "_mm256_set1_pd(1.0)", 0),
    "columns are added twice": ("fold", "_mm256_loadu_pd(a_0 + j + 4)", "_mm256_loadu_pd(a_0 + j)", 0),
    "the vector's element of another column": ("fold", "_mm256_loadu_pd(x + j + 4)", "_mm256_loadu_pd(x + j)", 0),
    "a partial sum is forgotten": ("fold", "c0_0 = _mm256_add_pd(c0_0, c0_1);", "", 0),
    "a partial sum is added twice": (
        "fold",
        "c0_0 = _mm256_add_pd(c0_0, c0_1);",
        "c0_0 = _mm256_add_pd(c0_0, c0_0);",
        0,
    ),
    "lanes are joined twice": ("fold", "c0_0, c0_0, 2, 3, 0, 1)", "c0_0, c0_0, 1, 2, 3, 0)", 0),
    "a lane is forgotten": ("fold", "c0_0, c0_0, 1, 2, 3, 0)", "c0_0, c0_0, 0, 1, 2, 3)", 0),
    "the element itself is forgotten": ("fold", "c0_0 = _mm256_add_pd(_mm256_set1_pd(y[i]), c0_0);", "", 0),
    "another row's element": ("fold", "_mm256_set1_pd(y[i + 1])", "_mm256_set1_pd(y[i])", 0),
    "the last columns are lost": ("fold", "for (long e = j; e < k; e++)", "for (long e = j; e < k - 1; e++)", 0),
    "the last columns begin too late": ("fold", "for (long e = j; e < k; e++)", "for (long e = j + 1; e < k; e++)", 0),
    "another lane is the sum": ("fold", "y[i + 1] = last[0]", "y[i + 1] = last[4]", 0),
    "a sum goes to another row": ("fold", "y[i + 1] = last[0]", "y[i] = last[0]", 0),
}


@pytest.mark.parametrize("what", KERNELS)
def test_damaged_kernels_are_refused(what: str) -> None:
    form, *change = KERNELS[what]
    table, k = load_isa("avx2"), kernel(form)
    text = matvec_kernel(table, k)
    assert wrong_sweep_kernel(table, k, text) == ""
    assert wrong_sweep_kernel(table, k, changed(text, *change))  # type: ignore[arg-type]
