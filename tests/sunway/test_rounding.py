"""Products and sums of vectors round once, as the machine's multiply-add does; twice with --fp-contract=off, a
pragma of the source that says so, or -DTW_NO_FMA: then results are those of the plain program, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from codegen.sunway.emulation.host import compile_program, run_program

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef REAL real;
void product(int n, int m, int l, real beta, real C[n][m], real A[n][l], real B[l][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      C[i][j] *= beta;
      for (int k = 0; k < l; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
void update(int n, int m, real a[n][m], real b[n][m], real c[n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] += b[i][j] * c[i][j];
#pragma endscop
}
static real *filled(int count, int by, int mod)
{
  real *p = malloc(count * sizeof *p);
  for (int k = 0; k < count; k++)
    p[k] = (real)(k * by % mod) / (real)7;
  return p;
}
int main(void)
{
  const int n = 70, m = 90, l = 50;
  real *C = filled(n * m, 13, 97), *A = filled(n * l, 5, 31), *B = filled(n * m, 11, 37), *D = filled(n * m, 3, 29);
  unsigned long hash = 14695981039346656037ul;
  CALL
  for (size_t k = 0; k < n * m * sizeof *C; k++)
    hash = (hash ^ ((unsigned char *)C)[k]) * 1099511628211ul;
  printf("%016lx\\n", hash);
  return 0;
}
"""
CALLS = {
    "product": "product(n, m, l, (real)1.25, (void *)C, (void *)A, (void *)B); (void)D;",
    "update": "update(n, m, (void *)C, (void *)D, (void *)B); (void)A;",
}
OPTIONS = GenOptions(target="sunway", stem="f", scheme="launch")
MACHINES = ("sw26010-cpe", "sw26010-pro-cpe")
PRAGMA = "#pragma STDC FP_CONTRACT OFF\n"


def text_of(call: str, real: str) -> str:
    """A program that prints a hash of the result's bits."""
    return PROGRAM.replace("REAL", real).replace("CALL", CALLS[call])


def plain(folder: Path, library: Path, text: str) -> str:
    """What the program prints without any cores."""
    (folder / "plain.c").write_text(text)
    assert compile_program([folder / "plain.c"], folder / "plain", library, ["-w"], watched=False) == ""
    return run_program(folder / "plain").out


def on_cores(folder: Path, library: Path, text: str, options: GenOptions, *flags: str) -> tuple[str, str]:
    """What it prints on the emulator, and its slave file."""
    made = generate("f.c", text, options)
    assert all(r.transformed for r in made.regions)
    for ending, part in (("_master.c", made.text), *made.extra.files):
        (folder / f"f{ending}").write_text(part)
    sources = [folder / "f_master.c", folder / "f_slave.c"]
    words = ["-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", *flags]
    assert compile_program(sources, folder / "f", library, words) == ""
    ran = run_program(folder / "f")
    assert ran.code == 0, ran.err
    return ran.out, made.extra.file("_slave.c")


@pytest.mark.parametrize(
    ("machine", "call", "real"),
    [(MACHINES[0], "product", "double"), (MACHINES[1], "product", "double"), (MACHINES[0], "update", "double"),
     (MACHINES[1], "update", "float")],
)  # fmt: skip
def test_one_rounding_or_two(tmp_path: Path, library: Path, machine: str, call: str, real: str) -> None:
    text, options = text_of(call, real), replace(OPTIONS, machine=machine)
    want = plain(tmp_path, library, text)
    got, slave = on_cores(tmp_path, library, text, options)
    assert "simd_vma" in slave and got != want
    assert on_cores(tmp_path, library, text, options, "-DTW_NO_FMA")[0] == want
    got, slave = on_cores(tmp_path, library, text, replace(options, fp_contract="off"))
    assert "simd_vma" not in slave and "simd_vmul" in slave and got == want


@pytest.mark.parametrize("way", ["pragma", "compiler"])
def test_whatever_says_so(tmp_path: Path, library: Path, way: str) -> None:
    text = (PRAGMA if way == "pragma" else "") + text_of("update", "double")
    cpp = CppOptions(args=("-ffp-contract=off",) if way == "compiler" else ())
    got, slave = on_cores(tmp_path, library, text, replace(OPTIONS, cpp=cpp))
    assert "simd_vma" not in slave and got == plain(tmp_path, library, text)


def test_the_makefile_tells_the_compiler() -> None:
    for options, told in ((OPTIONS, False), (replace(OPTIONS, fp_contract="off"), True)):
        made = generate("f.c", text_of("update", "double"), options)
        assert ("-ffp-contract=off" in made.extra.file(".sw.mk")) == told
