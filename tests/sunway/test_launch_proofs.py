"""What every core runs of a launch is proven from its text: calls, barriers, and what the first core runs alone."""

from __future__ import annotations

from functools import cache

import pytest

from codegen.cli.main import main
from tests.sunway.kernels import PrintedEntry, launched, tiled
from tests.sunway.test_kernel_proofs import damaged

ROUNDS = """void f(int n, int t, double x[n], double y[n], double A[n][n], double s[1]) {
#pragma scop
for (int k = 0; k < t; k++) {
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i] += A[i][j] * y[j];
  s[0] = x[0] + s[0];
  for (int i = 0; i < n; i++) y[i] = y[i] + s[0] * x[i];
}
#pragma endscop
}
"""


FACTORS = """void f(int n, double A[n][n]) {
#pragma scop
for (int k = 0; k < n; k++) {
  for (int i = k + 1; i < n; i++) A[i][k] /= A[k][k];
  for (int i = k + 1; i < n; i++) for (int j = k + 1; j < n; j++) A[i][j] -= A[i][k] * A[k][j];
}
#pragma endscop
}
"""


ONE_BY_ONE = """void f(int n, double x[n], double y[n], double A[n][n]) {
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i] += A[i][j] * y[j];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] += A[j][i] * x[j];
#pragma endscop
}
"""


SUMS = """void f(int n, int m, double y[n], double A[m][n], double z[n]) {
#pragma scop
for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) y[j] += A[i][j];
for (int i = 0; i < n; i++) y[n - 1 - i] += z[i];
#pragma endscop
}
"""


SOURCES = {"rounds": ROUNDS, "factors": FACTORS, "one by one": ONE_BY_ONE}


@cache
def printed(name: str) -> PrintedEntry:
    with tiled(16, 192, 8):
        (entry,) = launched(SOURCES[name])[1]
    return entry


@pytest.mark.parametrize("name", SOURCES)
def test_launches_are_proven(name: str) -> None:
    found = printed(name)
    assert found.wrong(found.text) == ""


BARRIER = "tw_barrier();"
# What is damaged: the launch, the text, what stands there instead, and which of several places (-1: all).
CHANGES = {
    "no barrier between kernels": ("one by one", BARRIER, "", 0),
    "no barrier before another round": ("rounds", BARRIER, "", 0),
    "no barrier behind what one core does": (
        "rounds",
        f"{BARRIER}\n  f_r1_k0(args, id);\n  {BARRIER}",
        "f_r1_k0(args, id);",
        0,
    ),
    "no barrier before what one core does": ("rounds", BARRIER, "", 3),
    "a kernel is left out": ("one by one", "f_r1_k1(args, id);", "", 0),
    "a kernel comes twice": ("one by one", "f_r1_k1(args, id);", "f_r1_k1(args, id);\nf_r1_k1(args, id);", 0),
    "kernels come in another order": ("one by one", "f_r1_k0(args, id);", "f_r1_k1(args, id);", 0),
    "all cores are the first": ("one by one", "f_r1_k0(args, id);", "f_r1_k0(args, 0);", 0),
    "all cores run what one should": ("rounds", "if (id == 0)\n", "if (id >= 0)\n", 0),
    "another core": ("rounds", "if (id == 0)\n", "if (id == 64)\n", 0),
    "one core runs something else": ("rounds", "s[0] += x[0];", "s[0] += x[1];", 0),
    "one core runs too little": ("rounds", "i < tw_min(16, n)", "i < tw_min(15, n)", 0),
    "a round too few": ("rounds", "k < t;", "k < t - 1;", 0),
    "rounds begin late": ("rounds", "long k = 0;", "long k = 1;", 0),
    "every other round": ("rounds", "k++)", "k += 2)", 0),
    "a number of its own": ("rounds", "athread_get_id(-1)", "athread_get_id(0)", 0),
    "another size": ("rounds", "const int n = args->n;", "const int n = args->t;", 0),
    "a kernel for another step": ("factors", "f_r1_k0(args, id, k);", "f_r1_k0(args, id, k + 1);", 0),
    "a kernel for the first step": ("factors", "f_r1_k0(args, id, k);", "f_r1_k0(args, id, 0);", 0),
}


@pytest.mark.parametrize("what", CHANGES)
def test_damage_is_found(what: str) -> None:
    name, old, new, which = CHANGES[what]
    found = printed(name)
    assert found.wrong(damaged(found.text, old, new, which)) != ""


def test_cores_wait_between_sums_whose_order_is_free(tmp_path, capsys) -> None:
    """They may come in any order, but not at once."""
    (entry,) = launched(SUMS, reassociate=True)[1]
    assert entry.text.count(BARRIER) > 0 and entry.wrong(entry.text) == ""
    assert entry.wrong(entry.text.replace(BARRIER, "")).endswith("which both use `y`")
    source = tmp_path / "f.c"
    source.write_text(SUMS)
    assert main(["check", "--target", "sunway", "--reassociate", str(source)]) == 0


def test_boxes_inside_loops_that_others_are_not_in() -> None:
    """A box counts as written by the statements that use it, not by those that stand beside its loops."""
    product = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
    source = "void f(int n, double A[n][n], double B[n][n], double C[n][n]) {\n#pragma scop\n"
    source += f"{product} C[i][j] += A[i][k] * B[k][j];\n#pragma endscop\n}}\n"
    plan = "region 1\n  tile i:16\n  parallel it\n  unroll k by 4\n"
    (entry,) = launched(source, plan_text=plan)[1]
    assert entry.wrong(entry.text) == ""


SYSTEMS = """void f(int n, int m, const double a[n][m], const double b[n][m], double c[n][m], double d[n][m]) {
  double q;
#pragma scop
for (int s = 0; s < m; s++) {
  for (int i = 1; i < n; i++) {
    q = 1 / (b[i][s] - a[i][s] * c[i - 1][s]);
    c[i][s] *= q;
    d[i][s] = (d[i][s] - a[i][s] * d[i - 1][s]) * q;
  }
  for (int i = n - 2; i >= 0; i--)
    d[i][s] -= c[i][s] * d[i + 1][s];
}
#pragma endscop
}
"""


def test_rows_that_come_back_as_they_were_stay_with_their_core() -> None:
    """A box holds the row before it, too, which is brought back; both kernels use a column on one core."""
    (entry,) = launched(SYSTEMS)[1]
    assert entry.text.count("_k") == 2 and "barrier" not in entry.text and entry.wrong(entry.text) == ""


def test_rows_that_another_core_uses_are_waited_for() -> None:
    apart = SYSTEMS.replace("  for (int i = n - 2", "}\nfor (int s = 0; s < m; s++) {\n  for (int i = n - 2")
    crossed = apart.replace("-= c[i][s] *", "-= c[i][m - 1 - s] *")
    assert SYSTEMS != apart != crossed
    (entry,) = launched(crossed)[1]
    line = next(x for x in entry.text.split("\n") if "barrier" in x)
    assert entry.wrong(entry.text) == "" and "do not wait" in entry.wrong(entry.text.replace(line, "", 1))
