"""Two products that share a block and a kernel are proven, each of them, from the text: damaged text is refused."""

from __future__ import annotations

from functools import cache

import pytest

from codegen.isa.load import load as load_isa
from codegen.isa.widths import OPEN
from codegen.machine.load import load_for
from codegen.options import GenOptions
from codegen.region import make, process_region
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.target.emit import RegionText, Surroundings, emit_region
from codegen.target.matvec.kernel import Beside, MatvecKernel, matvec_kernel, open_macros
from codegen.verify.text.check import wrong_text
from codegen.verify.text.matvec.check import wrong_matvecs
from codegen.verify.text.matvec.kernel import wrong_sweep_kernel
from tests.unit.verify.text.blocked.test_product import changed
from tests.unit.verify.text.matvec.test_kernel import ADD, SCALED

HEAD = "void f(int n, int m, double alpha, double A[n][m], double s[m], double q[n], double p[m], double r[n])"
TWO_NESTS = f"""{HEAD}
{{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      q[i] += A[i][j] * p[j];
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      s[i] -= alpha * A[j][i] * r[j];
#pragma endscop
}}
"""
ONE_NEST = f"""{HEAD}
{{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {{
      s[j] -= alpha * A[i][j] * r[i];
      q[i] += A[i][j] * p[j];
    }}
#pragma endscop
}}
"""
SOURCES = {"two nests": TWO_NESTS, "one nest": ONE_NEST}


def emitted(source: str, target: str = "c", isa: str = "avx2") -> RegionText:
    chosen = GenOptions(target=target, isa=isa)
    (s,) = open_source("in.c", source, chosen).slices
    model = model_region(s, chosen)
    assert model is not None
    made = make(model, chosen, load_for("generic", isa))
    return emit_region(made.program.scop, made.code, Surroundings(), target != "c")


printed = cache(emitted)


@pytest.mark.parametrize("form", SOURCES)
@pytest.mark.parametrize("target", ["c", "openmp"])
def test_two_products_share_a_block(form: str, target: str) -> None:
    made = printed(SOURCES[form], target)
    assert [v.beside is not None for v in made.matvecs] == ([True] if target == "c" else [True, False, False])
    assert wrong_text(made) == ""


# What makes two products two: the text, and what stands there instead.
APART = {
    "one needs the other's result": ("* r[j]", "* q[j]"),
    "one result": ("s[i] -= alpha * A[j][i] * r[j]", "q[i] -= alpha * A[j][i] * r[j]"),
    "a part of the matrix": ("for (int j = 0; j < n; j++)", "for (int j = 1; j < n; j++)"),
    "another matrix": ("alpha * A[j][i]", "alpha * B[j][i]"),
    "both along its lines": ("alpha * A[j][i] * r[j]", "alpha * A[i][j] * r[j]"),
}


@pytest.mark.parametrize("what", APART)
def test_others_have_a_block_each(what: str) -> None:
    source = TWO_NESTS.replace("double A[n][m]", "double A[n][m], double B[n][m]").replace(*APART[what])
    if what in ("both along its lines", "one result", "one needs the other's result"):
        source = source.replace("[m]", "[n]").replace("< m", "< n")
    made = emitted(source)
    assert [v for v in made.matvecs if v.beside is None] and not [v for v in made.matvecs if v.beside]


