"""Printed matrix-vector products are proven from the text itself: damaged text is refused, one place at a time.

Every change is one that a mistake in a template or printer would make. Nothing here is compiled or run.
"""

from __future__ import annotations

from functools import cache

import pytest

from codegen.isa.load import load as load_isa
from codegen.machine.load import load_for
from codegen.options import GenOptions
from codegen.region import make, process_region
from codegen.region_model import model_region
from codegen.scop.lanes import Lane
from codegen.source_file import open_source
from codegen.target.emit import RegionText, Surroundings, emit_region
from codegen.target.matvec.kernel import MatvecKernel, matvec_kernel
from codegen.target.matvec.view import MatvecPrinter
from codegen.verify.text.check import wrong_text
from codegen.verify.text.matvec.check import wrong_matvecs
from codegen.verify.text.matvec.kernel import wrong_sweep_kernel
from tests.unit.verify.text.blocked.test_product import changed

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
def printed(form: str, target: str = "openmp", isa: str = "avx2") -> RegionText:
    chosen = GenOptions(target=target, isa=isa)
    (s,) = open_source("in.c", SOURCES[form], chosen).slices
    model = model_region(s, chosen)
    assert model is not None
    made = make(model, chosen, load_for("generic", isa))
    return emit_region(made.program.scop, made.code, Surroundings(), target != "c")


@pytest.mark.parametrize("form", SOURCES)
@pytest.mark.parametrize("target", ["c", "openmp"])
def test_sweeps_are_proven(form: str, target: str) -> None:
    emitted = printed(form, target)
    assert emitted.matvecs
    assert wrong_text(emitted) == ""


# The form, what is damaged, the text, what stands there instead, and which of several places (-1: all).
LATER = "&A[(long)(tw_rows > 1)][0] - tw_a0"
BLOCKS = {
    "a constant is another": ("across", "tw_s0 = alpha", "tw_s0 = 2 * alpha", 0),
    "the matrix begins with another element": (
        "across",
        "tw_a0 = (const double *)&A[0][0]",
        "tw_a0 = (const double *)&A[0][1]",
        0,
    ),
    "lines are further apart": ("across", LATER, "&A[(long)(tw_rows > 2)][0] - tw_a0", 0),
    "lines run along the other subscript": ("across", LATER, "&A[0][(long)(tw_rows > 1)] - tw_a0", 0),
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
    "units are too few": ("across", "tw_panels(tw_rows, 8)", "tw_rows / 8", 0),
    "more rows than there are": ("across", "tw_min(tw_rows, tw_units", "tw_max(tw_rows, tw_units", 0),
    "a part of a group of lines": ("across", "/ 8 * 8", "/ 8 * 7", 0),
    "more groups than lines": ("across", "tw_rows / 8 * 8", "tw_rows / 8 * 8 + 8", 0),
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
    "the memory for copies is of another type": ("copied", "double *const tw_room", "float *const tw_room", 0),
    "the copy is of another type": ("copied", "double *const tw_x0", "float *const tw_x0", 0),
    "the amount of work is cut off": ("copied", "const double tw_work", "const int tw_work", 0),
    "copies are given back before they are read": (
        "copied",
        "double *const tw_y =",
        "tw_free(tw_room); double *const tw_y =",
        0,
    ),
    "copies are given back twice": ("copied", "tw_free(tw_room);", "tw_free(tw_room); tw_free(tw_room);", 0),
    "threads give copies back": ("copied", "const long tw_first =", "tw_free(tw_room); const long tw_first =", 0),
}


@pytest.mark.parametrize("what", BLOCKS)
def test_damaged_blocks_are_refused(what: str) -> None:
    form, *change = BLOCKS[what]
    emitted = printed(form)
    assert wrong_matvecs(changed(emitted.plain, *change), emitted.matvecs)  # type: ignore[arg-type]


def test_results_must_be_copied_back() -> None:
    emitted = printed("copied")
    text = changed(emitted.plain, "y[tw_i][1] = tw_y[tw_i];", ";", 0)
    assert wrong_matvecs(text, emitted.matvecs)


def test_what_a_printer_that_errs_prints_gives_way_to_a_simpler_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    right = MatvecPrinter._address
    monkeypatch.setattr(MatvecPrinter, "_address", lambda *a: right(*a).replace("x[0]", "x[1]"))
    chosen = GenOptions(target="c", isa="avx2")
    (s,) = open_source("in.c", ACROSS, chosen).slices
    outcome = process_region(s, ACROSS, chosen, load_for("generic", "avx2"))
    assert outcome.text is not None and "tw_depth" not in outcome.text
    assert "could not be proven" in "".join(d.message for d in outcome.diagnostics if d.id == "unproven")


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
    if elem == "f64":
        kernels += [
            MatvecKernel("fold", elem, SCALED, 1, 1, 1, 2, 1, 8, 0, "add", "zero"),
            MatvecKernel("across", elem, Lane("add", (Lane("acc"), Lane("a"))), 1, 0, 0, 2 * lanes, 1, 8, 0),
        ]
    for k in kernels:
        assert wrong_sweep_kernel(table, k, matvec_kernel(table, k)) == ""


