"""Interval dynamic programming: loops run along lines where dependences allow it, exactly."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from codegen.diagnostics import Diagnostic, InputError
from codegen.options import GenOptions
from codegen.pipeline import generate

HEAD = "(int n, int b[n + 1], T A[n + 1][n + 1], T B[n + 1][n + 1])"
MAX = "A[i][j] = A[i][j] > {0} ? A[i][j] : {0};"
SPLIT = "A[i][k] + A[k + 1][j]"
OVER_K = f"for (int k = i + 1; k < j; k++) {MAX.format(SPLIT)}"
INTERVALS = "for (int i = n - 1; i >= 0; i--) for (int j = i + 1; j < n; j++)"
PAIRS = f"""{INTERVALS} {{
  {MAX.format("A[i][j - 1]")}
  {MAX.format("A[i + 1][j]")}
  if (i < j - 1) {MAX.format("A[i + 1][j - 1] + (b[i] + b[j] == 3 ? 1 : 0)")}
  {OVER_K}
}}"""
# Each is the source of a region, and whether its fold is turned.
REGIONS = {
    "pairs": (PAIRS, True),
    "fold first": (f"{INTERVALS} {{ {OVER_K} {MAX.format('A[i][j - 1]')} }}", True),
    "with if": (
        f"{INTERVALS} {{ A[i][j] = A[i + 1][j] + b[j];"
        " for (int k = i + 1; k < j; k++) if (A[i][k] + A[k + 1][j] < A[i][j]) A[i][j] = A[i][k] + A[k + 1][j]; }",
        True,
    ),
    "growing": (
        "for (int len = 1; len < n; len++) for (int i = 0; i < n - len; i++) { A[i][i + len] = 1 << 20;"
        " for (int k = i; k < i + len; k++) A[i][i + len] = A[i][i + len] < A[i][k] + A[k + 1][i + len] + b[i] * b[k]"
        " ? A[i][i + len] : A[i][k] + A[k + 1][i + len] + b[i] * b[k]; }",
        True,
    ),
    "bits": (f"{INTERVALS} for (int k = i + 1; k < j; k++) A[i][j] |= A[i][k] & A[k + 1][j];", True),
    "read later": (f"{INTERVALS} {{ {OVER_K} B[i][j] = A[i][j]; }}", True),
    # From here on the order of steps can be seen.
    "reader in between": (
        f"{INTERVALS} for (int k = i + 1; k < j; k++) {{ {MAX.format(SPLIT)} B[i][k] = A[i][j]; }}",
        False,
    ),
    "sum in between": (
        f"{INTERVALS} for (int k = i + 1; k < j; k++) {{ {MAX.format(SPLIT)} A[i][j] = A[i][j] + b[k]; }}",
        False,
    ),
    "sum after": (f"{INTERVALS} {{ {MAX.format('A[i][j - 1]')} A[i][j] = A[i][j] + b[j]; {OVER_K} }}", False),
    "other extreme": (
        f"{INTERVALS} {{ A[i][j] = A[i][j] < A[i][j - 1] ? A[i][j] : A[i][j - 1]; {OVER_K} }}",
        False,
    ),
}
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void kernel(int n, int *b, T (*A)[n + 1], T (*B)[n + 1]);
int main(void)
{
    static const int sizes[] = {0, 1, 2, 3, 4, 17, 64, 65};
    kernel *const made[] = {MADE}, *const plain[] = {PLAIN};
    for (int q = 0; q < 8 * (int)(sizeof made / sizeof *made); q++) {
        int n = sizes[q % 8];
        size_t bytes = (n + 1) * (n + 1) * sizeof(T);
        int *b = malloc((n + 1) * sizeof *b);
        T *m[4];
        for (int i = 0; i <= n; i++) b[i] = i * 7 % 4;
        for (int x = 0; x < 4; x++) m[x] = malloc(bytes);
        for (int i = 0; i < (n + 1) * (n + 1); i++)
            for (int x = 0; x < 4; x++) m[x][i] = (T)((i * 37 + x % 2) % 101 + 1);
        plain[q / 8](n, b, (void *)m[0], (void *)m[1]);
        made[q / 8](n, b, (void *)m[2], (void *)m[3]);
        for (int x = 0; x < 2; x++)
            if (memcmp(m[x], m[x + 2], bytes)) return printf("region %d, n = %d\\n", q / 8 + 1, n);
        for (int x = 0; x < 4; x++) free(m[x]);
        free(b);
    }
    return 0;
}
"""


def region(body: str, element: str, name: str = "f") -> str:
    return f"void {name}{HEAD}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n".replace("T ", f"{element} ")


