"""Signed sums and products in any order: partial results overflow nowhere, under the sanitizer, and give the same."""
from __future__ import annotations

import os
import subprocess
from pathlib import Path

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.property.harness import sanitizer

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas")
SOURCE = r"""
#include <stdio.h>
static signed char product = 3;
static signed char narrow(int n, const signed char *a)
{
  signed char s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    s -= a[i];
  for (int i = 0; i < n; i++)
    product *= a[i];
#pragma endscop
  return s;
}
static int wide(int n, const int *a, const long *b, int *last)
{
  int s = -(1 << 30);
  register int r = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    s += a[i];
  for (int i = 0; i < n; i++)
    r += b[i];
#pragma endscop
  *last = r;
  return s;
}
int main(void)
{
  signed char c[64];
  int a[64], r = 0;
  long b[64];
  for (int i = 0; i < 64; i++) {
    c[i] = (signed char)(2 * i + 1);
    a[i] = (i < 32 ? 1 : -1) * (1 << 26);
    b[i] = (i % 2 ? -1L : 1L) * (1L << 62) + i;
  }
  printf("%d\n", narrow(64, c));
  printf("%d\n", wide(64, a, b, &r));
  printf("%d %d\n", r, product);
  return 0;
}
"""


def _printed(text: str, name: str, folder: Path) -> str:
    (folder / f"{name}.c").write_text(text)
    words = ["gcc", *sanitizer("gcc"), "-fopenmp", "-DTW_PARALLEL_MIN=0", *WARNINGS]
    subprocess.run([*words, "-o", folder / name, folder / f"{name}.c"], check=True, timeout=120)
    env = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    return subprocess.run([folder / name], check=True, capture_output=True, text=True, timeout=60, env=env).stdout


def test_partial_results_have_no_sign(tmp_path: Path) -> None:
    got = generate("sums.c", SOURCE, GenOptions(reassociate=True)).text
    assert got.count("reduction(") >= 4
    assert _printed(got, "new", tmp_path) == _printed(SOURCE, "old", tmp_path)
