"""Functions that touch nothing may be given nothing: one size is 0, and no array is there.

Plans read elements ahead of loops, copy operands and set up memory; none of that may happen for a loop without
iterations.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.corpus import ALL

# A processor with vectors of its own whose code runs here.
HERE = "neoverse-n1" if platform.machine() == "aarch64" else "zen3"

# Parameters; what the region does; calls that touch no array, with 0 for each of them.
CASES = {
    "contract": (
        "int n, int m, int l, double C[n][m], double A[n][l], double B[l][m]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++)"
        " C[i][j] += A[i][k] * B[k][j];",
        ("0, 300, 300", "300, 0, 300", "300, 300, 0"),
    ),
    "times": (
        "int n, int m, double y[n], double A[n][m], double x[m]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += A[i][j] * x[j];",
        ("0, 300", "300, 0"),
    ),
    "convolve": (
        "int n, int m, int r, int l, float o[n][m], float x[n + r][m + l], float w[r][l]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int p = 0; p < r; p++)"
        " for (int q = 0; q < l; q++) o[i][j] += w[p][q] * x[i + p][j + q];",
        ("0, 300, 5, 5", "300, 0, 5, 5", "300, 300, 0, 5", "300, 300, 5, 0"),
    ),
    "relax": (
        "int t, int n, double a[n][n], double b[n][n]",
        "for (int s = 0; s < t; s++) { for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
        " b[i][j] = a[i - 1][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j];"
        " for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) a[i][j] = b[i][j] * 0.25; }",
        ("0, 300", "300, 0", "300, 2"),
    ),
    "sweep": (
        "int t, int n, double a[n][n]",
        "for (int s = 0; s < t; s++) for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
        " a[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j]) / 5;",
        ("0, 300", "300, 0", "300, 1"),
    ),
    "scan": (
        "int n, int m, double a[n][m], double s[n]",
        "for (int i = 0; i < n; i++) { for (int j = 1; j < m; j++) a[i][j] += a[i][j - 1] * 0.5;"
        " for (int j = 1; j < m; j++) s[i] += a[i][j]; }",
        ("0, 300", "300, 0", "300, 1"),
    ),
    "turn": (
        "int n, int m, float a[n][m], float b[m][n]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[j][i] = a[i][j];",
        ("0, 300", "300, 0"),
    ),
    "reduce": (
        "int n, int m, double y[n], double A[n][m], double *s",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { y[i] = A[i][j] > y[i] ? A[i][j] : y[i];"
        " s[0] += A[i][j]; }",
        ("0, 300", "300, 0"),
    ),
    "solve": (
        "int n, int m, double L[n][n], double B[n][m]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { for (int k = 0; k < i; k++)"
        " B[i][j] -= L[i][k] * B[k][j]; B[i][j] /= L[i][i]; }",
        ("0, 300", "300, 0"),
    ),
    "align": (
        "int n, int m, int d[n + 1][m + 1], char a[n], char b[m]",
        "for (int i = 1; i <= n; i++) for (int j = 1; j <= m; j++) { int c = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);"
        " int e = d[i - 1][j] < d[i][j - 1] ? d[i - 1][j] + 1 : d[i][j - 1] + 1; d[i][j] = c < e ? c : e; }",
        ("0, 300", "300, 0"),
    ),
    "spread": (
        "int n, int m, double o[n], double x[2 * n + m], double w[m]",
        "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) o[i] += w[k] * x[2 * i + k];",
        ("0, 300", "300, 0"),
    ),
    "rows": (
        "int n, int m, double A[n][m], double B[n][m]",
        "for (int i = 0; i < n; i++) { double t[m + 1]; for (int j = 0; j < m; j++) t[j] = A[i][j] + i;"
        " for (int j = 1; j < m; j++) B[i][j] = t[j] * t[m - 1 - j] + t[j - 1]; }",
        ("0, 300", "300, 0"),
    ),
    "member": (
        "int n, int m, struct grid *g",
        "for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) g->to[i * 300 + j] = g->from[i * 300 + j - 1] * g->w;",
        ("0, 300", "300, 0", "300, 1"),
    ),
    "flat": (
        "int n, int m, long ld, float *a, float *b, float *c",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { c[j] += a[i * ld + j] * b[i];"
        " b[i] -= a[i * ld + j] * c[j]; }",
        ("0, 300, 300", "300, 0, 300", "300, 0, 0"),
    ),
    "path": (
        "int n, double d[n][n]",
        "for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
        " d[i][j] = d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j];",
        ("0",),
    ),
    "search": (
        "int n, int m, int l, long s[n], signed char a[m][l], signed char b[n][l]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++)"
        " s[i] += a[j][k] > b[i][k] ? a[j][k] - b[i][k] : b[i][k] - a[j][k];",
        ("0, 300, 300", "300, 0, 300", "300, 300, 0"),
    ),
}
HEAD = "#include <stdio.h>\nstruct grid { double w, *from, *to; };\n"
FREE = ("times", "convolve", "scan", "reduce", "spread", "flat")  # sums whose order may change
QUICK = ("times", "convolve", "scan", "turn", "member", "flat")
EVERY = tuple(CASES)
MOST = tuple(n for n in EVERY if n not in ("relax", "path"))  # which have pages of C
# Options, and the functions for which they are tried in `make test`.
WAYS = {
    "default": (GenOptions(machine=HERE), MOST),
    "generic": (GenOptions(), QUICK),
    "reassociate": (GenOptions(machine=HERE, reassociate=True), FREE),
    "generic reassociate": (GenOptions(reassociate=True), ()),
    "c": (GenOptions(machine=HERE, target="c"), ("relax", "align", "rows")),
    "generic c": (GenOptions(target="c"), ()),
}


def _source(names: Iterable[str]) -> str:
    parts = []
    for name in names:
        parameters, body, _ = CASES[name]
        parts.append(f"static void {name}({parameters})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    return HEAD + "".join(parts)


def _main(names: Iterable[str]) -> str:
    calls = []
    for name in names:
        parameters, _, sizes = CASES[name]
        for given in sizes:
            missing = parameters.count(",") - given.count(",")
            call = f"{name}({given}{', 0' * missing})"
            calls.append(f'  fputs("{call}\\n", stderr);\n  {call};\n')
    return "int main(void)\n{\n" + "".join(calls) + "  return 0;\n}\n"


@pytest.mark.parametrize("way", WAYS if ALL else [w for w, (_, names) in WAYS.items() if names])
def test_nothing_is_touched(way: str, tmp_path: Path) -> None:
    options, some = WAYS[way]
    names = EVERY if ALL else some
    made = generate("z.c", _source(names), options)
    assert all(r.transformed for r in made.regions)
    (tmp_path / "z.c").write_text(made.text + _main(names))
    flags = ("-O0", "-w", "-fopenmp", "-DTW_PARALLEL_MIN=0", "-fsanitize=address,undefined", "-fno-sanitize-recover")
    subprocess.run(["gcc", *flags, "-o", tmp_path / "z", tmp_path / "z.c", "-lm"], check=True, timeout=100)
    env = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run([tmp_path / "z"], capture_output=True, text=True, timeout=100, env=env)
    assert done.returncode == 0, "\n".join(done.stderr.splitlines()[-30:])