def remarks(body: str, element: str) -> set[str]:
    return {d.id for d in generate("t.c", region(body, element), GenOptions()).diagnostics}


def same(bodies: list[str], element: str, options: GenOptions, folder: Path) -> tuple[Diagnostic, ...]:
    """Build and run the regions as they are and as they are generated: bit for bit the same, at odd sizes too."""
    plain = "".join(region(body, element, f"p{k}") for k, body in enumerate(bodies))
    made = generate("t.c", plain.replace("void p", "void m"), options)
    names = {w: ", ".join(f"(kernel *){w[0].lower()}{k}" for k in range(len(bodies))) for w in ("MADE", "PLAIN")}
    driver = re.sub(r"\b(MADE|PLAIN)\b", lambda m: names[m.group(1)], DRIVER)
    (folder / "t.c").write_text(f"#define T {element}\n{made.text}\n{plain.replace('#pragma', '//')}{driver}")
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-fopenmp", "-o", "t", "t.c"], cwd=folder, check=True, timeout=120)
    done = subprocess.run(["./t"], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert not done.returncode, done.stdout
    return tuple(made.diagnostics)


def test_integers_exactly_and_turned_where_their_order_is_free(tmp_path: Path) -> None:
    found = same([body for body, _ in REGIONS.values()], "int", GenOptions(), tmp_path)
    lines = [d.loc.line for d in found if d.id == "row-reductions"]
    turned, end = {}, 0
    for name, (body, _) in REGIONS.items():
        first, end = end, end + len(region(body, "int").splitlines())
        turned[name] = any(first < x <= end for x in lines)
    assert any("behind the one before it" in d.message for d in found)
    assert turned == {name: free for name, (_, free) in REGIONS.items()}


def test_floating_point_keeps_its_order_until_told(tmp_path: Path) -> None:
    assert {"reduction-order"} == remarks(PAIRS, "double") & {"reduction-order", "row-reductions"}
    free = {d.id for d in same([PAIRS], "double", GenOptions(reassociate=True), tmp_path)}
    assert "row-reductions" in free and "reduction-order" not in free


@pytest.mark.parametrize("element", ["double", "float"])
def test_floating_point_in_order_where_nothing_else_ties_a_line(element: str, tmp_path: Path) -> None:
    """All that comes ahead of the steps is there for a whole line: then k may be outside with its order kept."""
    first = f"{INTERVALS} {{ A[i][j] = A[i + 1][j] + b[j]; {OVER_K} }}"
    more = first.replace("A[k + 1][j]", "A[k + 1][j] + B[i][j]")
    chain = f"{INTERVALS} {{ A[i][j] = b[j]; for (int k = i + 1; k < j; k++) A[i][j] = A[k][j] - A[i][j] * A[i][k]; }}"
    found = same([first, more, chain], element, GenOptions(), tmp_path)
    assert [d.id for d in found if d.id in ("row-reductions", "reduction-order")] == ["row-reductions"] * 3


def test_narrow_integers_whose_sums_are_cut_off_are_not_free() -> None:
    assert "row-reductions" not in remarks(PAIRS, "short")


ARRIVING = "loop i = (-i) {{ loop k = {{ S1: j; S2: j; S3: j; S4: k }} {{ {0} }} }}"
LINES = "loop j { S4 }"


@pytest.mark.parametrize(
    ("schedule", "element", "problem"),
    [
        (ARRIVING.format(f"S1 S2 S3 {LINES}"), "int", ""),
        (ARRIVING.format(f"S1 S2 S3 {LINES}"), "double", "would run backwards"),
        (ARRIVING.format(f"{LINES} S1 S2 S3"), "int", "would run backwards"),
        ("loop i = (-i) { loop j { S1 S2 S3 } loop k { loop j { S4 } } }", "int", "would run backwards"),
        ("loop i = (-i) { loop k = { S1: j; S4: -k } { S1 loop j { S4 } } loop j { S2 S3 } }", "int", "backwards"),
        ("loop i { loop k = { S1: j; S2: j; S3: j; S4: k } { S1 S2 S3 loop j { S4 } } }", "int", "backwards"),
    ],
)  # fmt: skip
def test_orders_that_readers_would_see_are_refused(schedule: str, element: str, problem: str) -> None:
    options = GenOptions(plan_text=f"region 1\n  schedule {{ {schedule} }}\n", plan_name="p")
    if not problem:
        assert generate("t.c", region(PAIRS, element), options).text
        return
    with pytest.raises(InputError, match=problem):
        generate("t.c", region(PAIRS, element), options)
