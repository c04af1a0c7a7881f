"""What is printed for products is proven from the text itself: damaged text is refused, one place at a time.

Every change is one that a mistake in a template or printer would make. Nothing here is compiled or run.
"""

from __future__ import annotations

import re
from dataclasses import replace
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
from codegen.target.product.blocked import ProductPrinter
from codegen.target.product.microkernel import MicroKernel, micro_kernel
from codegen.verify.poly import poly, var
from codegen.verify.text.blocked.product import wrong_products
from codegen.verify.text.check import wrong_text
from codegen.verify.text.facts import Facts
from codegen.verify.text.kernel import wrong_kernel

SOURCE = """void f(int n, int m, int l, double alpha, double A[n][l], double B[l][m], double C[n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < l; k++)
      for (int j = 0; j < m; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
#pragma endscop
}
"""


TRIANGLE = """void f(int n, int l, double A[n][l], double C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < l; k++)
      for (int j = 0; j <= i; j++)
        C[i][j] += A[i][k] * A[j][k];
#pragma endscop
}
"""


NUMBERS = """void f(double A[100][48], double B[48][96], double C[100][96])
{
#pragma scop
  for (int i = 0; i < 100; i++)
    for (int k = 0; k < 48; k++)
      for (int j = 0; j < 96; j++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


GUARDED = """void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < n; k++)
        if (A[i][k] > 0) C[i][j] -= A[i][k] * B[k][j];
