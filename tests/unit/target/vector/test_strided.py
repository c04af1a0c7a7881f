"""Vectors of elements that are not neighbours: picked out of whole vectors, or put together; none too many read."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.compilers import quick

# What is done for all j < n; how many elements of x it touches, to the last one that there is; and with how many lanes
# it is picked out of whole vectors.
BODIES = {
    "every second": ("y[j] = x[2 * j];", "2 * n - 1", (4, 8)),
    "odd ones": ("y[j] = x[2 * j + 1] + c;", "2 * n", (4, 8)),
    "pairs": ("y[j] = x[2 * j] - x[2 * j + 1] * c;", "2 * n", (2, 4, 8)),
    "the other way": ("y[j] += 3 * x[2 * j + 1] - x[2 * j];", "2 * n", (2, 4, 8)),
    "three": ("y[j] = x[2 * j] - x[2 * j + 1] + x[2 * j + 2];", "2 * n + 1", (2, 4, 8)),
    "triples": ("y[j] = x[3 * j] + x[3 * j + 1] - x[3 * j + 2];", "3 * n", (4,)),
    "every third": ("y[j] = x[3 * j];", "3 * n - 2", (4,)),
    "every fourth": ("y[j] = x[4 * j + 1] - y[j];", "4 * n - 2", ()),
    "downwards": ("y[j] = x[2 * n - 2 - 2 * j];", "2 * n - 1", ()),
    "each twice": ("y[j] = x[j / 2] - c;", "(n + 1) / 2", ()),
    "written": ("x[3 * n + j] = x[2 * j] - x[2 * j + 1];", "4 * n", ()),
    "a column": ("y[j] = A[j][1] - x[j];", "n", ()),
    "a diagonal": ("y[j] -= A[j][j % 3];", "n", ()),
    "the larger": ("y[j] = x[2 * j] > x[2 * j + 1] ? x[2 * j] : x[2 * j + 1];", "2 * n", (2, 4, 8)),
    "in turn": ("{ z[2 * j] = x[j] + c; z[2 * j + 1] = x[j] - c; }", "n", ()),
    "in turn backwards": ("{ z[2 * j + 1] = x[j] * c; z[2 * j] = y[n - 1 - j]; }", "n", ()),
    "in turn and more": ("{ z[2 * j] = x[j] * 2; z[2 * j + 1] = x[2 * j]; y[j] = x[2 * j + 1]; }", "2 * n", (4, 8)),
    "one of two": ("{ z[2 * j + 1] += x[j]; y[j] = x[j] - c; }", "n", ()),
    "only one": ("z[2 * j] = x[j] - c;", "n", ()),
    "one from the other": ("{ z[2 * j] = x[j] - c; z[2 * j + 1] = z[2 * j] * y[j]; }", "n", ()),
    "window": ("for (int k = 0; k < 3; k++) y[j] += A[0][k] * x[2 * j + k];", "2 * n + 1", (4, 8)),
}


def source(kind: str) -> str:
    parts = [
        f"void f{k}(int n, TYPE c, TYPE x[4 * n + 1], TYPE y[n], TYPE z[2 * n], TYPE A[n + 1][3])\n{{\n#pragma scop\n"
        f"    for (int j = 0; j < n; j++)\n        {body}\n#pragma endscop\n}}\n"
        for k, (body, _, _) in enumerate(BODIES.values())
    ]
    return "".join(parts).replace("TYPE", kind)


DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void kernel(int n, TYPE c, TYPE *x, TYPE *y, TYPE *z, TYPE (*A)[3]);
int main(void)
{
    kernel *const old[] = {OLD}, *const made[] = {NEW};
    for (int f = 0; f < (int)(sizeof old / sizeof *old); f++)
        for (int n = 0; n < 20; n++) {
            const size_t touched[] = {TOUCHED}, count[] = {touched[f], n, 2 * n, 3 * n + 3};
            TYPE *m[8];
            for (int q = 0; q < 8; q++) {
                m[q] = n ? malloc(count[q % 4] * sizeof(TYPE)) : 0;
                for (size_t i = 0; n && i < count[q % 4]; i++) m[q][i] = (TYPE)(1 + (i * 7 + q % 4) % 13) / 3;
            }
            old[f](n, (TYPE)1.7, m[0], m[1], m[2], (void *)m[3]);
            made[f](n, (TYPE)1.7, m[4], m[5], m[6], (void *)m[7]);
            for (int q = 0; n && q < 4; q++)
                if (memcmp(m[q], m[q + 4], count[q] * sizeof(TYPE))) return printf("f%d, n = %d\\n", f, n);
            for (int q = 0; q < 8; q++) free(m[q]);
        }
    return 0;
}
"""


@pytest.mark.parametrize(
    "kind, lanes, plan, compiler",
    [
        ("double", 2, "vector j by 2 of 16 bytes", "cc"),
        ("float", 4, "vector j by 1 of 16 bytes", "cc"),
        ("int", 8, "vector j by 1 of 32 bytes", "clang"),
        ("unsigned long", 2, "vector j by 3 of 16 bytes", "clang"),
    ],
)
def test_same_bits(kind: str, lanes: int, plan: str, compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    text = source(kind)
    plans = "".join(f"region {k + 1}\n  {plan}\n" for k in range(len(BODIES)))
    made = generate("in.c", text, replace(GenOptions(), plan_text=plans)).text
    functions = dict(zip(BODIES, made.split("void f")[1:], strict=True))
    assert all(f"x{lanes}" in function for function in functions.values())
    assert {name: "_at_" in function for name, function in functions.items()} == {
        name: lanes in picked for name, (_, _, picked) in BODIES.items()
    }
    zipped = [name for name, function in functions.items() if "_low(v" in function]
    assert zipped == ["in turn", "in turn backwards", "in turn and more"]
    names = {side: ", ".join(f"{side}_f{k}" for k in range(len(BODIES))) for side in ("old", "new")}
    driver = DRIVER.replace("OLD", names["old"]).replace("NEW", names["new"]).replace("TYPE", kind)
    driver = driver.replace("TOUCHED", ", ".join(touched for _, touched, _ in BODIES.values()))
    (tmp_path / "t.c").write_text(text.replace("void f", "void old_f") + made.replace("void f", "void new_f") + driver)
    flags = ["-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unknown-pragmas"]
    checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", *quick("cc")] if compiler == "cc" else []
    subprocess.run([compiler, *flags, *checks, "-o", tmp_path / "t", tmp_path / "t.c"], check=True)
    no_leaks = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}  # looking for them takes seconds
    ran = subprocess.run([tmp_path / "t"], capture_output=True, text=True, env=no_leaks)
    assert ran.returncode == 0, ran.stdout + ran.stderr
