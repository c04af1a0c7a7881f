"""New loops get names of their own, whatever the source calls its iterators: a reference in a plan means one loop."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate

SWEEPS = """\
void f(int T, int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int t = 0; t < T; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                B[i][j] = 0.2 * (A[i][j] + A[i - 1][j] + A[i + 1][j]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1]);
    }
#pragma endscop
}
"""
LONGEST = """\
void f(int n, int A[n][n], int x[n], int y[n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            A[i][j] = x[i] == y[j] ? A[i - 1][j - 1] + 1 : A[i - 1][j] > A[i][j - 1] ? A[i - 1][j] : A[i][j - 1];
#pragma endscop
}
"""
CORNERS = """\
void g(int ns, int n, int m, double *xv, const double *sx, const int *geo)
{
#pragma scop
    for (int s = 0; s < ns; s++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < m; j++)
                if (geo[s] == 1)
                    for (int kt = k; kt <= k + 1; kt++)
                        for (int jt = j; jt <= j + 1; jt++)
                            xv[(m + 1) * kt + jt] = sx[s];
#pragma endscop
}
"""


def renamed(source: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\b[a-z]+\b", lambda m: names.get(m[0], m[0]), source)


def directives(made: Generated) -> list[str]:
    """The first words of the plan's lines."""
    return [line.split()[0] for line in made.plan.splitlines() if line.strip()]


@pytest.mark.parametrize(
    "names",
    [
        {"t": "j", "i": "jt", "j": "jtt"},
        {"t": "jtt", "i": "jt", "j": "j"},
        {"t": "it", "i": "i", "j": "im"},
        {"t": "itm", "i": "it", "j": "i"},
    ],
    ids=lambda names: "-".join(names.values()),
)
@pytest.mark.parametrize("source", [SWEEPS, LONGEST], ids=["sweeps", "longest"])
def test_plans_do_not_depend_on_names(source: str, names: Mapping[str, str]) -> None:
    """Tiles of `j` would be called `jt`, which is a loop of the source here."""
    usual = directives(generate("x.c", source, GenOptions()))
    assert {"tile", "pipeline"} <= set(usual)
    assert directives(generate("x.c", renamed(source, names), GenOptions())) == usual


@pytest.mark.parametrize("names", [{}, {"kt": "a", "jt": "b"}, {"kt": "jt", "jt": "kt"}, {"j": "jt", "jt": "j"}])
def test_tiles_around_a_loop_of_their_name(names: Mapping[str, str]) -> None:
    """Scalar replacement asked for the strides of a statement outside the loop that it took for its own."""
    made = generate("x.c", renamed(CORNERS, names), GenOptions())
    assert made.regions[0].transformed and not [d for d in made.diagnostics if d.id == "region-refused"]


def test_a_plan_with_a_loop_inside_one_of_its_name() -> None:
    plan = "region 1\n  schedule {\n    loop i = (i) {\n      loop i = (j) {\n        S1\n      }\n    }\n  }\n"
    with pytest.raises(InputError, match="loop i is inside a loop of that name") as error:
        generate("x.c", LONGEST, GenOptions(plan_text=plan))
    assert (error.value.id, error.value.loc.line) == ("bad-plan", 4)
