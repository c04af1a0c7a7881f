"""Directives that the code cannot carry out are told, and the summary says what was done."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codegen.diagnostics import InputError
from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from codegen.source.write import read_source
from tests.corpus import KERNELS

SUM = """\
void f(int n, double x[n], double y[n], double s[1])
{
#pragma scop
    for (int i = 0; i < n; i++)
        s[0] += x[i] * y[i];
#pragma endscop
}
"""
SCALE = """\
void f(int n, double A[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            A[i][j] *= 2.0;
#pragma endscop
}
"""


def planned(plan: str, **options: object) -> GenOptions:
    return replace(GenOptions(), plan_text=f"region 1\n  {plan}\n", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "plan, line, words",
    [
        ("jam i by 4", 2, "the loop inside begins or ends elsewhere"),
        ("parallel i\n  vector j by 2 of 8 bytes", 3, "a vector holds less than two"),
    ],
)
def test_a_users_plan_is_carried_out_or_refused(plan: str, line: int, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        generate("in.c", SCALE, planned(plan))
    assert caught.value.id == "illegal-plan" and caught.value.loc.line == line


def test_the_tools_own_plan_says_what_was_done() -> None:
    """Zeros in a row: compilers write them as well as anybody. The plan that is printed can be given back."""
    path = KERNELS / "fixed-globals.c"
    options = replace(GenOptions(), machine="neoverse-n1", cpp=CppOptions(args=(f"-I{path.parent}",)))
    text = read_source(str(path))
    made = generate(path.name, text, options)
    assert "  vector S1.i\n" in made.plan
    assert any(d.id == "not-vector" and "stores one value in all lanes" in d.message for d in made.diagnostics)
    again = generate(path.name, text, replace(options, plan_text=made.plan))
    assert again.plan.split("\n", 1)[1] == made.plan.split("\n", 1)[1]


def test_the_summary_says_what_was_done() -> None:
    """Plain C has no threads; and nothing tells a compiler of sums in an element of an array."""
    both = generate("in.c", SCALE, planned("parallel i\n  vector j"))
    assert "region 1 of f: threads over i; vectors along j */" in both.text
    alone = generate("in.c", SCALE, planned("parallel i\n  vector j", target="c"))
    assert "region 1 of f: vectors along j */" in alone.text
    lanes = generate("in.c", SUM, planned("vector i by 2 of 16 bytes", reassociate=True))
    assert "region 1 of f: vectors along i */" in lanes.text