#pragma endscop
}
"""


FEW = """void f(int l, double A[3][l], double B[l][5], double C[3][5])
{
#pragma scop
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < l; k++)
      for (int j = 0; j < 5; j++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


# Few steps: threads keep to their own parts of the result.
SHALLOW = SOURCE.replace("k < l", "k < 48").replace("A[n][l]", "A[n][48]").replace("B[l][m]", "B[48][m]")
# Else they take parts of it as they come, also where rows take different numbers of steps.
STEPS = SOURCE.replace("k < l", "k <= i")


def options(target: str, isa: str = "avx2") -> GenOptions:
    return GenOptions(target=target, isa=isa)


@cache
def printed(target: str, source: str = SOURCE, isa: str = "avx2", machine: str = "generic") -> RegionText:
    """The text of a product of doubles, for AVX2 in register tiles of 6 x 8."""
    chosen = options(target, isa)
    (s,) = open_source("in.c", source, chosen).slices
    model = model_region(s, chosen)
    assert model is not None
    made = make(model, chosen, load_for(machine, isa))
    return emit_region(made.program.scop, made.code, Surroundings(), target != "c")


FORMS = {"box": SOURCE, "triangle": TRIANGLE, "numbers": NUMBERS, "guarded": GUARDED, "few": FEW, "steps": STEPS,
         "shallow": SHALLOW}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("target", ["c", "openmp"])
def test_products_are_proven(target: str, form: str) -> None:
    emitted = printed(target, FORMS[form])
    assert emitted.products
    assert wrong_text(emitted) == ""


@pytest.mark.parametrize("target", ["c", "openmp"])
def test_products_in_vectors_of_any_length_are_proven(target: str) -> None:
    emitted = printed(target, SOURCE, "sve")
    assert emitted.products
    assert wrong_text(emitted) == ""


# What is damaged, the text, what stands there instead, and which of several places (-1: all).
CHANGES = {
    "packing reads the next column": ("B[kb + kr][jb + jt + jr]", "B[kb + kr][jb + jt + jr + 1]", 0),
    "packing of the rest reads the next depth": ("B[kb + kr][jb + jt + jr]", "B[kb + kr + 1][jb + jt + jr]", 0),
    "rows and depth are exchanged in a sliver": ("tw_to[kr * 6 + ir]", "tw_to[ir * 6 + kr]", 0),
    "a value lacks its factor": ("alpha * A[ib + it + ir][kb + kr]", "A[ib + it + ir][kb + kr]", 1),
    "slivers are one row apart": ("tw_left + it * tw_k", "tw_left + (it + 1) * tw_k", 0),
    "slivers are as deep as the largest block": ("tw_right + jt * tw_k", "tw_right + jt * tw_kc", -1),
    "zeros overwrite what was packed": ("tw_z < tw_k * 8", "tw_z < tw_kc * tw_nc", 0),
    "the last sliver is not packed": ("if (tw_n) {", "if (tw_n > 1) {", 0),
    "the last depth is not packed": ("for (long kr = 0; kr < tw_k; kr++)", "for (long kr = 0; kr < tw_k - 1; kr++)", 0),
    "the first row of slivers is left out": (
        "for (long it = 0; it < tw_r; it += 6)",
        "for (long it = 6; it < tw_r; it += 6)",
        0,
    ),
    "the buffer lacks the left operand": ("tw_alloc((tw_nc + tw_team * tw_mc) * tw_kc", "tw_alloc(tw_nc * tw_kc", 0),
    "the buffer is one sliver too small": (
        "tw_alloc((tw_nc + tw_team * tw_mc) * tw_kc",
        "tw_alloc((tw_nc + tw_team * tw_mc - tw_nr) * tw_kc",
        0,
    ),
    "the operands' buffers overlap": ("tw_right + tw_nc * tw_kc", "tw_right + (tw_nc - tw_nr) * tw_kc", 0),
    "stale slivers are used for all blocks of rows": ("if (!tw_once || jb == 0)", "if (jb == 0)", 0),
    "stale slivers are used for all blocks of depth": (
        "if (!tw_once || jb == 0)",
        "if (!tw_once || (jb == 0 && kb == 0))",
        0,
    ),
    "blocks of columns overlap": ("jb += tw_nc", "jb += tw_nr", 0),
    "blocks of depth leave one out": ("kb += tw_kc", "kb += tw_kc + 1", 0),
    "a block of columns is lost": ("for (long jb = 0; jb < m;", "for (long jb = tw_nc; jb < m;", 0),
    "a run of tiles repeats its last": ("jp += tw_run", "jp += tw_run - tw_nr", 0),
    "tiles overlap": ("jt < tw_stop; jt += 8", "jt < tw_stop; jt += 4", 0),
    "the edge has a row too many": ("tw_m = tw_min(6, tw_r - it)", "tw_m = tw_min(6, tw_r - it + 1)", 0),
    "the edge's columns are lost": ("tw_n = tw_min(8, tw_c - jt)", "tw_n = tw_min(4, tw_c - jt)", 0),
    "the target is taken to be whole": (
        "tw_in_place = (tw_m == 6 ? tw_n % 4 == 0 :",
        "tw_in_place = (tw_m == 6 ? 1 :",
        0,
    ),
    "rows that no kernel has are taken to be a tile": (": tw_m % 2 == 0 &&", ": tw_m % 3 == 0 &&", 0),
    "all rows are taken to be a tile": (": tw_m % 2 == 0 &&", ":", 0),
    "a kernel is chosen for fewer rows": ("_add_mul(tw_m, tw_n, tw_k,", "_add_mul(tw_m - 1, tw_n, tw_k,", 0),
    "a kernel is chosen for rows as columns": ("_add_mul(tw_m, tw_n, tw_k,", "_add_mul(tw_n, tw_m, tw_k,", 0),
    "a kernel is given one size": ("_add_mul(tw_m, tw_n, tw_k,", "_add_mul(tw_m, tw_k,", 0),
    "a kernel takes one step less": ("_add_mul(tw_m, tw_n, tw_k,", "_add_mul(tw_m, tw_n, tw_k - 1,", 0),
    "a kernel takes one step more": ("_add_mul(tw_m, tw_n, tw_k,", "_add_mul(tw_m, tw_n, tw_k + 1,", 0),
    "operands of another tile": ("tw_b = tw_right + jt * tw_k", "tw_b = tw_right + (jt + 8) * tw_k", 0),
    "rows in another distance": (
        "&C[ib + it + 1][jb + jt] - &C[ib + it][jb + jt]",
        "&C[ib + it + 2][jb + jt] - &C[ib + it][jb + jt]",
        0,
    ),
    "the tile of another place": ("tw_in_place ? &C[ib + it][jb + jt]", "tw_in_place ? &C[ib + it][jb]", 0),
    "the copy is not loaded": ("tw_tile[ir * 8 + jr] = C[ib + it + ir][jb + jt + jr]", "tw_tile[ir * 8 + jr] = 0", 0),
    "the copy goes to another row": (
        "C[ib + it + ir][jb + jt + jr] = tw_tile",
        "C[ib + it + ir + 1][jb + jt + jr] = tw_tile",
        0,
    ),
    "the copy goes past the edge": ("for (long jr = 0; jr < tw_n; jr++)", "for (long jr = 0; jr < 8; jr++)", -1),
    "runs may have no end": ("(tw_room / tw_k - 6)", "(tw_room / tw_k - 14)", 0),
    "memory is given back twice": ("tw_free(tw_right);", "tw_free(tw_right); tw_free(tw_right);", 0),
    "a part of memory is given back": ("tw_free(tw_right);", "tw_free(tw_right + 1);", 0),
    "memory is given back while it is used": ("tw_tile[6 * 8] = {0};", "tw_tile[6 * 8] = {0}; tw_free(tw_right);", 0),
}
# What is right but for the types that it is in, or but for what is fetched ahead.
TYPES = {
    "the tile is one of integers": ("double tw_tile[6 * 8]", "long tw_tile[6 * 8]", 0),
    "the tile is shorter": ("double tw_tile[6 * 8]", "float tw_tile[6 * 8]", 0),
    "slivers are others": ("double *const tw_to", "float *const tw_to", -1),
    "the buffer is another": ("double *const tw_right", "long *const tw_right", 0),
    "the left operand is another": ("double *const tw_left", "float *const tw_left", 0),
    "a kernel's operand is another": ("const double *const tw_a", "const long *const tw_a", 0),
    "the target is another": ("double *const tw_at", "long *const tw_at", 0),
    "the target is one of pointers": ("double *const tw_at", "double **const tw_at", 0),
    "a size is cut off": ("const long tw_mc =", "const int tw_mc =", 0),
    "the start of a tile is cut off": ("const long tw_stop =", "const int tw_stop =", 0),
    "a number is kept as a test": ("tw_once = tw_first + tw_mc >= tw_past", "tw_once = tw_rows", 0),
    "a loop's counter is short": ("for (long kb = 0;", "for (int kb = 0;", 0),
    "a row is cut off": ("alpha * A[ib + it + ir][kb + kr]", "alpha * A[(int)(ib + it + ir)][kb + kr]", 0),
    "a column loses its sign": ("B[kb + kr][jb + jt + jr]", "B[kb + kr][(unsigned)(jb + jt + jr)]", 0),
    "the target's row is cut off": (
        "C[ib + it + ir][jb + jt + jr] = tw_tile",
        "C[(int)(ib + it) + ir][jb + jt + jr] = tw_tile",
        0,
    ),
    "memory's size is cut off": ("tw_alloc((tw_nc + tw_team", "tw_alloc((int)(tw_nc + tw_team", 0),
    "fetching changes something": ("&B[tw_ahead][jb + jt + tw_l]", "&B[tw_ahead][jb + jt + tw_l++]", 0),
    "fetching stores something": ("&B[tw_ahead][jb + jt + tw_l]", "&B[tw_ahead][jb = jt]", 0),
    "fetching calls something": ("&B[tw_ahead][jb + jt + tw_l]", "&B[rand()][jb + jt + tw_l]", 0),
    "fetching is for a later depth": ("&B[tw_ahead][jb + jt + tw_l]", "&B[tw_ahead + 1][jb + jt + tw_l]", 0),
    "a column is fetched that is not there": ("&B[tw_ahead][jb + jt + tw_l]", "&B[tw_ahead][jb + jt + 8 + tw_l]", 0),
    "the depth that is fetched ends behind the last": ("tw_min(kr + 2, tw_k - 1)", "tw_min(kr + 2, tw_k)", 0),
    "something else is fetched": ("&B[tw_ahead][jb + jt + tw_l]", "B[tw_ahead][jb + jt + tw_l]", 0),
    "fetching has more arguments": ("&B[tw_ahead][jb + jt + tw_l]", "&B[tw_ahead][jb + jt + tw_l], kb++", 0),
}
# What the function that chooses a kernel does.
CHOICES = {
    "a kernel for two rows is chosen for three": ("else if (m <= 2)", "else if (m <= 3)", 0),
    "a kernel for four rows is chosen for more": ("else if (m <= 4)", "else if (m <= 5)", 0),
    "a kernel for half the columns is chosen for more": ("if (n <= 4)", "if (n <= 5)", 0),
    "a kernel of too few rows": ("_tile(6, 2, k,", "_tile(4, 2, k,", 0),
    "a kernel of too few columns": ("_tile(6, 2, k,", "_tile(6, 1, k,", 0),
    "a kernel that nobody has proven": ("_tile(6, 2, k,", "_tile(5, 2, k,", 0),
    "the operands are exchanged": ("_tile(6, 2, k, a, 1, 6, b,", "_tile(6, 2, k, b, 1, 6, a,", 0),
    "one step less": ("_tile(6, 2, k,", "_tile(6, 2, k - 1,", 0),
    "something is changed first": ("if (n <= 4)", "k += 1; if (n <= 4)", 0),
}
THREADS = {
    "no barrier before the next block": ("#pragma omp barrier", "", 0),
    "every thread packs everything": ("#pragma omp for", "", 0),
    "threads share the left operand's buffer": (" + tw_me * tw_mc * tw_kc", "", 0),
    "threads overlap": ("tw_me / tw_across + 1", "tw_me / tw_across + 2", 0),
    "a thread's columns are lost": ("(tw_me % tw_across + 1)", "(tw_me % tw_across)", 0),
    "rows of threads that are not there": ("tw_across = tw_size / tw_down", "tw_across = tw_size", 0),
    "every thread has all rows": ("tw_panels(tw_rows, 6) * (tw_me / tw_across) / tw_down * 6", "0", 0),
}
SHARED = "#pragma omp for collapse(2) schedule(dynamic)"
TASKS = {
    "packing is not waited for": ("#pragma omp barrier", "", 0),
    "every thread packs all of the right operand": ("#pragma omp for nowait", "", 0),
    "every thread packs all of the left operand": ("#pragma omp for nowait", "", 1),
    "every thread runs all tasks": (SHARED, "", 0),
    "tasks are not waited for": (SHARED, f"{SHARED} nowait", 0),
    "another loop is shared with them": (SHARED, SHARED.replace("2", "3"), 0),
    "each step is a task": ("for (long kb = 0;", "#pragma omp for nowait\nfor (long kb = 0;", 0),
    "some threads wait": ("if (!tw_once || jb == 0) {", "if (!tw_once || jb == 0) {\n#pragma omp barrier\n", 0),
    "threads differ": ("tw_once = tw_mb >= tw_rows", "tw_once = tw_mb >= tw_rows + tw_thread()", 0),
    "threads have numbers and tasks": ("tw_once = tw_mb", "tw_a = tw_thread(); const int tw_once = tw_mb", 0),
    "tasks overlap in columns": ("tw_across += tw_task_columns", "tw_across += tw_nr", 0),
    "tasks overlap in rows": ("tw_bottom = tw_min(tw_r, tw_down + tw_mc)", "tw_bottom = tw_r", 0),
    "rows between tasks are lost": ("tw_down += tw_mc", "tw_down += tw_mc + 6", 0),
    "columns of a task are lost": ("tw_edge = tw_min(tw_c, tw_across", "tw_edge = tw_min(tw_c - 1, tw_across", 0),
    "tasks in a triangle": ("long tw_across = 0;", "long tw_across = tw_down;", 0),
    "blocks of rows overlap": ("ib += tw_mb", "ib += tw_mc", 0),
    "the buffer is too small": ("tw_alloc((tw_nc + tw_mb)", "tw_alloc((tw_nc + tw_mc)", 0),
    "a team in a team": (SHARED, "#pragma omp parallel num_threads((int)tw_team) if(tw_team > 1)", 0),
}
DEALT = "#pragma omp for schedule(dynamic) nowait"
PARTS = "#pragma omp for collapse(2) schedule(dynamic) nowait"
AGAIN = "if (jb > 0 || ib > 0)"
LEFT = "2 * tw_nc * tw_kc + tw_half * tw_mb * tw_kc"
DEALT_OUT = {
    "packing is not waited for": ("#pragma omp barrier", ";", 1),
    "the next block of rows is packed too early": (AGAIN, "if (jb > 0)", 0),
    "the next block of columns is packed too early": (AGAIN, "if (ib > 0)", 0),
    "no block waits for the one before": (AGAIN, "if (kb > 0 && kb < 0)", 0),
    "some threads wait, by a choice": (AGAIN, "if (jb > 0 || ib > 0 || (tw_thread() ? 1 : 0))", 0),
    "the barrier asks for what is not known": (AGAIN, "if (jb > 0 || ib > 0 || A[0][0] > 0)", 0),
    "a half is used twice": ("kb / tw_kc % 2", "kb / (2 * tw_kc) % 2", 0),
    "always the same half": ("kb / tw_kc % 2", "0", 0),
    "halves by elements": ("kb / tw_kc % 2", "kb % 2", 0),
    "three halves": ("kb / tw_kc % 2", "kb / tw_kc % 3", 0),
    "all blocks of the right operand in one half": ("tw_dealt_out + tw_half * tw_nc * tw_kc;", "tw_dealt_out;", 0),
    "all blocks of the left operand in one half": (LEFT, "2 * tw_nc * tw_kc", 0),
    "halves overlap": (LEFT, LEFT.replace("tw_half * tw_mb", "tw_half * tw_nr"), 0),
    "operands overlap": (LEFT, LEFT[4:], 0),
    "memory for one half": ("tw_alloc(2 * ", "tw_alloc(", 0),
    "every thread packs all of the right operand": (DEALT, "", 0),
    "every thread packs all of the left operand": (DEALT, "", 1),
    "the right operand is packed once": ("if (ib == 0)", "if (ib == 0 && kb == 0)", 0),
    "every thread runs all tasks": (PARTS, "", 0),
    "packing waits, tasks are not waited for": (DEALT, "#pragma omp barrier\n;", 1),
    "another loop is shared with them": (PARTS, PARTS.replace("2", "3"), 0),
    "each step is a task": ("for (long kb = 0;", DEALT + "\nfor (long kb = 0;", 0),
    "some threads wait": ("if (!tw_once || jb == 0) {", "if (!tw_once || jb == 0) {\n#pragma omp barrier\n", 0),
    "threads differ": ("tw_once = tw_mb >= tw_rows", "tw_once = tw_mb >= tw_rows + tw_thread()", 0),
    "tasks overlap in rows": ("tw_bottom = tw_min(tw_r, tw_down + tw_task_rows)", "tw_bottom = tw_r", 0),
    "rows between tasks are lost": ("tw_down += tw_task_rows", "tw_down += tw_task_rows + 6", 0),
    "tasks in a triangle": ("long tw_across = 0;", "long tw_across = tw_down;", 0),
    "blocks of rows overlap": ("ib += tw_mb", "ib += tw_task_rows", 0),
    "the buffer is too small": ("(tw_nc + tw_mb)", "(tw_nc + tw_nr)", 0),
    "a team in a team": (PARTS, "#pragma omp parallel num_threads((int)tw_team) if(tw_team > 1)", 0),
}
# Two ways in one text: which one is taken, and that the second is right as well.
EITHER = {
    "memory for both": ("tw_small || tw_dealt ? 0", "tw_small ? 0", 0),
    "memory for both at times": ("tw_small || tw_dealt ? 0", "tw_small && tw_dealt ? 0", 0),
    "memory for the second in the first's turn": ("tw_small || tw_dealt ? 0", "tw_small || !tw_dealt ? 0", 0),
    "memory for the first at other times": ("!tw_dealt ? 0", "tw_small ? 0", 0),
    "no memory, but something else": ("!tw_dealt ? 0", "!tw_dealt ? tw_next", 0),
    "the first works in the other's memory": ("tw_right = tw_dealt_out + tw_half", "tw_right = tw_owned + tw_half", 0),
    "the second works in the first's memory": ("tw_right = tw_owned;", "tw_right = tw_dealt_out;", 0),
    "the second has a part in the first's memory": ("tw_left = tw_owned", "tw_left = tw_dealt_out", 0),
    "the first gives back the other's memory": ("tw_free(tw_dealt_out);", "tw_free(tw_owned);", 0),
    "the second gives back the first's memory": ("tw_free(tw_owned);", "tw_free(tw_dealt_out);", 0),
    "the second has too little memory": ("(tw_nc + tw_team * tw_mc)", "(tw_nc + tw_mc)", 0),
    "the second leaves out rows": ("ib = tw_first;", "ib = tw_first + 6;", 0),
    "the second does not wait": ("#pragma omp barrier", ";", 2),
    "threads of the second have the same rows": ("tw_me / tw_across + 1", "tw_me / tw_across + 2", 0),
    "the first has parts by threads' numbers": ("tw_once = tw_mb", "tw_a = tw_thread(); const int tw_once = tw_mb", 0),
}


CORNERS = {
    "tiles are passed over of which some belongs": ("ib + it - (jb + jt) + 5 >= 0", "ib + it - (jb + jt) + 4 >= 0", 0),
    "tiles are taken to be whole": ("ib + it - (jb + jt) - (8 - 1) >= 0", "ib + it - (jb + jt) - (6 - 1) >= 0", 0),
    "cut tiles are taken to be whole": (" && tw_whole", "", 0),
    "all of a cut tile is stored": ("if (ib + it + ir - (jb + jt + jr) >= 0) C[", "C[", 0),
    "less than belongs is stored": (
        "if (ib + it + ir - (jb + jt + jr) >= 0) C[",
        "if (ib + it + ir - (jb + jt + jr) >= 1) C[",
        0,
    ),
    "less than belongs is loaded": (
        "if (ib + it + ir - (jb + jt + jr) >= 0) tw_tile",
        "if (ib + it + ir - (jb + jt + jr) >= 1) tw_tile",
        0,
    ),
    "blocks of a thread are lost": ("ib += tw_mc", "ib += 2 * tw_mc", 0),
    "threads overlap": ("tw_balance(tw_me + 1, tw_size", "tw_balance(tw_me + 2, tw_size + 1", 0),
    "a part too few": ("tw_balance(tw_me, tw_size", "tw_balance(tw_me + 1, tw_size", 0),
    "more parts than threads": ("tw_balance(tw_me, tw_size", "tw_balance(tw_me, tw_size + 1", -1),
    "parts of other work": ("tw_me + 1, tw_size, tw_parts, tw_top", "tw_me + 1, tw_size, tw_parts, 2", 0),
    "parts of fewer panels": ("tw_parts = tw_panels(tw_rows, 6)", "tw_parts = tw_panels(tw_rows, 12)", 0),
}


ASKED = "__builtin_memcmp(&tw_tile[ir * 8 + jr], &tw_was[ir * 8 + jr], sizeof *tw_tile)"
PLACE = "C[ib + it + ir][jb + jt + jr]"
TEAM = "#pragma omp parallel num_threads((int)tw_team) if(tw_team > 1)\n"
COMPARED = {
    "another element is compared": ("__builtin_memcmp(&tw_tile[ir * 8 + jr],", "__builtin_memcmp(&tw_tile[ir * 8],", 0),
    "the first elements are compared": (
        "__builtin_memcmp(&tw_tile[ir * 8 + jr], &tw_was[ir * 8 + jr],",
        "__builtin_memcmp(&tw_tile[0], &tw_was[0],",
        0,
    ),
    "a part of an element is compared": ("sizeof *tw_tile", "sizeof(char)", 0),
    "it is not known what elements were": ("tw_was[ir * 8 + jr] = tw_tile", "tw_tile", 0),
    "another element is kept": ("tw_was[ir * 8 + jr] = tw_tile", "tw_was[jr] = tw_tile", 0),
    "no room for what elements were": ("tw_was[4 * 8];", "tw_was[3 * 8];", 0),
    "all that changed is stored": ("if (ib + it + ir - (jb + jt + jr) >= 0) *(", "*(", 0),
    "less than belongs is stored": (">= 0) *(__builtin_memcmp", ">= 1) *(__builtin_memcmp", 0),
    "what stays is stored": (f"? &{PLACE} : &tw_same[0]", f"? &tw_same[0] : &{PLACE}", 0),
    "the opposite is asked": ("*(__builtin_memcmp(", "*(!__builtin_memcmp(", 0),
    "all is stored": (": &tw_same[0])", f": &{PLACE})", 0),
    "all is stored without a question": (f"*({ASKED} ? &{PLACE} : &tw_same[0])", PLACE, 0),
    "what stays goes to the tile": (": &tw_same[0])", ": &tw_tile[0])", 0),
    "what stays goes to what was": (": &tw_same[0])", ": &tw_was[ir * 8 + jr])", 0),
    "what stays goes past its array": (": &tw_same[0])", ": &tw_same[1])", 0),
    "another element is stored": ("jb + jt + jr] : &tw_same", "jb + jt] : &tw_same", 0),
    "another value is stored": ("&tw_same[0]) = tw_tile[ir * 8 + jr]", "&tw_same[0]) = tw_tile[ir * 8]", 0),
    "what was is stored": ("&tw_same[0]) = tw_tile[", "&tw_same[0]) = tw_was[", 0),
    "what stays has another type": ("double tw_same[1]", "float tw_same[1]", 0),
    "what stays has no place": ("double tw_same[1];", "", 0),
}


# Vectors have a length that only the processor knows: tiles are tw_nr columns wide.
ANY_LENGTH = {
    "tiles of another width": ("tw_nr = 4 * tw_sve_lanes_f64()", "tw_nr = 3 * tw_sve_lanes_f64()", 0),
    "slivers of the right operand overlap": ("jt < tw_full; jt += tw_nr", "jt < tw_full; jt += 4", 0),
    "tiles leave columns out": ("jt < tw_stop; jt += tw_nr", "jt < tw_stop; jt += 2 * tw_nr", 0),
    "columns and depth are exchanged": ("kr * tw_nr + jr", "jr * tw_nr + kr", 0),
    "the rest of columns is not packed": ("if (tw_n) {", "if (tw_n > 1) {", 0),
    "the copy has rows of another length": ("tw_tile[ir * tw_nr + jr] = C", "tw_tile[ir * 8 + jr] = C", 0),
    "the copy goes past the edge": (
        "for (long jr = 0; jr < tw_n; jr++) tw_tile",
        "for (long jr = 0; jr < tw_nr; jr++) tw_tile",
        0,
    ),
    "a kernel of too few vectors": ("tw_sve_f64_6x4v_add_mul(tw_k", "tw_sve_f64_6x3v_add_mul_of_6x4v(tw_k", 0),
    "the buffer is a vector too small": (
        "tw_alloc((tw_nc + tw_team * tw_mc)",
        "tw_alloc((tw_nc - 1 + tw_team * tw_mc)",
        0,
    ),
}
FEWER = {
    "zeros overwrite what was packed": ("tw_z < tw_k * 8", "tw_z < tw_kc * 16", 0),
    "a row too many": ("tw_m = tw_min(6, tw_r - it)", "tw_m = tw_min(6, tw_r - it + 1)", 0),
    "packing leaves out a column": ("jr < tw_n; jr++)", "jr < tw_n - 1; jr++)", 0),
    "packing reads another row": ("A[ib + it + ir]", "A[ib + it + ir + 1]", -1),
}


def changed(text: str, old: str, new: str, which: int) -> str:
    """The text with one place, or all, changed; however its lines are broken."""
    pattern = r"\s+".join(map(re.escape, old.split()))
    places = list(re.finditer(pattern, text))
    assert len(places) > which, f"`{old}` does not stand in the text"
    for m in reversed(places if which < 0 else [places[which]]):
        text = text[: m.start()] + new + text[m.end() :]
    return text


@pytest.mark.parametrize("what", TYPES)
def test_products_in_other_types_and_damaged_fetches_are_refused(what: str) -> None:
    emitted = printed("c")
    assert wrong_products(changed(emitted.plain, *TYPES[what]), emitted.products)


def test_other_types_of_constants_are_refused() -> None:
    emitted = printed("c", SOURCE.replace("alpha * A[i][k] * B[k][j]", "alpha + A[i][k] * B[k][j]"))
    text = emitted.plain
    assert wrong_products(text, emitted.products) == ""
    assert wrong_products(changed(text, "const double tw_s0", "const float tw_s0", 0), emitted.products)


@pytest.mark.parametrize("what", CHANGES)
def test_damaged_products_are_refused(what: str) -> None:
    emitted = printed("c")
    assert wrong_products(changed(emitted.plain, *CHANGES[what]), emitted.products)


@pytest.mark.parametrize("what", CHOICES)
def test_wrong_choices_of_kernels_are_refused(what: str) -> None:
    emitted = printed("c")
    (view,) = emitted.products
    assert wrong_products(emitted.plain, [replace(view, chosen=changed(view.chosen, *CHOICES[what]))])


@pytest.mark.parametrize("what", THREADS)
def test_damaged_teams_are_refused(what: str) -> None:
    emitted = printed("openmp", SHALLOW)
    assert wrong_products(changed(emitted.plain, *THREADS[what]), emitted.products)


@pytest.mark.parametrize("what", TASKS)
def test_damaged_tasks_are_refused(what: str) -> None:
    emitted = printed("openmp", STEPS)
    assert wrong_products(changed(emitted.plain, *TASKS[what]), emitted.products)


@pytest.mark.parametrize("what", {**DEALT_OUT, **EITHER})
def test_damaged_parts_that_are_dealt_out_are_refused(what: str) -> None:
    emitted = printed("openmp")
    assert wrong_products(changed(emitted.plain, *{**DEALT_OUT, **EITHER}[what]), emitted.products)


@pytest.mark.parametrize("source", [SHALLOW, SOURCE, STEPS])
def test_a_tile_that_threads_share_is_refused(source: str) -> None:
    emitted, tile = printed("openmp", source), "double tw_tile[6 * 8] = {0};"
    text = changed(emitted.plain, tile, "", 0)
    assert wrong_products(changed(text, "#pragma omp parallel", f"{tile}\n#pragma omp parallel", 0), emitted.products)


@pytest.mark.parametrize("what", CORNERS)
def test_damaged_triangles_are_refused(what: str) -> None:
    emitted = printed("openmp", TRIANGLE)
    assert wrong_products(changed(emitted.plain, *CORNERS[what]), emitted.products)


@pytest.mark.parametrize("what", ANY_LENGTH)
def test_damaged_products_in_vectors_of_any_length_are_refused(what: str) -> None:
    emitted = printed("c", SOURCE, "sve")
    assert wrong_products(changed(emitted.plain, *ANY_LENGTH[what]), emitted.products)


@pytest.mark.parametrize("what", FEWER)
def test_damaged_products_of_few_rows_and_columns_are_refused(what: str) -> None:
    emitted = printed("c", FEW)
    assert wrong_products(changed(emitted.plain, *FEWER[what]), emitted.products)


@pytest.mark.parametrize("what", COMPARED)
def test_damaged_comparisons_are_refused(what: str) -> None:
    emitted = printed("openmp", GUARDED)
    assert wrong_products(changed(emitted.plain, *COMPARED[what]), emitted.products)


def test_elements_that_stay_have_a_place_for_each_thread() -> None:
    emitted = printed("openmp", GUARDED)
    shared = changed(emitted.plain.replace("double tw_same[1];", ""), TEAM, f"double tw_same[1];\n{TEAM}", -1)
    assert "may be read" in wrong_products(shared, emitted.products)


# Whole tiles, and those at edges.
WHOLE = {
    "the opposite is asked": ("*(__builtin_memcmp(", "*(!__builtin_memcmp("),
    "what stays is stored": (f"? &{PLACE} : &tw_same[0]", f"? &tw_same[0] : &{PLACE}"),
    "another element of the tile": ("&tw_same[0]) = tw_tile[ir * 8 + jr]", "&tw_same[0]) = tw_tile[ir * 8]"),
    "all is stored": (f"*({ASKED} ? &{PLACE} : &tw_same[0])", PLACE),
}


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("what", WHOLE)
def test_damaged_stores_of_what_changed_are_refused(what: str, which: int) -> None:
    emitted = printed("c", GUARDED.replace("j <= i", "j < n"))
    assert wrong_products(emitted.plain, emitted.products) == ""
    assert wrong_products(changed(emitted.plain, *WHOLE[what], which), emitted.products)


def test_edges_are_not_taken_for_whole_tiles() -> None:
    emitted = printed("c", GUARDED.replace("j <= i", "j < n"))
    for which in (0, 1):
        text = changed(emitted.plain, "if (tw_m == 4 && tw_n == 8)", "if (tw_m == 4)", which)
        assert wrong_products(text, emitted.products)


def test_what_a_printer_that_errs_prints_gives_way_to_a_simpler_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ProductPrinter._operand
    monkeypatch.setattr(ProductPrinter, "_operand", lambda *a: right(*a).replace("kb + kr", "kb + kr + 1"))
    chosen = options("c")
    (s,) = open_source("in.c", SOURCE, chosen).slices
    outcome = process_region(s, SOURCE, chosen, load_for("generic", "avx2"))
    assert outcome.text is not None and "tw_depth" not in outcome.text
    assert "could not be proven" in "".join(d.message for d in outcome.diagnostics if d.id == "unproven")


ADD = Lane("add", (Lane("acc"), Lane("mul", (Lane("a"), Lane("b")))))
LEAST = Lane("min", (Lane("acc"), Lane("add", (Lane("a"), Lane("b")))))


@pytest.mark.parametrize("isa", ["generic", "avx2", "avx512", "neon", "sve"])
@pytest.mark.parametrize("elem", ["f64", "f32", "i32", "u8"])
@pytest.mark.parametrize("step", [ADD, LEAST], ids=["add-mul", "min-add"])
def test_kernels_are_proven(isa: str, elem: str, step: Lane) -> None:
    table = load_isa(isa)
    kernels = [MicroKernel(elem, step, 0, 4, 2), MicroKernel(elem, step, 0, 4, 1, a_rows=6, b_vectors=2, unroll=2)]
    kernels += [MicroKernel(elem, step, 0, 4, 2, spread=True)] if table.bits else []
    kernels += [MicroKernel(elem, step, 0, 4, 2, narrow="i16")] if (isa, elem, step) == ("neon", "i32", ADD) else []
    for k in kernels:
        assert wrong_kernel(table, k, micro_kernel(table, k)) == ""


KERNELS = {
    "the next row's value": ("generic", ADD, "a[1 * a_row - a_step]", "a[2 * a_row - a_step]"),
    "the next row's value later": ("generic", ADD, "a[(i + 2) * a_row - a_step]", "x[i]"),
    "a value that was not loaded": ("generic", ADD, "if (i + 2 < rows)", "if (i + 3 < rows)"),
    "a row that is not there": ("generic", ADD, "if (i + 2 < rows)", "if (i + 1 < rows)"),
    "the next vector of b": ("avx2", ADD, "_mm256_loadu_pd(b + 4 * j)", "_mm256_loadu_pd(b + 4 * j + 4)"),
    "a vector of b is missing": ("avx2", ADD, "j < vectors; j++)\n      y[j]", "j + 1 < vectors; j++)\n      y[j]"),
    "another accumulator": ("avx2", ADD, "= tw_avx2_fma_f64(acc[i][j]", "= tw_avx2_fma_f64(acc[i][0]"),
    "a step's product twice": ("generic", ADD, "acc[i][j] + (y[j] * x[i])", "acc[i][j] + (y[j] * x[0])"),
    "an accumulator in the wrong row": ("avx2", ADD, "(row[i] + 4 * j, acc[i][j])", "(row[i] + 4 * j, acc[0][j])"),
    "a row too many": ("avx2", ADD, "_storeu_pd(row[i] + 4", "_storeu_pd(row[i] + ldc + 4"),
    "a row too few": ("avx2", ADD, "i < rows; i++) {\n      TW_KEEP", "i + 1 < rows; i++) {\n      TW_KEEP"),
    "a tile of another size": ("avx2", ADD, "int rows, int vectors", "int vectors, int rows"),
    "no room for the tile": ("avx2", ADD, "acc[4][2]", "acc[4][1]"),
    "rows in the wrong distance": ("avx2", ADD, "row[i - 1] + ldc", "row[i - 1] + 2 * ldc"),
    "a moves too far": ("avx2", ADD, "a += a_step", "a += 2 * a_step"),
    "a moves as if it were packed": ("avx2", ADD, "a += a_step", "a += 4"),
    "a value of the next step": ("generic", ADD, "a[1 * a_row - a_step]", "a[1 * a_row]"),
    "a moves by rows": ("avx2", ADD, "a += a_step", "a += a_row"),
    "rows of a as if they were packed": ("generic", ADD, "a[1 * a_row - a_step]", "a[1 - a_step]"),
    "the next of five rows": ("avx2", ADD, "part[i % 5 * a_row", "part[(i % 5 + 1) * a_row"),
    "one of three rows": ("avx2", ADD, "part[i % 5 * a_row", "part[i % 3 * a_row"),
    "five rows from elsewhere": ("avx2", ADD, "part = a + i * a_row", "part = a + i * a_row + 1"),
    "five rows too late": ("avx2", ADD, "if (i % 5 == 0)", "if (i % 5 == 1)"),
    "a value of the next step in five rows": ("avx2", ADD, "a_row - a_step]", "a_row]"),
    "one step less": ("avx2", ADD, "p < k", "p < k - 1"),
    "the first step is left out": ("avx2", ADD, "long p = 0", "long p = 1"),
    "the wrong lane": ("neon", ADD, "av0, 1)", "av0, 0)"),
    "a lane that is not there": ("neon", ADD, "av0, 1)", "av0, 2)"),
    "no doubt is asked for": ("neon", LEAST, "odd = vorrq_u64(odd, tw_neon_nought_f64(acc[i][j]))", "odd = odd"),
    "a doubtful result is kept": ("neon", LEAST, "if (doubtful) {\n", "if (!doubtful) {\n"),
    "not from the beginning": ("neon", LEAST, "a = first_a;", ""),
    "rows of another type": ("avx2", ADD, "double *row[4]", "float *row[4]"),
    "a value in a shorter type": ("generic", ADD, "double x[4]", "float x[4]"),
    "fetching changes something": ("avx2", ADD, "rows * ldc, 1)", "rows * ldc++, 1)"),
    "fetching calls something": ("avx2", ADD, "TW_PREFETCH(row[i] + j,", "TW_PREFETCH(f(row[i]) + j,"),
    "the barrier does something": ("avx2", ADD, "TW_KEEP_ORDER();", "TW_KEEP_ORDER(k--);"),
    "half a vector further": ("sve", ADD, "row0 + vl", "row0 + 2 * vl"),
}


@pytest.mark.parametrize("what", KERNELS)
def test_damaged_kernels_are_refused(what: str) -> None:
    isa, step, old, new = KERNELS[what]
    table, kernel = load_isa(isa), MicroKernel("f64", step, 0, 4, 2)
    text = micro_kernel(table, kernel)
    assert old in text
    assert wrong_kernel(table, kernel, text) == ""
    assert wrong_kernel(table, kernel, text.replace(old, new))


def test_facts_prove_what_follows_and_no_more() -> None:
    facts = Facts()
    x, y, n = var("x"), var("y"), var("n")
    facts.learn(x, n - 1 - x, y - 8 * x, 8 * n - y)
    assert facts.holds(n - 1)
    assert facts.holds(n * 8 - 8 * x - 8)
    assert not facts.holds(n - 2)
    least = facts.minimum(x, y)
    assert facts.holds(x - least) and facts.holds(least + least)
    assert not facts.holds(least - x - 1)
    half = facts.quotient(n, poly(2))
    assert facts.holds(n - 2 * half) and facts.holds(2 * half + 1 - n)
    assert not facts.holds(half - 1)