# What is damaged, the text, what stands there instead, and which of several places (-1: all).
BLOCKS = {
    "a constant of the first": ("tw_w0 = alpha", "tw_w0 = 2 * alpha", 0),
    "the first one's result is the second's": ("tw_z = (double *)&s[0]", "tw_z = (double *)&q[0]", 0),
    "a vector begins elsewhere": ("tw_u0 = (const double *)&r[0]", "tw_u0 = (const double *)&r[1]", 0),
    "the vectors are exchanged": ("tw_x0 + tw_b, tw_y, tw_u0,", "tw_u0 + tw_b, tw_y, tw_x0,", 0),
    "the results are exchanged": ("tw_y, tw_u0, tw_z + tw_b", "tw_z, tw_u0, tw_y + tw_b", 0),
    "a result does not move with the block": ("tw_z + tw_b", "tw_z", 0),
    "the other result does": ("tw_y, tw_u0", "tw_y + tw_b, tw_u0", 0),
    "a vector of rows moves with the block": ("tw_u0, tw_z", "tw_u0 + tw_b, tw_z", 0),
    "the matrix does not move": ("tw_a0 + tw_b", "tw_a0", 0),
    "the sizes are exchanged": ("tw_rows, tw_min(", "tw_depth, tw_min(", 0),
    "blocks overlap": ("tw_b += TW_SIZE(", "tw_b += -1 + TW_SIZE(", -1),
    "a row too few": ("(tw_rows, tw_min", "(tw_rows - 1, tw_min", 0),
    "lines are further apart": ("&A[(long)(tw_rows > 1)][0] - tw_a0", "&A[(long)(tw_rows > 2)][0] - tw_a0", 0),
    "a constant is left out": (", tw_w0);", ");", 0),
    "a part of a group of lines": ("/ 8 * 8", "/ 8 * 7", 0),
}


@pytest.mark.parametrize("what", BLOCKS)
def test_damaged_blocks_are_refused(what: str) -> None:
    made = printed(TWO_NESTS)
    assert wrong_matvecs(made.plain, made.matvecs) == ""
    assert wrong_matvecs(changed(made.plain, *BLOCKS[what]), made.matvecs)


