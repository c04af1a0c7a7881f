"""Products of one or two rows or steps: when their plain nest runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.scop.product import Blocking
from codegen.target.product.tiles import thin_steps
from codegen.verify.text.blocked.product import wrong_products
from tests.unit.verify.text.blocked.test_product import SOURCE, TRIANGLE, changed, printed

# Counts what is asked of memory for packed operands.
MAIN = """
#include <stdio.h>
#include <stdlib.h>
static int asked;
static void *counted(size_t n) { asked++; return malloc(n); }
#define __builtin_malloc counted
#include "f.c"
static double A[40000], B[40000], C[40000];
int main(void)
{
  int n, m, l;
  while (scanf("%d %d %d", &n, &m, &l) == 3) {
    asked = 0;
    f(n, m, l, 2, (void *)A, (void *)B, (void *)C);
    printf("%d ", asked);
  }
  return 0;
}
"""


@pytest.mark.parametrize("isa, bits, thin", [("neon", 128, 3000), ("avx2", 256, 20000), ("avx512", 512, 20000)])
def test_long_vectors_make_more_of_long_rows(isa: str, bits: int, thin: int) -> None:
    assert thin_steps(Blocking(isa, bits, 6, 2, 60, 200, 800, direct=3000)) == thin


def test_one_row_or_step_is_not_packed_at_one_thread(tmp_path: Path) -> None:
    """Rows, columns and steps; two rows are packed from the usual bound on with vectors of 128 bits."""
    text = generate("f.c", SOURCE, GenOptions(target="c", isa="generic")).text
    (tmp_path / "f.c").write_text(text, encoding="utf-8")
    (tmp_path / "main.c").write_text(MAIN, encoding="utf-8")
    subprocess.run(["cc", "-O1", "main.c", "-o", "main"], cwd=tmp_path, check=True)
    packed = {(1, 200, 200): 0, (200, 200, 1): 0, (2, 200, 20): 1, (2, 100, 14): 0, (20, 20, 20): 1, (200, 1, 20): 1}
    sizes = "\n".join(" ".join(map(str, x)) for x in packed)
    run = subprocess.run([tmp_path / "main"], input=sizes, text=True, capture_output=True, check=True)
    assert list(map(int, run.stdout.split())) == list(packed.values())


def test_columns_far_apart_and_cut_corners_have_the_usual_bound() -> None:
    apart = SOURCE.replace("B[k][j]", "B[j][k]").replace("B[l][m]", "B[m][l]")
    for source, thin in ((SOURCE, True), (apart, False), (TRIANGLE, False)):
        assert ("tw_least" in printed("c", source).plain) == thin


CHANGES = {
    "a bound that may divide by zero": (": 3000)", ": 3000 / (tw_rows - 1))", 0),
    "a function that nobody knows": ("(double)tw_rows * tw_columns", "(double)tw_more(tw_rows) * tw_columns", 0),
    "a count of rows that changes": ("(double)tw_rows * tw_columns", "(double)(tw_rows = 1) * tw_columns", 0),
}


@pytest.mark.parametrize("what", CHANGES)
def test_damaged_bounds_are_refused(what: str) -> None:
    emitted = printed("c")
    assert wrong_products(emitted.plain, emitted.products) == ""
    assert wrong_products(changed(emitted.plain, *CHANGES[what]), emitted.products)
