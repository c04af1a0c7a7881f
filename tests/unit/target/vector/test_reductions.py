"""Sums and extremes gathered in vectors, and vectors along a loop around others: form, text, and results."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.compilers import quick
from tests.unit.target.vector.plans import plan_for

# Regions in x, y, z and A, the plan for each, and whether it is written as vectors.
GATHER = {
    "dot": ("for (int i = 0; i < n; i++) y[0] += x[i] * A[0][i];", True),
    "backwards": ("for (int i = 0; i < n; i++) y[0] -= x[n - 1 - i] * A[0][i];", True),
    "product": ("for (int i = 1; i < n; i++) y[0] = y[0] * (A[0][i] / A[0][i - 1]);", True),
    "several": ("for (int i = 0; i < n; i++) { y[0] += x[i]; z[0] = x[i] > z[0] ? x[i] : z[0]; }", True),
    "least": ("for (int i = 0; i < n; i++) y[0] = y[0] <= x[i] ? y[0] : x[i];", True),
    "and stored": ("for (int i = 0; i < n; i++) { z[i] = x[i] + 1; y[0] += z[i]; }", True),
    "counted": ("for (int i = 0; i < n; i++) y[0] += 1;", True),
    "some": ("for (int i = 0; i < n; i++) y[0] += x[i] > 2 ? x[i] : 0;", True),
    "strided": ("for (int i = 0; 2 * i < n; i++) y[0] += x[2 * i];", True),
    "numbered": ("for (int i = 0; i < n; i++) y[0] += x[i] * i;", False),
    "only some": ("for (int i = 0; i < n; i++) if (x[i] > 2) y[0] += x[i];", False),
}
OUTER = {
    "lags": (
        "for (int i = 0; i < n; i++) { y[i] = 0; for (int k = 0; k < n - i; k++) y[i] += x[k] * x[i + k]; }",
        True,
    ),
    "horner": ("for (int i = 0; i < n; i++) for (int k = n - 1; k >= 0; k--) y[i] = y[i] * z[i] + x[k];", True),
    "from the diagonal": ("for (int i = 0; i < n; i++) for (int k = i; k < n; k++) y[i] -= x[k] * z[k - i];", True),
    "a band": (
        "for (int i = 0; i < n; i++)"
        " for (int k = i > 5 ? i - 5 : 0; k < (i + 5 < n ? i + 5 : n); k++) y[i] = (y[i] + x[k]) / 2;",
        True,
    ),
    "columns": ("for (int i = 0; i < n; i++) for (int k = 1; k < n; k++) A[k][i] = A[k - 1][i] / 2 + A[k][i];", True),
    "two deep": (
        "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) for (int l = 0; l <= k; l++) y[i] += x[l] * z[i];",
        True,
    ),
    "two loops": (
        "for (int i = 0; i < n; i++) {"
        " for (int k = 0; k <= i; k++) y[i] += x[k]; for (int k = i; k < n; k++) y[i] -= z[k]; y[i] = -y[i]; }",
        True,
    ),
    "a triangle again and again": (
        "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) {"
        " y[i] = y[i] / 2; for (int l = 0; l < i; l++) y[i] += x[l]; }",
        True,
    ),
    "largest": ("for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) y[i] = y[i] > x[k] ? y[i] : x[k];", True),
    "rows": ("for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) y[i] += A[i][k];", True),
    "every second column": ("for (int i = 0; i < n; i++) for (int k = 0; k < n / 2; k++) y[i] += A[i][2 * k];", True),
    "every second": ("for (int i = 0; i < n; i++) for (int k = i; k < n; k += 2) y[i] += x[k];", False),
}

# Loops that go over the same lines again and again, with the tool's own plan.
AGAIN = {
    "backwards and copied": (
        "for (int k = 0; k < n; k++) {"
        " for (int i = 0; i < k; i++) z[i] = y[i] + x[k] * y[k - i - 1]; for (int i = 0; i < k; i++) y[i] = z[i]; }",
        True,
    ),
    "in place": (
        "for (int k = 0; k < n; k++) { y[0] = y[n - 1] / 3; for (int i = 1; i < n; i++) y[i] = y[i] * y[0] - x[i]; }",
        True,
    ),
    "down the rows": ("for (int k = 1; k < n; k++) for (int i = 0; i < n; i++) A[k][i] -= A[k - 1][i] * x[k];", False),
}


def source(bodies: dict[str, tuple[str, bool]], real: str) -> str:
    parts = [
        f"void f{k}(int n, REAL x[n], REAL y[n], REAL z[n], REAL A[n][n])\n{{\n"
        f"#pragma scop\n    {body}\n#pragma endscop\n}}\n"
        for k, (body, _) in enumerate(bodies.values())
    ]
    return "".join(parts).replace("REAL", real)


def planned(
    text: str, directives: str, reassociate: bool = False, bodies: dict[str, tuple[str, bool]] | None = None
) -> str:
    flags = [x for _, x in bodies.values()] if bodies else [True] * text.count("#pragma scop")
    plan = plan_for(flags, directives, "" if reassociate else None)
    return generate("in.c", text, replace(GenOptions(), plan_text=plan, reassociate=reassociate)).text


DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void kernel(int n, REAL *x, REAL *y, REAL *z, REAL (*A)[n]);
int main(void)
{
    static const int sizes[] = {0, 1, 2, 3, 4, 5, 7, 9, 16, 19, 37, 64};
    kernel *const old[] = {OLD}, *const made[] = {NEW};
    for (int f = 0; f < (int)(sizeof old / sizeof *old); f++)
        for (int k = FIRST; k < 12; k++) {
            const size_t n = sizes[k], count[] = {n, n, n, n * n};
            REAL *m[8];
            for (int q = 0; q < 8; q++) {
                m[q] = malloc(count[q % 4] * sizeof(REAL) + 1);
                for (size_t i = 0; i < count[q % 4]; i++) m[q][i] = DATA;
            }
            old[f](n, m[0], m[1], m[2], (void *)m[3]);
            made[f](n, m[4], m[5], m[6], (void *)m[7]);
            for (int q = 0; q < 4; q++)
                if (memcmp(m[q], m[q + 4], count[q] * sizeof(REAL))) return printf("f%d, n = %d\\n", f, (int)n);
            for (int q = 0; q < 8; q++) free(m[q]);
        }
    return 0;
}
"""
# Small integers and powers of two: every order of sums and of products gives the same bits.
EXACT = "(REAL)(q % 4 == 3 ? 1u << i % 2 : (i * 7 + q % 4) % 13)"
ROUGH = "(REAL)(1 + (i * 7 + q % 4) % 13) / 3"


