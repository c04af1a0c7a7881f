"""Vectors along a loop around another along which rows are read: blocks turned in registers, with the same bits."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.macros import without_macros
from tests.unit.target.vector.plans import plan_for

# What is done for all j < n; which types have vectors for it: all, floating ones ("f"), or none.
BODIES = {
    "copy": ("for (int k = 0; k < m; k++) B[k][j] = A[j][k];", "all"),
    "computed": ("for (int k = 0; k < m; k++) B[k][j] = 2 * A[j][k] - c * B[k][j] * x[k];", "all"),
    "stepped": ("for (int k = 0; k < m; k++) B[k][j] -= -A[j][k] * y[j];", "all"),
    "rows": ("for (int k = 0; k < m; k++) y[j] = y[j] * x[k] + A[j][k];", "all"),
    "neighbours": ("for (int k = 1; k < m; k++) B[k][j] = A[j][k - 1] + A[j][k] * A[n - 1 - j][k];", "all"),
    "triangle": ("for (int k = 0; k <= j; k++) B[k][j] = A[j][k] - c;", "all"),
    "upper triangle": ("for (int k = j; k < m; k++) B[k][j] = A[j][k] - A[j][j + k];", "all"),
    "two deep": ("for (int k = 0; k < m; k++) for (int l = 0; l < 7; l++) y[j] += A[j + k][l] * x[k];", "all"),
    "two": ("for (int k = 0; k < m; k++) { y[j] += A[j][k]; B[k][j] = y[j] * A[j][k]; }", "all"),
    "and more": ("{ y[j] = 0; for (int k = 0; k < m; k++) y[j] += A[j][k]; y[j] = -y[j]; }", "all"),
    "quotient": ("for (int k = 0; k < m; k++) B[k][j] = A[j][k] / 3;", "f"),
    "chosen": ("for (int k = 0; k < m; k++) B[k][j] = A[j][k] > c ? A[j][k] : c;", "all"),
    "written": ("for (int k = 0; k < m; k++) A[n + k][j] = A[j][k];", ""),
    "neither way": ("for (int k = 0; k < m; k++) B[k][j] = A[j][2 * k];", ""),
    "read or not": ("for (int k = 0; k < m; k++) B[k][j] = c > 1 ? A[j][k] : c;", ""),
}
SOME = ("copy", "computed", "rows", "neighbours", "upper triangle", "quotient")
TILED = ("copy", "computed", "neighbours")


def source(names: tuple[str, ...], real: str) -> str:
    head = "int n, int m, REAL c, REAL x[m], REAL y[n], REAL A[n + m][2 * (n + m) + 7], REAL B[n + m][n]"
    parts = [
        f"void f{k}({head})\n{{\n#pragma scop\n"
        f"    for (int j = 0; j < n; j++)\n        {BODIES[name][0]}\n#pragma endscop\n}}\n"
        for k, name in enumerate(names)
    ]
    return "".join(parts).replace("REAL", real)


DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void kernel(int n, int m, REAL c, REAL *x, REAL *y, REAL (*A)[2 * (n + m) + 7], REAL (*B)[n]);
int main(void)
{
    static const int sizes[] = {0, 1, 2, 3, 4, 7, 8, 9, 19};
    kernel *const old[] = {OLD}, *const made[] = {NEW};
    for (int f = 0; f < (int)(sizeof old / sizeof *old); f++)
        for (int k = 0; k < 81; k++) {
            const size_t n = sizes[k % 9], m = sizes[k / 9], count[] = {m, n, (n + m) * (2 * (n + m) + 7), (n + m) * n};
            REAL *a[8];
            for (int q = 0; q < 8; q++) {
                a[q] = malloc(count[q % 4] * sizeof(REAL) + 1);
                for (size_t i = 0; i < count[q % 4]; i++) a[q][i] = (REAL)(1 + (i * 7 + q % 4) % 13) / 3;
            }
            old[f](n, m, (REAL)1.7, a[0], a[1], (void *)a[2], (void *)a[3]);
            made[f](n, m, (REAL)1.7, a[4], a[5], (void *)a[6], (void *)a[7]);
            for (int q = 0; q < 4; q++)
                if (memcmp(a[q], a[q + 4], count[q] * sizeof(REAL))) return printf("f%d, %d, %d", f, (int)n, (int)m);
            for (int q = 0; q < 8; q++) free(a[q]);
        }
    return 0;
}
"""


def planned(text: str, directives: str, written: tuple[bool, ...] = ()) -> str:
    plan = plan_for(written or (True,) * text.count("#pragma scop"), directives)
    return generate("in.c", text, replace(GenOptions(), plan_text=plan)).text


@pytest.mark.parametrize(
    "real, plan, compiler, names",
    [
        ("double", "vector j by 3 of 16 bytes", "cc", tuple(BODIES)),
        ("double", "tile j:8, k:6 full\n  vector j by 2 of 16 bytes", "cc", TILED),
        ("float", "vector j by 2 of 16 bytes", "clang", SOME),
        ("float", "vector j by 1 of 32 bytes", "cc", SOME),
        ("int", "vector j by 2 of 16 bytes", "cc", tuple(BODIES)),
        ("unsigned long", "vector j by 1 of 16 bytes", "clang", SOME),
    ],
)
def test_same_bits(real: str, plan: str, compiler: str, names: tuple[str, ...], tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    text = source(names, real)
    kinds = ("all", "f") if real in ("float", "double") else ("all",)
    none = ("read or not", *(("quotient",) if "f" not in kinds else ()))
    made = planned(text, plan, tuple(name not in none for name in names))
    functions = made.split("void f")[1:]
    written = {name: "_low(" in function for name, function in zip(names, functions, strict=True)}
    assert written == {name: BODIES[name][1] in kinds for name in names}
    sides = {side: ", ".join(f"{side}_f{k}" for k in range(len(names))) for side in ("old", "new")}
    driver = DRIVER.replace("OLD", sides["old"]).replace("NEW", sides["new"])
    both = text.replace("void f", "void old_f") + made.replace("void f", "void new_f")
    (tmp_path / "t.c").write_text(both + driver.replace("REAL", real))
    flags = ["-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    checks = ["-Wno-unknown-pragmas", *(["-fsanitize=address"] if compiler == "cc" else [])]
    subprocess.run([compiler, *flags, *checks, "-o", tmp_path / "t", tmp_path / "t.c", "-lm"], check=True)
    no_leaks = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}  # looking for them takes seconds
    ran = subprocess.run([tmp_path / "t"], capture_output=True, text=True, env=no_leaks)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_what_has_no_form_is_an_error() -> None:
    with pytest.raises(InputError, match="loop `j` is not written as vectors, and left to the compiler: lanes cannot"):
        planned(source(("read or not",), "double"), "vector j by 2 of 16 bytes")


def test_full_tiles_leave_no_rest() -> None:
    made = planned(source(("copy",), "float"), "tile j:8, k:4 full\n  vector j by 2 of 16 bytes")
    whole = without_macros(made)[without_macros(made).index("/* tiles of 4 */") :]
    assert "/* the rest */" not in whole[: whole.index("TW_F32X4U(B[k + 3][j + 4]) =")]


@pytest.mark.parametrize(
    "name, found", [("copy", True), ("computed", True), ("written", False), ("neither way", False)]
)
def test_the_tool_finds_them(name: str, found: bool) -> None:
    made = generate("in.c", source((name,), "double"), GenOptions()).text
    assert ("_low(" in made) is found
