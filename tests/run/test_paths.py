"""Path problems in panels against the source, bit for bit: types, semirings, layouts, sizes around whole blocks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.test_microkernel import compiler

LOOPS = "for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
BODIES = {  # element type, declaration, body
    "shortest": ("double", "a[n][n]", "a[i][j] = a[i][j] < a[i][k] + a[k][j] ? a[i][j] : a[i][k] + a[k][j];"),
    "widest": ("float", "a[n][n]", "a[i][j] = fmaxf(a[i][j], a[i][k] < a[k][j] ? a[i][k] : a[k][j]);"),
    "whole": ("int", "*a", "a[i * n + j] = MIN(a[i * n + j], a[i * n + k] + a[k * n + j]);"),
    "closure": ("unsigned char", "a[n][n]", "a[i][j] |= a[i][k] & a[k][j];"),
}
DRIVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TRY(NAME, T, VALUE) do { \
  for (long x = 0; x < (long)n * n; x++) a[x] = 0, ((T *)a)[x] = (T)(VALUE); \
  memcpy(b, a, room); old_##NAME(n, (void *)a); new_##NAME(n, (void *)b); \
  if (memcmp(a, b, room)) printf(#NAME " differs for n = %d\n", n); } while (0)
int main(void)
{
  static const int sizes[] = { 0, 1, 2, 39, 40, 41, 65, 80, 81, 129 };
  for (int s = 0; s < (int)(sizeof sizes / sizeof *sizes); s++) {
    const int n = sizes[s];
    const size_t room = (size_t)n * n * sizeof(double) + 64;
    double *a = calloc(room, 1), *b = calloc(room, 1);
    for (int round = 0; round < 2; round++) { /* the second has negative circles */
      TRY(shortest, double, rand() % 997 / 7.3 - 9.5 * round);
      TRY(widest, float, rand() % 997 / 7.3f);
      TRY(whole, int, rand() % 1000 + 1);
      TRY(closure, unsigned char, rand() % 64 ? 0 : 1 << rand() % 8);
    }
    free(a);
    free(b);
  }
  return 0;
}
"""


def _source(prefix: str) -> str:
    out = ["#include <math.h>", "#define MIN(x, y) ((x) < (y) ? (x) : (y))"]
    for name, (elem, shape, body) in BODIES.items():
        loops = f"#pragma scop\n{LOOPS}\n{body}\n#pragma endscop"
        out.append(f"void {prefix}_{name}(int n, {elem} {shape})\n{{\n{loops}\n}}\n")
    return "\n".join(out)


def test_panels_give_the_bits_of_the_source(tmp_path: Path) -> None:
    options = GenOptions(timeout=240)
    made = generate("new.c", _source("new"), options)
    assert all(r.transformed for r in made.regions)
    for name, region in zip(BODIES, made.regions, strict=True):
        assert region.plan.count("product S") == 4 and "copy a_ik" in region.plan, name
    (tmp_path / "new.c").write_text(made.text)
    (tmp_path / "old.c").write_text(_source("old"))
    names = "".join(f"void {p}_{n}(int, void *);\n" for p in ("old", "new") for n in BODIES)
    (tmp_path / "driver.c").write_text(names + DRIVER)
    cc = compiler("")
    flags = ("-O0", "-w", "-fopenmp", "-ffp-contract=off", "-std=gnu11", "-fsanitize=address,undefined")
    files = [str(tmp_path / f) for f in ("old.c", "new.c", "driver.c")]
    subprocess.run([cc, *flags, *files, "-o", str(tmp_path / "run"), "-lm"], check=True)
    run = subprocess.run(
        [str(tmp_path / "run")], capture_output=True, text=True, timeout=200, env={**os.environ, "OMP_NUM_THREADS": "3"}
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
