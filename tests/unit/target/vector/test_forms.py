"""Loops written as vectors: which have that form, what it looks like, and that it gives the same bits."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.ast.lowered import WIDTHS
from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.compilers import quick
from tests.macros import without_macros
from tests.unit.target.vector.plans import plan_for

# What stands in the loop over j (or in its place), and whether it has a form as vectors.
BODIES = {
    "copy": ("for (int j = 1; j < n - 1; j++) B[i][j] = A[i][j - 1] - A[i][j + 1];", True),
    "twice": ("for (int j = 1; j < n - 1; j++) B[i][j] = A[i][j] - 2 * A[i][j + 1] * c;", True),
    "in place": ("for (int j = 0; j < n; j++) B[i][j] = B[i][j] / 3 - A[i][j];", True),
    "compound": ("for (int j = 0; j < n; j++) B[i][j] *= -A[i][j] + (1 + 2 * c);", True),
    "two": ("for (int j = 0; j < n; j++) { A[i][j] += c * B[i][j]; B[i][j] = (REAL)(A[i][j] * (i + 1)); }", True),
    "one for all": ("for (int j = 0; j < n; j++) B[i][j] = B[i][j] + A[i][0] * c;", True),
    "far": ("for (int j = 2; j < n - 2; j++) B[i][j] = A[i][j + 2] - c * A[i][j] + A[i][j - 1] / A[i][j - 2];", True),
    "beside": ("for (int j = 1; j < n - 1; j++) B[i][j] += A[i][j - 1] - A[i][j + 1];", True),
    "set": ("for (int j = 0; j < n; j++) B[i][j] = c;", False),
    "counted": ("for (int j = 0; j < n; j++) B[i][j] = A[i][j] + j;", False),
    "strided": ("for (int j = 0; 2 * j < n; j++) B[i][j] = A[i][2 * j];", True),
    "column": ("for (int j = 0; j < n; j++) B[i][j] = A[j][i] + A[i][j];", True),
    "reversed": ("for (int j = 0; j < n; j++) B[i][j] = A[i][n - 1 - j];", True),
    "chosen": ("for (int j = 0; j < n; j++) B[i][j] = A[i][j] > c ? A[i][j] : c;", True),
    "two conditions": (
        "for (int j = 0; j < n; j++) B[i][j] = A[i][j] > B[i][j] && c <= A[i][j] ? A[i][j] - 1 : B[i][j] * c;",
        True,
    ),
    "one side alone": ("for (int j = 0; j < n; j++) B[i][j] = B[i][j] > c ? A[i][j] : c;", False),
    "for all": ("for (int j = 0; j < n; j++) B[i][j] = c > 1 ? A[i][j] : B[i][j];", False),
}


def source(real: str = "double") -> str:
    parts = [
        f"void f{k}(int n, REAL c, REAL A[n][n], REAL B[n][n])\n{{\n#pragma scop\n"
        f"    for (int i = 0; i < n; i++)\n        {body}\n#pragma endscop\n}}\n"
        for k, (body, _) in enumerate(BODIES.values())
    ]
    return "".join(parts).replace("REAL", real)


def planned(text: str, directives: str, but: str = "") -> str:
    """All regions by a plan, without vectors where there is no form for them; nor for the body called `but`."""
    flags = [vectors and name != but for name, (_, vectors) in BODIES.items()]
    plan = plan_for(flags if text.count("#pragma scop") > 1 else [True], directives)
    return generate("in.c", text, replace(GenOptions(), plan_text=plan)).text


DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void kernel(int n, REAL c, REAL (*A)[n], REAL (*B)[n]);
int main(void)
{
    static const int sizes[] = {0, 1, 2, 3, 4, 5, 7, 9, 16, 19, 37, 64};
    kernel *const old[] = {OLD}, *const made[] = {NEW};
    for (int f = 0; f < (int)(sizeof old / sizeof *old); f++)
        for (int k = 0; k < 12; k++) {
            const int n = sizes[k];
            const size_t bytes = (size_t)n * n * sizeof(REAL);
            REAL *m[4];
            for (int q = 0; q < 4; q++) {
                m[q] = malloc(bytes + 1);
                for (int x = 0; x < n * n; x++) m[q][x] = (REAL)(1 + (x * 7 + q % 2) % 13) / 3;
            }
            old[f](n, (REAL)0.7, (void *)m[0], (void *)m[1]);
            made[f](n, (REAL)0.7, (void *)m[2], (void *)m[3]);
            for (int q = 0; q < 2; q++)
                if (memcmp(m[q], m[q + 2], bytes)) return printf("f%d, n = %d\\n", f, n);
            for (int q = 0; q < 4; q++) free(m[q]);
        }
    return 0;
}
"""