def run(bodies: dict[str, tuple[str, bool]], real: str, made: str, data: str, first: int, folder: Path) -> None:
    written = {
        name: any(x in part for x in ("tw_f32x", "tw_f64x", "tw_f32v", "tw_f64v"))
        for name, part in zip(bodies, made.lower().split("void f")[1:], strict=True)
    }
    assert written == {name: vectors for name, (_, vectors) in bodies.items()}
    names = {side: ", ".join(f"{side}_f{k}" for k in range(len(bodies))) for side in ("old", "new")}
    driver = DRIVER.replace("OLD", names["old"]).replace("NEW", names["new"]).replace("DATA", data)
    driver = driver.replace("REAL", real).replace("FIRST", str(first))
    text = source(bodies, real).replace("void f", "void old_f") + made.replace("void f", "void new_f") + driver
    (folder / "t.c").write_text(text)
    flags = ["-O1", "-fopenmp", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    checks = ["-Wno-unknown-pragmas", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *quick("cc")]
    subprocess.run(["cc", *flags, *checks, "-o", folder / "t", folder / "t.c", "-lm"], check=True)
    ran = subprocess.run([folder / "t"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def at_width(made: str, width: int) -> str:
    """The text where vectors that leave their width open have so many bytes, whatever this machine has."""
    return re.sub(r"(#define TW_VECTOR_BYTES) \d+", rf"\1 {width}", made)


@pytest.mark.parametrize(
    "real, words, width",
    [("double", "3 of 16", 64), ("float", "4 of 16", 16), ("double", "2 of 16", 32), ("float", "1 of 32", 16)],
)
def test_gathered(real: str, words: str, width: int, tmp_path: Path) -> None:
    made = at_width(planned(source(GATHER, real), f"vector i by {words} bytes", True, GATHER), width)
    assert ("tw_lane" in made) == ("of 16" in words)
    run(GATHER, real, made, EXACT.replace("REAL", real), 1, tmp_path)


@pytest.mark.parametrize(
    "real, words, width",
    [("double", "3 of 16", 16), ("double", "3 of 16", 32), ("float", "2 of 16", 64), ("double", "1 of 64", 16)],
)
def test_around_loops_keeps_every_bit(real: str, words: str, width: int, tmp_path: Path) -> None:
    made = at_width(planned(source(OUTER, real), f"vector i by {words} bytes", bodies=OUTER), width)
    assert ("TW_VECTOR_BYTES" in made) == ("of 16" in words)
    run(OUTER, real, made, ROUGH.replace("REAL", real), 0, tmp_path)


@pytest.mark.parametrize("real", ["double", "float"])
def test_again_and_again_keeps_every_bit(real: str, tmp_path: Path) -> None:
    made = generate("in.c", source(AGAIN, real), GenOptions()).text
    run(AGAIN, real, made, ROUGH.replace("REAL", real), 0, tmp_path)


def test_sums_of_the_same_values_stay_together() -> None:
    text = "void f(int n, double x[n], double y[n], double out[3])\n{\n    double a = 0, b = 0;\n#pragma scop\n"
    text += "    for (int i = 0; i < n; i++) { a += x[i] * y[i]; b += x[i] * x[i]; }\n    out[0] = a + b;\n"
    made = generate("in.c", text + "#pragma endscop\n}\n", replace(GenOptions(), reassociate=True)).text
    assert "reduction(+:a) reduction(+:b)" in made and made.count("it += 4096") == 2  # for threads, and without


def test_what_stays_is_kept_in_registers() -> None:
    made = planned(source({"lags": OUTER["lags"]}, "double"), "vector i by 1 of 16 bytes")
    assert "v0 = v0 + (x[k] * TW_F64X2U(x[i + k]));" in made
    assert made.count("TW_F64X2U(y[i]) = v0;") == 1


TAPS = """void f(int n, int m, int l, double y[n], double x[n + l], double w[m][l])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int p = 0; p < m; p++)
      for (int q = 0; q < END; q++)
        y[i] += x[i + q] * w[p][q];
#pragma endscop
}
"""


@pytest.mark.parametrize("end, test", [("l", "if (0 < m && 0 < l) {"), ("3", "if (0 < m) {"), ("l - p", "")])
def test_elements_that_no_loop_comes_to_are_left_alone(end: str, test: str, tmp_path: Path) -> None:
    """The loops inside may not run, and the elements not be there. Where that is known ahead they stay in registers."""
    made = planned(TAPS.replace("END", end), "vector i by 1 of 16 bytes")
    kept = made.split("for (tw_index p = 0")[0].rstrip().endswith("tw_f64v v0 = TW_F64V(y[i]);")
    assert kept == bool(test) and test in made
    calls = [f"f({sizes}, 0, 0, 0);" for sizes in ("40, 0, 5", "0, 3, 5", *(["40, 3, 0"] if end != "3" else []))]
    (tmp_path / "t.c").write_text(f"{made}int main(void) {{ {' '.join(calls)} return 0; }}\n")
    subprocess.run(["cc", "-O1", "-fopenmp", "-w", "-o", tmp_path / "t", tmp_path / "t.c"], check=True)
    assert subprocess.run([tmp_path / "t"]).returncode == 0


def test_short_loops_take_fewer_vectors_where_these_are_long() -> None:
    """Sixteen iterations are eight vectors of two, four of four, or two of eight."""
    text = TAPS.replace("i < n", "i < 16").replace("END", "l").replace("x[n + l]", "x[16 + l]").replace("y[n]", "y[16]")
    made = planned(text, "vector i by 8 of 16 bytes")
    assert re.findall(r"/\* (\w+) vectors? at a time", made) == ["8", "4", "2"]
    assert "TW_F64X2U" in planned(text.replace("16", "12"), "vector i by 2 of 16 bytes")  # long ones would leave four


def test_order_is_kept_without_leave() -> None:
    with pytest.raises(InputError, match="carried by loop `i`"):
        planned(source({"dot": GATHER["dot"]}, "double"), "vector i by 2 of 16 bytes")


def test_compilers_cannot_be_told_of_elements() -> None:
    """Where a loop gathers in an element of an array and has no form as vectors, there is no pragma to say so."""
    with pytest.raises(InputError, match="what it gathers has no form in vectors"):
        planned(source({"numbered": GATHER["numbered"]}, "double"), "vector i by 2 of 16 bytes", reassociate=True)


def test_the_tool_finds_them() -> None:
    dot = "double f(int n, double x[n])\n{\n    double s = 0;\n#pragma scop\n"
    dot += "    for (int i = 0; i < n; i++) s += x[i] * x[i];\n#pragma endscop\n    return s;\n}\n"
    free = generate("in.c", dot, replace(GenOptions(), reassociate=True)).text
    assert "w3 = w3 + (TW_F64V(x[i + 3 * TW_F64_LANES])" in free
    assert "TW_F64V" not in generate("in.c", dot, GenOptions()).text
    made = generate("in.c", source({"lags": OUTER["lags"]}, "double"), GenOptions()).text
    assert "v1 = v1 + (x[k] * TW_F64X2U(x[i + k + 2]));" in made
    whole = generate("in.c", source({"lags": OUTER["lags"]}, "int"), GenOptions()).text
    assert "v1 = v1 + (x[k] * TW_INT32X4U(x[i + k + 4]));" in whole
    assert "TW_INT64X2U" not in generate("in.c", source({"lags": OUTER["lags"]}, "long"), GenOptions()).text
