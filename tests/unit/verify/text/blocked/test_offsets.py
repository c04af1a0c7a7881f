"""Products whose rows, columns or depth are several loops go through tables of offsets; damaged text is refused."""

from __future__ import annotations

import pytest

from codegen.machine.load import load_for
from codegen.region import process_region
from codegen.source_file import open_source
from codegen.verify.text.blocked.product import wrong_products
from codegen.verify.text.check import wrong_text
from tests.unit.verify.text.blocked.test_product import changed, options, printed

SEVERAL = """void f(int na, int nb, int nc, int nd, int ne, int nf, double A[na][ne][nb][nf], double B[nd][nf][nc][ne],
       double C[na][nb][nc][nd])
{
#pragma scop
  for (int a = 0; a < na; a++)
    for (int b = 1; b < nb; b++)
      for (int c = 0; c < nc; c++)
        for (int d = 0; d < nd; d++)
          for (int e = 0; e < ne; e++)
            for (int f = 0; f < nf; f++)
              C[a][b][c][d] += A[a][e][b][f] * B[d][f][c][e];
#pragma endscop
}
"""


CONVOLUTION = """void f(int no, int h, int w, int nc, double in[nc][h + 2][w + 2], double wt[no][nc][3][3],
       double out[no][h][w])
{
#pragma scop
  for (int o = 2; o < no; o++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        for (int c = 0; c < nc; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              out[o][y][x] += in[c][y + r][x + s] * wt[o][c][r][s];
#pragma endscop
}
"""


@pytest.mark.parametrize("source", [SEVERAL, CONVOLUTION], ids=["several", "convolution"])
@pytest.mark.parametrize("target", ["c", "openmp"])
def test_products_of_several_loops_are_proven(target: str, source: str) -> None:
    emitted = printed(target, source)
    assert emitted.products and emitted.products[0].tables
    assert wrong_text(emitted) == ""


def test_they_are_printed() -> None:
    (s,) = open_source("in.c", SEVERAL, options("c")).slices
    outcome = process_region(s, SEVERAL, options("c"), load_for("generic", "avx2"))
    assert outcome.text is not None and not [d for d in outcome.diagnostics if d.id == "region-refused"]


