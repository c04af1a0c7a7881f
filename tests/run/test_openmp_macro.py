"""Regions that ask whether OpenMP is there, generated and compiled with it and without: each result does what the
source does under the same flags."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.options import CppOptions, GenOptions
from codegen.pipeline import Generated, generate

BRANCHES = """\
#include <stdio.h>
void f(int n, double *a, const double *b)
{
#pragma scop
  for (int i = 0; i < n; i++) {
#if defined(_OPENMP)
    a[i] = b[i] + 1;
#else
    a[i] = 2 + b[i];
#endif
  }
#pragma endscop
}
int main(void) { double a[9], b[9] = {1, 2, 3}; f(9, a, b); printf("%g %g\\n", a[0], a[8]); }
"""
MACROS = """\
#include <stdio.h>
#ifdef _OPENMP
#define GAIN(x) ((x) * 3)
#define FIRST 1
#else
#define GAIN(x) (x)
#define FIRST 0
#endif
void f(int n, int *a)
{
#pragma scop
  for (int i = FIRST; i < n; i++)
    a[i] = GAIN(i) + 1;
#pragma endscop
}
int main(void) { int a[9] = {7}; f(9, a); printf("%d %d\\n", a[0], a[8]); }
"""
AROUND = """\
#include <stdio.h>
#ifdef _OPENMP
typedef float real;
#else
typedef double real;
#endif
void f(int n, real *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = i * (real)0.1;
#pragma endscop
}
int main(void) { real a[9]; f(9, a); printf("%.17g\\n", (double)a[7]); }
"""


def _made(source: str, flags: tuple[str, ...], target: str) -> Generated:
    return generate("p.c", source, GenOptions(target=target, cpp=CppOptions(args=flags)))


def _runs(text: str, words: tuple[str, ...], folder: Path) -> str:
    (folder / "p.c").write_text(text)
    subprocess.run(["gcc", "-O1", "-w", *words, "p.c", "-o", "p"], cwd=folder, check=True)
    return subprocess.run(["./p"], cwd=folder, check=True, capture_output=True, text=True, timeout=20).stdout


@pytest.mark.parametrize("source", [BRANCHES, MACROS, AROUND], ids=["branches", "macros", "around"])
@pytest.mark.parametrize(
    ("target", "flags"), [("openmp", ()), ("openmp", ("-fopenmp",)), ("openmp", ("-fno-openmp",)), ("c", ())]
)
def test_result_is_the_source_with_and_without(
    source: str, target: str, flags: tuple[str, ...], tmp_path: Path
) -> None:
    made = _made(source, flags, target)
    assert made.regions[0].transformed
    for words in ((), ("-fopenmp",)):
        assert _runs(made.text, words, tmp_path) == _runs(source, words, tmp_path), words


def test_the_directive_is_that_of_the_run() -> None:
    assert "#ifdef _OPENMP\n  /* tilewright" in _made(BRANCHES, (), "openmp").text
    assert "#ifndef _OPENMP\n  /* tilewright" in _made(BRANCHES, (), "c").text
    plain = MACROS.replace("a[i] = GAIN(i)", "a[i] = i").replace("i = FIRST", "i = 0")
    assert "_OPENMP\n  /* tilewright" not in _made(plain, (), "openmp").text
    assert not [d for d in _made(BRANCHES, (), "openmp").diagnostics if d.id == "conditional-region"]


def test_links_follow_the_directive() -> None:
    made = _made(BRANCHES, (), "openmp")
    lines = made.text.split("\n")
    assert made.regions[0].links
    assert all("a[i] =" in lines[line - 1] for line, _ in made.regions[0].links)


def test_without_headers_of_openmp(tmp_path: Path) -> None:
    """A preprocessor that takes no -fopenmp is run without."""
    tool = tmp_path / "cpp.sh"
    tool.write_text('#!/bin/sh\nfor w in "$@"; do [ "$w" = -fopenmp ] && exit 1; done\nexec gcc -E "$@"\n')
    tool.chmod(0o755)
    made = generate("p.c", BRANCHES, GenOptions(cpp=CppOptions(command=(str(tool),))))
    assert "#ifndef _OPENMP\n  /* tilewright" in made.text