@pytest.mark.parametrize(
    "real, plan, width",
    [
        ("double", "jam i by 3\n  vector j by 1 of 16 bytes", 16),
        ("double", "jam i by 3\n  vector j by 1 of 16 bytes", 64),
        ("double", "vector j by 2 of 16 bytes", 32),
        ("float", "vector j by 2 of 16 bytes", 64),
        ("float", "vector j by 2 of 32 bytes", 16),
    ],
)
def test_same_bits(real: str, plan: str, width: int, tmp_path: Path) -> None:
    """Vectors whose width the text leaves open have that many bytes, whatever this machine has."""
    text = source(real)
    made = re.sub(r"(#define TW_VECTOR_BYTES) \d+", rf"\1 {width}", planned(text, plan))
    assert ("TW_VECTOR_BYTES" in made) == ("of 16 bytes" in plan)
    functions = made.split("void f")[1:]
    written = {name: "TW_F" in function for name, function in zip(BODIES, functions, strict=True)}
    assert written == {name: vectors for name, (_, vectors) in BODIES.items()}
    names = {side: ", ".join(f"{side}_f{k}" for k in range(len(BODIES))) for side in ("old", "new")}
    driver = DRIVER.replace("OLD", names["old"]).replace("NEW", names["new"]).replace("REAL", real)
    (tmp_path / "t.c").write_text(text.replace("void f", "void old_f") + made.replace("void f", "void new_f") + driver)
    flags = ["-O1", "-fopenmp", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    checks = ["-Wno-unknown-pragmas", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *quick("cc")]
    subprocess.run(["cc", *flags, *checks, "-o", tmp_path / "t", tmp_path / "t.c", "-lm"], check=True)
    ran = subprocess.run([tmp_path / "t"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_widths_that_compilers_choose_are_proven() -> None:
    made = planned(source(), "vector j by 2 of 16 bytes")
    assert {int(n) for n in re.findall(r"#define TW_VECTOR_BYTES (\d+)", made)} == set(WIDTHS)


def test_vectors_backwards_leave_their_width_open_too() -> None:
    made = planned(source(), "vector j by 2 of 16 bytes")
    assert "tw_f64v_turned(TW_F64V(A[i][n - j - 2 * TW_F64_LANES]))" in without_macros(made)
    orders = re.findall(r"#define tw_f64v_turned\(x\) TW_F64V_PICK\(x, x, (.*)\)", made)
    assert orders == [", ".join(map(str, reversed(range(width // 8)))) for width in reversed(WIDTHS)]


def test_a_constant_of_another_type_keeps_its_meaning() -> None:
    """0.7 is a double: the product is computed in double, and vectors of float would round twice."""
    text = source("float").replace("B[i][j] / 3", "B[i][j] * 0.7")
    assert "TW_F32X4U" in planned(text, "vector j by 2 of 16 bytes", "in place")
    with pytest.raises(InputError, match="lanes cannot compute S1"):
        planned(text, "vector j by 2 of 16 bytes")


@pytest.mark.parametrize("body", ["B[i][j] += 0.1;", "B[i][j] *= d;"])
def test_a_step_in_another_type_keeps_its_meaning(body: str) -> None:
    """Both are computed in double; rounding 0.1 or d to float first gives other bits."""
    text = "void f(int n, double d, float B[n][n])\n{\n#pragma scop\n    for (int i = 0; i < n; i++)\n"
    text += f"        for (int j = 0; j < n; j++) {body}\n#pragma endscop\n}}\n"
    with pytest.raises(InputError, match="lanes cannot compute S1"):
        planned(text, "vector j by 2 of 16 bytes")


def test_what_the_next_vectors_read_again_is_kept() -> None:
    """A vector further on is the same one, a step later; those of an array that the loop writes are read each time."""
    functions = planned(source(), "jam i by 2\n  vector j by 1 of 16 bytes").split("void f")[1:]
    made = dict(zip(BODIES, functions, strict=True))
    assert {name for name, text in made.items() if "again0" in text} == {"copy", "far", "beside"}
    moves = ["again0 = again1;", "again1 = last0;", "again2 = again3;", "again3 = last1;"]
    lines = without_macros(made["far"]).splitlines()
    assert [x for line in lines if re.match("again. = ", x := line.strip())] == 3 * moves
    assert "again0" not in planned(source(), "vector j by 2 of 16 bytes")


def test_doubles_are_sums_that_are_shared() -> None:
    made = planned(source(), "vector j by 1 of 16 bytes")
    assert "TW_F64V(A[i][j]) - (TW_F64V(A[i][j + 1]) + TW_F64V(A[i][j + 1])) * c" in made


@pytest.mark.parametrize("words", [f"vector j by {x} bytes" for x in ("2 of 17", "17 of 16", "0 of 16")])
def test_odd_widths(words: str) -> None:
    with pytest.raises(InputError) as caught:
        planned(source(), words)
    assert caught.value.id == "bad-plan"
