"""Vectors of whole numbers: which bodies have that form, and that they give the same bits and overflow nowhere."""

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
from tests.unit.target.vector.plans import plan_for

# Inside a loop over i: loops over j, some around others; and which types have vectors for them: all, those without a
# sign ("u"), or none. E holds the least and the largest numbers there are.
BODIES = {
    "sums": ("for (int j = 1; j < n - 1; j++) B[i][j] = A[i][j - 1] - 2 * A[i][j + 1] * c + i;", "all"),
    "two": ("for (int j = 0; j < n; j++) { A[i][j] += c * B[i][j]; B[i][j] = A[i][j] - c; }", "all"),
    "bits": ("for (int j = 0; j < n; j++) B[i][j] = (A[i][j] & c) ^ (~E[i][j] | (B[i][j] ^ 5));", "all"),
    "bit by bit": ("for (int j = 0; j < n; j++) B[i][j] ^= E[i][j];", "all"),
    "shifts": ("for (int j = 0; j < n; j++) B[i][j] = (A[i][j] << 3) ^ (E[i][j] >> (i % 31));", "all"),
    "shifted": ("for (int j = 0; j < n; j++) { B[i][j] <<= 2; A[i][j] >>= i % 7; }", "all"),
    "backwards": ("for (int j = 0; j < n; j++) B[i][j] = A[i][n - 1 - j] * -A[i][j];", "all"),
    "largest": ("for (int j = 0; j < n; j++) B[i][j] = E[i][j] > B[i][j] ? E[i][j] : B[i][j];", "all"),
    "clamped": ("for (int j = 0; j < n; j++) B[i][j] = E[i][j] < 3 ? 3 : E[i][j] > c ? c : E[i][j];", "all"),
    "perhaps": ("for (int j = 0; j < n; j++) B[i][j] = E[i][j] > 9 || E[i][j] < -9 ? c : E[i][j] * E[i][j];", "all"),
    "negated": ("for (int j = 0; j < n; j++) B[i][j] = E[i][j] >= -9 ? -E[i][j] : ~(E[i][j] - -7);", "all"),
    "perhaps compared": (
        "for (int j = 0; j < n; j++) B[i][j] = E[i][j] < 9 && E[i][j] > -9 && 2 * E[i][j] != B[i][j] ? B[i][j] : c;",
        "all",
    ),
    "perhaps halved": ("for (int j = 0; j < n; j++) B[i][j] = A[i][j] > 9 ? A[i][j] >> 1 : c;", "u"),
    "perhaps computed": ("for (int j = 0; j < n; j++) B[i][j] = A[i][j] > 9 ? c * c : A[i][j];", ""),
    "quotient": ("for (int j = 0; j < n; j++) B[i][j] = A[i][j] / 3;", ""),
    "remainder": ("for (int j = 0; j < n; j++) B[i][j] = A[i][j] % 3;", ""),
    "shifted by each": ("for (int j = 0; j < n; j++) B[i][j] = 1 << (A[i][j] & 7);", ""),
    "another type": ("for (int j = 0; j < n; j++) B[i][j] = A[i][j] * 0.5;", ""),
    "narrower": ("for (int j = 0; j < n; j++) B[i][j] = A[i][j] + s[j];", ""),
    "narrow and still": ("for (int j = 0; j < n; j++) B[i][j] = A[i][j] + s[i];", "all"),
    "around": ("for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) B[i][j] += A[i][k] * (A[k][j] - 1);", "all"),
    "largest around": (
        "for (int j = 0; j < n; j++) for (int k = 0; k <= j; k++) B[i][j] = B[i][j] < E[k][j] ? E[k][j] : B[i][j];",
        "all",
    ),
    "set around": (
        "for (int j = 0; j < n; j++) { B[i][j] = 7;"
        " for (int k = 0; k < 3; k++) B[i][j] = (B[i][j] & 63) << 1 ^ E[i][j]; }",
        "all",
    ),
    "perhaps around": (
        "for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
        " B[i][j] = A[k][j] > 50 || B[i][j] > 99 || B[i][j] < -99 ? B[i][j] & 15 : B[i][j] * 5 - A[k][j];",
        "all",
    ),
}