# What is damaged, the text, what stands there instead, and which of several places (-1: all).
CHANGES = {
    "a table of another array": ("*tw_next++ = &A[a][0][b][0] - tw_A_1", "*tw_next++ = &C[a][b][0][0] - tw_A_1", 0),
    "a table from another element": ("tw_A_1 = &A[0][0][1][0]", "tw_A_1 = &A[0][0][0][0]", 0),
    "a table with exchanged loops": ("*tw_next++ = &A[0][e][1][f]", "*tw_next++ = &A[0][f][1][e]", 0),
    "a table with its loops in another order": (
        "for (long c = 0; c < nc; c++) for (long d = 0; d < nd; d++) *tw_next++ = &B",
        "for (long d = 0; d < nd; d++) for (long c = 0; c < nc; c++) *tw_next++ = &B",
        0,
    ),
    "a table that begins late": ("for (long f = 0; f < nf; f++) *tw_next", "for (long f = 1; f < nf; f++) *tw_next", 0),
    "a table that ends early": ("for (long a = 0; a < na; a++)", "for (long a = 0; a < na - 1; a++)", 0),
    "every other entry": ("for (long e = 0; e < ne; e++)", "for (long e = 0; e < ne; e += 2)", 0),
    "a table of fewer loops": ("for (long e = 0; e < ne; e++) for", "for", 0),
    "a table is not filled": ("*tw_next++ = &B[d][0][c][0] - tw_B_2;", ";", 0),
    "tables overlap": ("long *const tw_A_1_row = tw_next", "long *const tw_A_1_row = tw_C_0_row", 0),
    "no room for a table": ("tw_offsets += (long)ne * (long)nf;", "", 0),
    "no room to begin at a line": ("* (long)sizeof(double) + 64 +", "* (long)sizeof(double) +", 0),
    "tables in the operands' buffers": ("tw_align(tw_right + (tw_nc", "tw_align(tw_right + (0 * tw_nc", 0),
    "offsets of half the size": ("tw_offsets * (long)sizeof(long)", "tw_offsets * (long)sizeof(int)", 0),
    "entries of another type": ("long *tw_next = (long *)", "int *tw_next = (int *)", 0),
    "elements of another type": ("const double *const tw_A_1", "const float *const tw_A_1", 0),
    "packing by the wrong table": ("tw_B_2_col[colb + colt + colr]", "tw_C_0_col[colb + colt + colr]", 0),
    "packing reads the next row": ("tw_A_1_row[rowb + rowt + rowr]", "tw_A_1_row[rowb + rowt + rowr + 1]", 1),
    "packing leaves the depth out": (" + tw_A_1_dep[depb + depr]", "", 0),
    "packing takes a table twice": (
        "tw_A_1_row[rowb + rowt + rowr] + tw_A_1_dep[depb + depr]",
        "tw_A_1_row[rowb + rowt + rowr] + tw_A_1_row[depb + depr]",
        0,
    ),
    "packing of another operand": (
        "tw_to[depr * 6 + rowr] = tw_A_1[tw_A_1",
        "tw_to[depr * 6 + rowr] = tw_B_2[tw_A_1",
        0,
    ),
    "packing begins beside the block": ("tw_B_2_dep[depb + depr]", "tw_B_2_dep[depr]", 0),
    "rows may lie anywhere": ("&& tw_even(tw_C_0_row + rowb + rowt, tw_m)", "", 0),
    "fewer rows are tested": (
        "tw_even(tw_C_0_row + rowb + rowt, tw_m)",
        "tw_even(tw_C_0_row + rowb + rowt, tw_m - 1)",
        0,
    ),
    "other rows are tested": ("tw_even(tw_C_0_row + rowb + rowt, tw_m)", "tw_even(tw_C_0_row + rowb, tw_m)", 0),
    "columns may lie anywhere": ("&& tw_even(tw_C_0_col + colb + colt, tw_n)", "", 0),
    "columns of another array are tested": ("tw_even(tw_C_0_col", "tw_even(tw_B_2_col", 0),
    "columns need not be neighbours": (
        "- tw_C_0_col[colb + colt] == (tw_n > 1)",
        "- tw_C_0_col[colb + colt] == 2 * (tw_n > 1)",
        0,
    ),
    "a test past the table": (
        "tw_even(tw_C_0_row + rowb + rowt, tw_m)",
        "tw_even(tw_C_0_row + rowb + rowt, 6 + tw_m)",
        0,
    ),
    "rows in another distance": (
        "? tw_C_0_row[rowb + rowt + (tw_m > 1)]",
        "? tw_C_0_row[rowb + rowt + 2 * (tw_m > 1)]",
        0,
    ),
    "the tile of another place": ("&tw_C_0[tw_C_0_row[rowb + rowt]", "&tw_C_0[tw_C_0_row[rowb]", 0),
    "the copy of another element": ("= tw_C_0[tw_C_0_row[rowb + rowt + rowr]", "= tw_C_0[tw_C_0_row[rowb + rowt]", 0),
    "the copy goes to another element": (
        "+ tw_C_0_col[colb + colt + colr]] = tw_tile",
        "+ tw_C_0_col[colb + colr]] = tw_tile",
        0,
    ),
}
CONVOLVED = {
    "a row of another bound": ("for (long o = 2; o < no; o++)", "for (long o = 2; o <= no; o++)", 0),
    "entries are numbered from the first row": ("tw_wt_2_o2[o2b + o2t + o2r - 2]", "tw_wt_2_o2[o2b + o2t + o2r]", 0),
    "a look ahead past the table": ("tw_in_1_dep[tw_ahead]", "tw_in_1_dep[tw_ahead + 1]", 0),
    "an offset without its window": ("&in[c][r + 0][s + 0]", "&in[c][r + 0][0]", 0),
    "packing reads past the last column": (
        "for (long colp = 0; colp < tw_c;",
        "for (long colp = 0; colp < tw_c + 1;",
        0,
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_damaged_tables_are_refused(what: str) -> None:
    emitted = printed("c", SEVERAL)
    assert wrong_products(changed(emitted.plain, *CHANGES[what]), emitted.products)


@pytest.mark.parametrize("what", CONVOLVED)
def test_damaged_convolutions_are_refused(what: str) -> None:
    emitted = printed("c", CONVOLUTION)
    assert wrong_products(changed(emitted.plain, *CONVOLVED[what]), emitted.products)
