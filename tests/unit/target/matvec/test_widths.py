"""Matrix-vector products in vectors of any width: each width gives the bits of the source."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from codegen.isa.widths import WIDTHS
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.compilers import quick

SOURCE = """
void across(int n, int m, REAL A[n][m], REAL x[m], REAL y[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i] += A[i][j] * x[j];
#pragma endscop
}
void lanes(int n, int m, REAL A[n][m], REAL x[m], REAL y[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      x[j] -= A[i][j] * y[i] * y[0];
#pragma endscop
}
"""
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void function(int n, int m, REAL (*)[m], REAL *, REAL *);
static void fill(int n, REAL *x) { for (int i = 0; i < n; i++) x[i] = 1 + (REAL)(rand() % 1000) / 999; }
static int differs(int n, int m, function *old, function *new)
{
  REAL *p[6];
  for (int k = 0; k < 6; k++)  /* of their own sizes: what is read or written past an end is seen */
    p[k] = malloc(sizeof(REAL) * (size_t)(k % 3 == 0 ? n * m : k % 3 == 1 ? m : n));
  fill(n * m, p[0]);
  fill(m, p[1]);
  fill(n, p[2]);
  for (int k = 0; k < 3; k++)
    memcpy(p[k + 3], p[k], sizeof(REAL) * (size_t)(k == 0 ? n * m : k == 1 ? m : n));
  old(n, m, (void *)p[0], p[1], p[2]);
  new(n, m, (void *)p[3], p[4], p[5]);
  int wrong = memcmp(p[1], p[4], sizeof(REAL) * (size_t)m) || memcmp(p[2], p[5], sizeof(REAL) * (size_t)n);
  for (int k = 0; k < 6; k++)
    free(p[k]);
  return wrong;
}
int main(void)
{
  const int sizes[] = { 1, 3, 8, 9, 15, 17, 33, 40, 65, 130 }, count = sizeof sizes / sizeof *sizes;
  function *const old[] = { old_across, old_lanes }, *const new[] = { new_across, new_lanes };
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++)
      for (int k = 0; k < 2; k++)
        if (differs(sizes[i], sizes[j], old[k], new[k])) {
          printf("function %d of %d by %d\\n", k, sizes[i], sizes[j]);
          return 1;
        }
  return 0;
}
"""


def named(text: str, prefix: str) -> str:
    return re.sub(r"\bvoid (across|lanes)\(", rf"void {prefix}_\1(", text)


@cache
def made(real: str) -> str:
    return generate("in.c", SOURCE.replace("REAL", real), GenOptions()).text


@pytest.mark.parametrize(
    "real, width, sizes",  # with sizes of 1, threads and lines one by one from the first element on
    [("double", 16, "1"), ("double", 32, "(n)"), ("double", 64, "1"), ("float", 32, "1"), ("float", 64, "(n)")],
)
def test_same_bits(real: str, width: int, sizes: str, tmp_path: Path) -> None:
    text = made(real)
    for form in ("across", "lanes"):
        assert re.search(rf"\btw_open_f\d+_{form}_\w+\(", text)
    new = re.sub(r"(#define TW_VECTOR_BYTES) \d+", rf"\1 {width}", text)
    program = named(SOURCE, "old") + named(new, "new") + DRIVER
    (tmp_path / "t.c").write_text(program.replace("REAL", real))
    flags = ["-O1", "-fopenmp", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]
    checks = [f"-DTW_SIZE(n)={sizes}", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *quick("cc")]
    subprocess.run(["cc", *flags, *checks, "-o", tmp_path / "t", tmp_path / "t.c"], check=True)
    ran = subprocess.run([tmp_path / "t"], capture_output=True, text=True, env={"OMP_NUM_THREADS": "2"})
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_widths_that_compilers_choose_are_proven() -> None:
    assert {int(n) for n in re.findall(r"#define TW_VECTOR_BYTES (\d+)", made("double"))} == set(WIDTHS)


def test_a_machine_has_its_own_width() -> None:
    text = generate("in.c", SOURCE.replace("REAL", "double"), GenOptions(machine="haswell")).text
    assert "tw_avx2_f64_across" in text and "TW_VECTOR_BYTES" not in text