# Of the kernel for AVX2 on doubles: its form, the text, what stands there instead, and which of several places.
KERNELS = {
    "the next element of the vector": ("lanes", "b[r] = _mm256_set1_pd(x[p + r])", "b[r] = _mm256_set1_pd(x[p])", 0),
    "the next line": ("lanes", "a + (p + r) * pitch", "a + (p + 2 * r) * pitch", 0),
    "a vector further": ("lanes", "line[r] + j + 4 * v", "line[r] + j + 8 * v", 0),
    "another vector of the matrix": ("lanes", "line[r] + j + 4 * v", "line[r] + j", 0),
    "steps in another order": ("lanes", "line[r] = a + (p + r)", "line[r] = a + (p + (lines - 1 - r))", 0),
    "a step is left out": (
        "lanes",
        "for (int r = 0; r < lines; r++) TW_UNROLL",
        "for (int r = 1; r < lines; r++) TW_UNROLL",
        0,
    ),
    "a constant is left out": (
        "lanes",
        "_mm256_mul_pd(_mm256_loadu_pd(line[r] + j + 4 * v), s0v)",
        "_mm256_loadu_pd(line[r] + j + 4 * v)",
        0,
    ),
    "another value of the vector": ("lanes", ", s0v), b[r])", ", s0v), b[0])", 0),
    "the wrong sum is stored": ("lanes", "(y + j + 4 * v, sum[v])", "(y + j + 4 * v, sum[0])", 0),
    "a sum is stored elsewhere": ("lanes", "(y + j + 4 * v, sum[v])", "(y + j + 8 * v, sum[v])", 0),
    "a sum is not stored": ("lanes", "_mm256_storeu_pd(y + j + 4 * v, sum[v]);", ";", 0),
    "a step is not kept": ("lanes", "sum[v] = acc;", ";", 0),
    "there is no room for a sum": ("lanes", "sum[8];", "sum[7];", 0),
    "vectors go past the end": ("lanes", "j <= n - 4; j += 4)", "j <= n - 3; j += 4)", 0),
    "vectors leave elements out": ("lanes", "j += 4 * vectors", "j += 6 * vectors", 0),
    "vectors overlap": ("lanes", "j += 4 * vectors", "j += 2 * vectors", 0),
    "vectors begin with the second": ("lanes", "long j = 0;", "long j = 4;", 0),
    "the rest is lost": ("lanes", "if (j < n)", "if (j < n - 1)", 0),
    "the rest has an element too few": ("lanes", "e < n - j; e++) y", "e < n - j - 1; e++) y", 0),
    "the rest reads past the end": (
        "lanes",
        "for (long e = 0; e < n - j; e++) {",
        "for (long e = 0; e < n - j + 1; e++) {",
        0,
    ),
    "the rest's lines are exchanged": ("lanes", "rest[4 * r + 4 + e] = line[r]", "rest[4 * r + 4 + e] = line[0]", 0),
    "the rest's lines overlap": ("lanes", "rest[4 * r + 4 + e]", "rest[3 * r + 4 + e]", 0),
    "there is no room for the rest": ("lanes", "double rest[16]", "double rest[12]", 0),
    "the rest is read elsewhere": ("lanes", "rest + 4 * r + 4", "rest + 4 * r", 0),
    "the rest is stored elsewhere": ("lanes", "y[j + e] = rest[e]", "y[j + e] = rest[e + 4]", 0),
    "a function for another result": ("lanes", "tail, b, rest, 0, s0)", "tail, b, y, 0, s0)", 0),
    "a function for another place": ("lanes", "line, b, y, j, s0)", "line, b, y, j + 4, s0)", 0),
    "a function that changes what it was given": ("lanes", "sum[v] = acc;", "sum[v] = acc; j += 0;", 0),
    "a function of too few arguments": ("lanes", "tail, b, rest, 0, s0)", "tail, b, rest, s0)", 0),
    "a number of lines that is not constant": ("lanes", "_steps(3, 2", "_steps(n, 2", 0),
    "a constant in another type": ("lanes", "long j, double s0)", "long j, float s0)", 0),
    "an array hides another one": ("lanes", "__m256d sum[8];", "__m256d sum[8]; __m256d b[3];", 0),
    "steps are repeated": ("lanes", "p < several; p += 3", "p < several; p += 2", 0),
    "steps go past the end": ("lanes", "for (; p < k; p++)", "for (; p <= k; p++)", 0),
    "the last steps are left out": ("lanes", "for (; p < k; p++)", "for (; p < k - 1; p++)", 0),
    "fewer lines than there are": ("lanes", "_steps(3, 2", "_steps(2, 2", 0),
    "a lane of another row": (
        "across",
        "TW_AVX2_SHUFFLE_F64(r_0, r_1, 0, 4, 2, 6)",
        "TW_AVX2_SHUFFLE_F64(r_0, r_1, 0, 5, 2, 6)",
        0,
    ),
    "a shuffle of other rows": (
        "across",
        "TW_AVX2_SHUFFLE_F64(r_0, r_1, 0, 4, 2, 6)",
        "TW_AVX2_SHUFFLE_F64(r_0, r_2, 0, 4, 2, 6)",
        0,
    ),
    "columns are exchanged": (
        "across",
        "acc = tw_avx2_fma_f64(acc, t[g][q], b[q])",
        "acc = tw_avx2_fma_f64(acc, t[g][3 - q], b[q])",
        0,
    ),
    "a step is taken twice": (
        "across",
        "acc = tw_avx2_fma_f64(acc, t[g][q], b[q])",
        "acc = tw_avx2_fma_f64(acc, t[g][0], b[0])",
        0,
    ),
    "another group's columns": ("across", "t[g][q], b[q])", "t[0][q], b[q])", 0),
    "another block of columns": ("across", "sum, j + 4 * v)", "sum, j)", 0),
    "a row is read twice": ("across", "(line[4 * g + 2] + j)", "(line[4 * g + 1] + j)", 0),
    "a row past the end": ("across", "(r < m ? r : m - 1)", "(r < m + 1 ? r : m - 1)", 0),
    "the last row is read beside the matrix": ("across", "(r < m ? r : m - 1)", "(r < m ? r : m)", 0),
    "the edge is taken to be whole": ("across", "m == 4 ? y + i : edge", "m == 3 ? y + i : edge", 0),
    "the edge has an element too many": ("across", "r < m; r++) y", "r < m + 1; r++) y", 0),
    "the edge is stored elsewhere": ("across", "y[i + r] = edge[r]", "y[i + r + 1] = edge[r]", 0),
    "the edge is not loaded": ("across", "edge[r] = y[i + r]", "edge[r] = y[i]", 0),
    "a step beyond the last": ("across", "if (q < columns)", "if (q <= columns)", 0),
    "a step of the rest is lost": ("across", "if (q < columns)", "if (q + 1 < columns)", 0),
    "more columns than there are": ("across", "(groups, k - j, tail", "(groups, k - j + 1, tail", 0),
    "the rest's columns are exchanged": ("across", "rest[e] = x[j + e]", "rest[e] = x[j]", 0),
    "rows are stored in one place": ("across", "(c + 4 * g, sum[g])", "(c, sum[g])", 0),
    "rows begin with other sums": ("across", "sum[g] = _mm256_loadu_pd(c + 4 * g)", "sum[g] = _mm256_loadu_pd(c)", 0),
    "groups of rows leave one out": ("across", "i < several; i += 8", "i < several; i += 9", 0),
    "groups of rows of another size": ("across", "_rows(2, 4, 8, i", "_rows(2, 4, 7, i", 0),
    "rows are stored where others are": ("across", "a, pitch, x, y + i)", "a, pitch, x, y)", 0),
    "a sum begins with something": ("fold", "_mm256_set1_pd(-0.0)", "_mm256_set1_pd(1.0)", 0),
    "columns are added twice": ("fold", "line[r] + j + 4 * v", "line[r] + j", 0),
    "the vector's element of another column": ("fold", "_mm256_loadu_pd(x + j + 4 * v)", "_mm256_loadu_pd(x + j)", 0),
    "sums of two rows are one": ("fold", "sum[8 * r + v] = acc", "sum[v] = acc", 0),
    "a partial sum is forgotten": ("fold", "for (int v = 1; v < vectors; v++)", "for (int v = 2; v < vectors; v++)", 0),
    "a partial sum is added twice": (
        "fold",
        "acc = _mm256_add_pd(acc, sum[8 * r + v])",
        "acc = _mm256_add_pd(acc, sum[8 * r])",
        0,
    ),
    "lanes are joined twice": ("fold", "acc, acc, 2, 3, 0, 1)", "acc, acc, 1, 2, 3, 0)", 0),
    "a lane is forgotten": ("fold", "acc, acc, 1, 2, 3, 0)", "acc, acc, 0, 1, 2, 3)", 0),
    "the element itself is forgotten": ("fold", "acc = _mm256_add_pd(_mm256_set1_pd(y[i + r]), acc);", "", 0),
    "another row's element": ("fold", "_mm256_set1_pd(y[i + r])", "_mm256_set1_pd(y[i])", 0),
    "turns of the loop overlap": ("fold", "e < width; e += 4 * vectors", "e < width; e += 4", 0),
    "the last columns are lost": ("fold", "for (long e = j; e < k; e++)", "for (long e = j; e < k - 1; e++)", 0),
    "the last columns begin too late": ("fold", "for (long e = j; e < k; e++)", "for (long e = j + 1; e < k; e++)", 0),
    "another lane is the sum": ("fold", "y[i + r] = last[0]", "y[i + r] = last[4]", 0),
    "a sum goes to another row": ("fold", "y[i + r] = last[0]", "y[i] = last[0]", 0),
}


@pytest.mark.parametrize("what", KERNELS)
def test_damaged_kernels_are_refused(what: str) -> None:
    form, *change = KERNELS[what]
    table, k = load_isa("avx2"), kernel(form)
    text = matvec_kernel(table, k)
    assert wrong_sweep_kernel(table, k, text) == ""
    assert wrong_sweep_kernel(table, k, changed(text, *change))  # type: ignore[arg-type]