def source(kind: str) -> str:
    head = "int n, TYPE c, const short s[n], TYPE A[n][n], TYPE B[n][n], const TYPE E[n][n]"
    parts = [
        f"void f{k}({head})\n{{\n#pragma scop\n    for (int i = 0; i < n; i++)\n        {body}\n#pragma endscop\n}}\n"
        for k, (body, _) in enumerate(BODIES.values())
    ]
    return "#include <stddef.h>\n" + "".join(parts).replace("TYPE", kind)


DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void kernel(int n, TYPE c, const short *s, TYPE (*A)[n], TYPE (*B)[n], const TYPE (*E)[n]);
int main(void)
{
    static const int sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 13, 19};
    static const short s[] = {3, -7, 11, 0, 1, 2, -3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const TYPE least = (TYPE)-1 < 1 ? (TYPE)(1ull << (8 * sizeof(TYPE) - 1)) : 0, most = ~least;
    kernel *const old[] = {OLD}, *const made[] = {NEW};
    for (int f = 0; f < (int)(sizeof old / sizeof *old); f++)
        for (int k = 0; k < 10; k++) {
            const size_t n = sizes[k];
            TYPE *m[6];
            for (int q = 0; q < 6; q++) {
                m[q] = n ? malloc(n * n * sizeof(TYPE)) : 0;
                for (size_t i = 0; i < n * n; i++)
                    m[q][i] = (i * 7 + q % 3) % 13 * (1 + (TYPE)-1 / 2 % 2 * (i * i << 40));
                for (size_t i = 0; q % 3 == 2 && i < n * n; i++)
                    m[q][i] = i % 5 == 1 ? least : i % 5 == 3 ? most : i % 7 == 2 ? least + 1 : (TYPE)(i % 11) - 5;
            }
            old[f](n, (TYPE)6, s, (void *)m[0], (void *)m[1], (void *)m[2]);
            made[f](n, (TYPE)6, s, (void *)m[3], (void *)m[4], (void *)m[5]);
            for (int q = 0; n && q < 3; q++)
                if (memcmp(m[q], m[q + 3], n * n * sizeof(TYPE))) return printf("f%d, n = %d\\n", f, (int)n);
            for (int q = 0; q < 6; q++) free(m[q]);
        }
    return 0;
}
"""


def planned(text: str, directives: str, written: list[bool]) -> str:
    plan = plan_for(written, directives)
    return generate("in.c", text, replace(GenOptions(), plan_text=plan)).text


@pytest.mark.parametrize(
    "kind, vectors, plan, compiler",
    [
        ("int", "INT32", "vector j by 2 of 16 bytes", "cc"),
        ("unsigned", "UINT32", "vector j by 1 of 32 bytes", "clang"),
        ("long long", "INT64", "vector j by 1 of 16 bytes", "clang"),
        ("size_t", "UINT64", "vector j by 3 of 16 bytes", "cc"),
    ],
)
def test_same_bits(kind: str, vectors: str, plan: str, compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    text = source(kind)
    kinds = ("all", "u") if vectors.startswith("U") else ("all",)
    made = planned(text, plan, [types in kinds for _, types in BODIES.values()])
    parts = zip(BODIES, made.split("void f")[1:], strict=True)
    written = {name: f"TW_{vectors}V(" in part or f"TW_{vectors}X" in part for name, part in parts}
    assert written == {name: types in kinds for name, (_, types) in BODIES.items()}
    if kind == "int":
        assert "(tw_int32v)(TW_UINT32V(E[i][j])*TW_UINT32V(E[i][j]))" in "".join(made.split())
    names = {side: ", ".join(f"{side}_f{k}" for k in range(len(BODIES))) for side in ("old", "new")}
    driver = DRIVER.replace("OLD", names["old"]).replace("NEW", names["new"]).replace("TYPE", kind)
    (tmp_path / "t.c").write_text(text.replace("void f", "void old_f") + made.replace("void f", "void new_f") + driver)
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unknown-pragmas", "-Wno-sign-compare"]
    more = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", *quick(compiler)]
    if compiler == "clang":
        more = ["-Wno-tautological-overlap-compare"]
    subprocess.run([compiler, *flags, *more, "-o", tmp_path / "t", tmp_path / "t.c"], check=True)
    no_leaks = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}  # looking for them takes seconds
    ran = subprocess.run([tmp_path / "t"], capture_output=True, text=True, env=no_leaks)
    assert ran.returncode == 0, ran.stdout + ran.stderr
