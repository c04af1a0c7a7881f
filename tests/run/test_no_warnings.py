"""Compilers say nothing about generated code that they do not say about its source."""
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.compilers import with_openmp

# By what compilers would say: the parameters of a function, and its region.
CASES = {
    "a choice of numbers becomes a truth value": (
        "int n, _Bool *A, _Bool *B",
        "for (int i = 1; i < n; i++) { if (!A[i - 1] && B[i]) { A[i] %= 5; } else { A[i] = 6; } }",
    ),
    "twice a number becomes a truth value": (
        "int n, _Bool *A",
        "for (int i = 0; i < n; i++) A[i] += A[(i - 1) + 1];",
    ),
    "a truth value equals itself": (
        "int n, _Bool *A, _Bool *B",
        "for (int i = 0; i < n; i++) A[i] = B[0] & (A[i < 3 * i ? i : 3 * i] > A[i] ? A[3] : A[i]);",
    ),
    "a size equals itself": (
        "unsigned n, short *A, short *B",
        "for (unsigned i = 0; i < n; i++) if ((B[i] > 2 ? A[i] : 3) >= (int)LESS(n, n)) A[i] = 1;",
    ),
    "no remainder is that of a number without a sign": (
        "unsigned short *A",
        "for (long i = 0; 0 >= i; i++) { if ((i - 1) % 5 != A[i]) A[i + 1] = A[i + 2] % 101; }",
    ),
    "a size without a sign is not negative": (
        "unsigned n, unsigned m, unsigned *A",
        "if (!(m == n)) { for (unsigned i = 0; i < m + 2 && i < 5; i++) for (unsigned j = i + 2; j < 8; j += 2)"
        " for (unsigned k = i + 5; 1 < k; k = k - 2) A[j - 1]--; }",
    ),
    "the last of a size without a sign is below zero": (
        "unsigned short m, unsigned *A",
        "for (long i = 1; i < 4; i++) for (long j = m + 1; j >= 1; j -= 1) A[i + 2] += ((j + i) + 2) & A[0];",
    ),
    "what reads a variable was decided": (
        "int n, int *B",
        "for (int i = n; i >= 2; i--) { unsigned char t = (unsigned char)-B[1]; for (int j = 0; j <= i + 2; j++) {"
        " if (!SAME(t, t)) { B[0] -= j; } else { B[0] ^= i; } } }",
    ),
    "one element is set in a loop and read behind it": (
        "long n, long m, long long C[35][35], long A[35][35], signed char B[35][35], long long E[35]",
        "for (long in = 1; in < m - 1; in++) { for (long l = n - 2; l >= 0; l--) { E[l] = 0;"
        " for (long j = 0; j < m; j++) E[l] = E[l] && A[j][in] != B[j][l]; }"
        " for (long l = n - 2; l >= 0; l--) C[l][in] = C[l][in] > 0 ? E[l] : C[l][in]; }",
    ),
    "a variable of each thread is set in a loop": (
        "unsigned long n, long s1, long *p",
        "for (unsigned long i = 2; i <= n && i <= 3; i++) { for (unsigned long j = 1; j < 2 * i + 3; j++)"
        " s1 = p[0] % 101; for (unsigned long j = 0; j <= n; j += 2) s1++; } p[0] = s1;",
    ),
}
HEAD = """#define LESS(a, b) ((a) < (b) ? (a) : (b))
#define SAME(a, b) ((a) == (b))
"""
FLAGS = ("-std=c11", "-O2", "-fopenmp", "-Wall", "-Wextra", "-c", "-o", "/dev/null")


def _said(compiler: str, path: Path) -> str:
    words = [compiler, *FLAGS, "-Wno-unknown-pragmas", "-Wno-unused-function", str(path)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120).stderr


def test_nothing_new_is_said(tmp_path: Path) -> None:
    source = HEAD + "".join(
        f"/* {what} */\nvoid f{k}({params})\n{{\n#pragma scop\n  {region}\n#pragma endscop\n}}\n"
        for k, (what, (params, region)) in enumerate(CASES.items())
    )
    got = generate("in.c", source, GenOptions())
    assert sum(r.transformed for r in got.regions) == len(CASES), got.diagnostics
    (tmp_path / "in.c").write_text(source)
    (tmp_path / "out.c").write_text(got.text)
    for compiler in with_openmp():
        assert not _said(compiler, tmp_path / "in.c")
        assert not _said(compiler, tmp_path / "out.c")


@pytest.mark.parametrize("plan", [None, "region 1\n  scalar_replace i\n"])
def test_variables_without_use_are_not_declared(plan: str | None, tmp_path: Path) -> None:
    """Where a loop runs in parts, some of which use them."""
    source = """void f(long n, int *A)
{
#pragma scop
  for (long i = 2; i <= n; i++) {
    A[i + 1] += A[i + 2];
    if (3 >= i + 1) {
      int t = A[2 * i + 1] % 101;
      A[i + 9] ^= t;
      A[i + 8] = t;
    }
  }
#pragma endscop
}
"""
    got = generate("in.c", source, GenOptions(plan_text=plan))
    (tmp_path / "out.c").write_text(got.text)
    assert got.regions[0].transformed and not _said("gcc", tmp_path / "out.c")
