"""Reads behind a condition of an expression: cores fetch nothing that the source does not read, which need not exist.

The programs run between pages that may not be touched, with the array at the one end and at the other.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest import mock

import islpy as isl
import pytest

from codegen.diagnostics import Unsupported
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.scop.model import Scop
from codegen.sunway.emulation.host import ANY_FORM, compile_program, run_program
from codegen.sunway.staging import footprint
from codegen.verify.readback import StatementRun
from tests.sunway.kernels import kernels_of

SHIFTED = """void f(int n, int m, const double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) b[i] = i > 0 ? a[i - 1] : m;
#pragma endscop
}
"""
WINDOW = """static double get(const double *a, int n, int m, int i, int j) {
  if (i < 0 || j < 0 || i >= n || j >= m) return 0;
  return a[i * 40 + j];
}
void f(int n, int m, const double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double s = 0;
      for (int u = -1; u <= 1; u++)
        for (int v = -1; v <= 1; v++) s += get(a, n, m, i + u, j + v);
      b[i * 40 + j] = s / 9;
    }
#pragma endscop
}
"""
STEPS = """void f(int n, int m, double *a, double *b) {
#pragma scop
  for (int t = 0; t < m; t++) {
    for (int i = 0; i < n; i++) b[i] = (i > 0 ? a[i - 1] : 0) + a[i] + (i < n - 1 ? a[i + 1] : 0);
    for (int i = 0; i < n; i++) a[i] = b[i] * 0.5;
  }
#pragma endscop
}
"""
# Elements of `a` that the source reads, and of `b`.
SIZES = {"shifted": ("n - 1", "n"), "window": ("40 * (n - 1) + m", "40 * (n - 1) + m"), "steps": ("n", "n")}
SOURCES = {"shifted": SHIFTED, "window": WINDOW, "steps": STEPS}
DRIVER = """#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
void f(int n, int m, double *a, double *b);
enum { PAGE = 1 << 16, PAGES = 8 };
static double *placed(long elements, int last) {
  char *all = mmap(0, (PAGES + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED || mprotect(all + PAGE, PAGES * PAGE, PROT_READ | PROT_WRITE))
    exit(9);
  double *first = (double *)(all + PAGE);
  return last ? first + PAGES * PAGE / 8 - elements : first;
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]), m = atoi(argv[2]);
  for (int last = 0; last < 2 && argc == 3; last++) {
    long of_a = n && m ? LENGTH_A : 0, of_b = n && m ? LENGTH_B : 0;
    double *a = placed(of_a, last), *b = placed(of_b, last);
    for (long k = 0; k < of_a; k++) a[k] = k % 19 + 1;
    f(n, m, a, b);
    for (long k = 0; k < of_b; k++) printf("%.17g\\n", b[k]);
  }
  puts("done");
  return 0;
}
"""


@pytest.mark.parametrize("name", SOURCES)
def test_nothing_is_fetched_beside_the_array(tmp_path: Path, library: Path, name: str) -> None:
    made = generate("f.c", SOURCES[name], GenOptions(target="sunway", stem="f", scheme="launch"))
    assert made.regions[0].transformed
    texts = {"f.c": SOURCES[name], "f_master.c": made.text, "main.c": DRIVER}
    for file, text in {**texts, **{f"f{e}": t for e, t in made.extra.files}}.items():
        (tmp_path / file).write_text(text)
    lengths = (f"-DLENGTH_{x}=({e})" for x, e in zip("AB", SIZES[name], strict=True))
    flags = ["-Wno-unknown-pragmas", "-DTW_NO_FMA", ANY_FORM, *lengths]
    files = {"old": ("f.c", "main.c"), "new": ("f_master.c", "f_slave.c", "main.c")}
    for program, parts in files.items():
        assert compile_program([tmp_path / p for p in parts], tmp_path / program, library, flags) == ""
    for n, m in ((0, 0), (0, 3), (1, 1), (2, 1), (1, 2), (2, 2), (1, 65), (3, 67), (65, 3), (131, 40)):
        old, new = (run_program(tmp_path / x, [str(n), str(m)]) for x in ("old", "new"))
        assert old.code == 0, old.err
        assert (new.code, new.out) == (0, old.out), (n, m, new.err)


# Changes of a text by which a core fetches what need not be there.
FETCHED = {
    "before the first": ("window", "- 1), 0)", "- 1), -1)"),
    "the first of none": ("shifted", "if (n >= 2)", "if (n >= 1)"),
    "behind the last": ("window", "40 * (long)n + m - 41", "40 * (long)n + m - 40"),
}


@pytest.mark.parametrize("what", FETCHED)
def test_what_is_fetched_beside_the_array_is_found(what: str) -> None:
    name, old, new = FETCHED[what]
    (kernel,) = kernels_of(SOURCES[name])
    assert old in kernel.text and kernel.wrong(kernel.text) == ""
    assert "holds more than may be there of `a`" in kernel.wrong(kernel.text.replace(old, new))


@pytest.mark.parametrize("name", ["shifted", "window"])
def test_a_footprint_of_all_iterations_is_not_proven(name: str) -> None:
    """As if conditions were forgotten where footprints are found."""
    real = footprint.touches

    def everywhere(scop: Scop, r: StatementRun, number: int) -> isl.Map:
        blind = [replace(s, accesses=tuple(replace(a, partial=False) for a in s.accesses)) for s in scop.statements]
        return real(replace(scop, statements=tuple(blind)), r, number)

    with mock.patch.object(footprint, "touches", everywhere), pytest.raises(Unsupported, match="holds more than"):
        kernels_of(SOURCES[name])