def test_tied_products_do_not_share_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that the printer takes to be independent of the other is found out, and a simpler plan taken."""
    source = TWO_NESTS.replace("* r[j]", "* q[j]").replace("[m]", "[n]").replace("< m", "< n")
    for module in ("target.matvec.pair", "strategy.products.pairs"):
        monkeypatch.setattr(f"codegen.{module}.tied", lambda *_: False)
    chosen = GenOptions(target="c", isa="avx2")
    (s,) = open_source("in.c", source, chosen).slices
    outcome = process_region(s, source, chosen, load_for("generic", "avx2"))
    assert outcome.text is not None and "Two matrix-vector products" not in outcome.text
    assert "both use `q` share a text" in "".join(d.message for d in outcome.diagnostics if d.id == "unproven")


def kernel(elem: str, streams: int, wide: int = 0, ahead: int = 16) -> MatvecKernel:
    return MatvecKernel("across", elem, ADD, 1, 1, 0, streams, 1, 8, ahead, wide=wide, beside=Beside(SCALED, 1, 1))


@pytest.mark.parametrize("isa", ["generic", "avx2", "avx512", "neon"])
@pytest.mark.parametrize("elem", ["f64", "f32", "i32"])
def test_kernels_are_proven(isa: str, elem: str) -> None:
    table = load_isa(isa)
    lanes = table.lanes_max(elem)
    for k in (kernel(elem, 2 * lanes), kernel(elem, lanes, ahead=0)):
        assert wrong_sweep_kernel(table, k, matvec_kernel(table, k)) == ""


@pytest.mark.parametrize("elem", ["f64", "f32"])
def test_every_width_is_proven(elem: str) -> None:
    table, k = load_isa(OPEN, 512), kernel(elem, 8, 16)
    assert wrong_sweep_kernel(table, k, matvec_kernel(table, k), open_macros(table, k)) == ""


# Of the kernel for AVX2 on doubles: the text, what stands there instead, and which of several places.
KERNELS = {
    "a row is left out": ("if (4 * g + 2 < m)", "if (4 * g + 3 < m)", 0),
    "a row that is not there": ("if (4 * g + 2 < m)", "if (4 * g + 1 < m)", 0),
    "another row": ("_mm256_mul_pd(r_2, w0v)", "_mm256_mul_pd(r_1, w0v)", 0),
    "another row's factor": ("d[4 * g + 2]", "d[4 * g + 1]", 0),
    "the factors of later rows": ("u[i + (r < m ? r : m - 1)]", "u[i + (r < m ? r + 1 : m - 1)]", 0),
    "a factor past the end": ("u[i + (r < m ? r : m - 1)]", "u[i + r]", 0),
    "a constant is left out": ("_mm256_mul_pd(r_0, w0v)", "r_0", 0),
    "the result is not stored": ("_mm256_storeu_pd(z + j, top);", ";", 0),
    "the result is stored elsewhere": ("_mm256_storeu_pd(z + j, top)", "_mm256_storeu_pd(z + j + 4, top)", 0),
    "the result is stored among the sums": ("_mm256_storeu_pd(z + j, top)", "_mm256_storeu_pd(c, top)", 0),
    "the sums are stored in the result": ("(c + 4 * g, sum[g])", "(z + 4 * g, sum[g])", 0),
    "it begins with other elements": ("all = _mm256_loadu_pd(z + j)", "all = _mm256_loadu_pd(z)", 0),
    "it begins with the sums": ("all = _mm256_loadu_pd(z + j)", "all = _mm256_loadu_pd(x + j)", 0),
    "another block of columns": ("sum, z, j + 4 * v", "sum, z, j", 0),
    "columns are left out": ("j <= k - 4; j += 4)", "j <= k - 4; j += 8)", 0),
    "columns past the end": ("j <= k - 4; j += 4)", "j <= k - 3; j += 4)", 0),
    "the rest is lost": ("if (j < k)", "if (j < k - 1)", 0),
    "the rest is not stored": ("z[j + e] = rest[e];", ";", 0),
    "an element of the rest is not stored": ("e < k - j; e++) z", "e < k - j - 1; e++) z", 0),
    "the rest is another": ("z[j + e] = rest[e]", "z[j + e] = rest[e + 4]", 0),
    "the rest begins with another": ("rest[e] = z[j + e]", "rest[e] = x[j + e]", 0),
    "the rest's rows overlap": ("rest[4 * r + 8 + e]", "rest[3 * r + 8 + e]", 0),
    "sums of another row": ("a + (i + (r < m ? r : m - 1)) * pitch", "a + (i + (r < m ? 0 : m - 1)) * pitch", 0),
    "a row past the end": ("a + (i + (r < m ? r : m - 1)) * pitch", "a + (i + r) * pitch", 0),
    "a column of another group": ("t[g][q], b[q]", "t[0][q], b[q]", 0),
    "a column too many": ("if (q < columns)", "if (q <= columns)", 0),
    "a column is taken twice": ("t[g][q], b[q]", "t[g][0], b[q]", 0),
    "groups overlap": ("i < several; i += 8", "i < several; i += 4", 0),
    "groups leave rows out": ("i < several; i += 8", "i < several; i += 9", 0),
    "a row too few in a group": ("_rows(2, 4, 8, i", "_rows(2, 4, 7, i", 0),
    "the last rows are lost": ("for (; i < n; i += 4)", "for (; i < n - 1; i += 4)", 0),
    "the last rows are taken to be whole": ("const long m = n - i < 4 ? n - i : 4", "const long m = 4", 0),
    "the last rows are too few": ("const long m = n - i < 4 ? n - i : 4", "const long m = n - i < 4 ? n - i : 3", 0),
    "the edge is stored in the result": ("y[i + r] = edge[r]", "z[i + r] = edge[r]", 0),
    "something else is written": ("long j = 0;", "long j = 0; z[0] = c[0];", 0),
}


@pytest.mark.parametrize("what", KERNELS)
def test_damaged_kernels_are_refused(what: str) -> None:
    table, k = load_isa("avx2"), kernel("f64", 8)
    text = _text()
    assert text == matvec_kernel(table, k)
    assert wrong_sweep_kernel(table, k, changed(text, *KERNELS[what]))


@cache
def _text() -> str:
    """The kernel, which is proven."""
    table, k = load_isa("avx2"), kernel("f64", 8)
    text = matvec_kernel(table, k)
    assert wrong_sweep_kernel(table, k, text) == ""
    return text
