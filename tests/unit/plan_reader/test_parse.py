"""Plans that say something wrong: each is refused where it says so, with a word on what to do, and none is obeyed."""

from __future__ import annotations

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.plan_reader.parse import parse, planned_regions
from codegen.region import ProvenRegion, _by_user_plan
from codegen.region_model import Modelled, model_region
from codegen.source_file import open_source

PRODUCT = """\
void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
SCALED = """\
void f(int n, double A[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = 2.0 * A[i][j];
#pragma endscop
}
"""


def model_of(text: str) -> Modelled:
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model


@pytest.fixture(scope="module")
def product() -> Modelled:
    return model_of(PRODUCT)


def obey(model: Modelled, text: str) -> ProvenRegion:
    planned_regions(text, "x.plan")
    return _by_user_plan(model, parse(text, "x.plan", {1: model.program.scop})[0])


MULTIPLY = "schedule { loop i, k, j { S1 } }\nproduct S1 rows i columns j depth k isa generic bits 128"
BLOCKED, NESTED = f"{MULTIPLY} tile 4 by 3 vectors,", f"{MULTIPLY} nest"
HUGE = "99999999999999999999"
# plan, the place of the message, part of it
WRONG = [
    # words of plans of before
    ("carry  k", "2:1", "is called `scalar_replace` now"),
    ("abreast  j", "2:1", "is called `interleave` now"),
    ("plain  i as k", "2:1", "is called `unskew` now"),
    ("keep  c[i: n][k: n] = A[i][k] for S1", "2:1", "is called `copy` now"),
    ("block kb = {S1: k} by 4 apart  {S1: i}", "2:25", "is called `split` now"),
    # copies that take each other's place, or do not fit
    ("copy c[i: n] = A[i][k] for S1", "2:1", "take the place"),
    ("copy c[j: n] = B[k][j] for S1", "2:1", "take the place"),
    ("copy c[0: 1] = B[k][j] for S1", "2:1", "take the place"),
    ("copy c[i: n - 1][k: n] = A[i][k] for S1", "2:1", "do not fit"),
    ("copy c[i - 1: n][k: n] = A[i][k] for S1", "2:1", "do not fit"),
    ("copy c[i: max(n, 5)][k: n] = A[i][k] for S1", "2:1", "not an affine size"),
    ("copy c[i: 2*floor(n/2) + 1][k: n] = A[i][k] for S1", "2:1", "not an affine size"),
    ("copy c[i: n/1 + n/2][k: n] = A[i][k] for S1", "2:1", "not an affine size"),
    ("copy c[i: 9999999999n][k: 9999999999n] = A[i][k] for S1", "2:1", "not an affine size"),
    ("copy c[k/2: n] = A[i][k] for S1", "2:1", "not an affine value"),
    ("copy c[min(i, k): n] = A[i][k] for S1", "2:1", "not an affine value"),
    ("copy c = A[i][k] for S1", "2:1", "no index"),
    ("copy c[i: n][k: n] = A[k][i] for S1", "2:1", "does not read"),
    ("copy c[i: n][k: n] = A[i][k] for S1, S1", "2:1", "pieces of one statement"),
    ("copy c[i: n][k: n] = A[i][k] for S9", "2:1", "pieces of one statement"),
    *((f"copy {name}[i: n][k: n] = A[i][k] for S1", "2:1", f"cannot be copied to `{name}`")
      for name in ("A", "n", "i", "int", "sizeof", "tw_memory", "TW_SIZE", "__x")),
    # blocks
    ("block n = {S1: k} by 4", "2:1", "counted by `n`"),
    ("block i = {S1: k} by 4", "2:1", "counted by `i`"),
    ("block kb = {S1: k; S1: j} by 4", "2:24", "listed twice"),
    ("block kb = {S1: k} by 4 split {S1: i; S1: j}", "2:44", "listed twice"),
    ("block kb = {S1: max(k, n)} by 4", "2:1", "not an affine value"),
    ("block kb = {S1: k/2} by 4", "2:1", "not an affine value"),
    ("block kb = {S1: 9999999999k} by 4", "2:1", "beyond 64 bits"),
    ("block kb = {S1: k} by 0", "2:1", "at least one"),
    # too late: they give statements other names and other data
    ("parallel i\nblock kb = {S1: k} by 4", "3:1", "too late"),
    ("tile i:4\ncopy c[i: n][k: n] = A[i][k] for S1", "3:1", "too late"),
    # orders
    ("schedule { loop i, j { S1 } }", "2:1", "backwards"),
    ("schedule { loop i, j, k = (min(k, 5)) { S1 } }", "2:23", "not an affine value"),
    ("schedule { loop i, j, k = (k/2) { S1 } }", "2:23", "not an affine value"),
    ("schedule { loop i = {S1: i; S7: k}, j, k { S1 } }", "2:17", "not in loop i"),
    ("schedule { loop i = {S1: i; S1: k}, j, k { S1 } }", "2:33", "listed twice"),
    ("schedule { loop i, j, k { S1 } S1 }", "2:1", "lists S1, S1"),
    ("schedule { " + "".join(f"loop i{n} {{ " for n in range(5000)) + "S1" + " }" * 5001, "2:", "inside each other"),
    ("schedule { loop i = (" + "(" * 5000 + "i" + ")" * 5000 + "), j, k { S1 } }", "2:", "no formula"),
    # sizes
    (f"tile i:{HUGE}", "2:8", "too large"),
    ("tile i:" + "9" * 5000, "2:8", "too large"),
    ("tile i:-3", "2:8", "negative"),
    ("tile i:²", "2:8", "expected a number"),
    ("tile i:4, i:4", "2:1", "twice"),
    (f"skew j by {HUGE}*i", "2:11", "too large"),
    ("skew j by 2000000000*i\nskew k by 2000000000*j", "3:1", "beyond 64 bits"),
    (f"unroll i by {HUGE}", "2:13", "too large"),
    ("expand C over i limit 99999999999999", "2:23", "too large"),
    (f"block kb = {{S1: k}} by {HUGE}", "2:23", "too large"),
    (f"{BLOCKED} block 2147483648 by 2147483648 by 2147483648, direct 0 threads 0", "3:1", "more than"),
    (f"{BLOCKED} block 0 by 1 by 1, direct 0 threads 0", "3:1", "make no blocks"),
    (f"{NESTED} i:2147483648, j:8, k:8", "3:65", "too large"),
    ("tile é:4", "2:6", "expected a loop"),
    ("tile", "3:1", "the plan ends"),
    ("order i, i", "2:1", "twice"),
]


@pytest.mark.parametrize(("plan", "where", "part"), WRONG, ids=lambda x: x[:40])
def test_refused_where_it_is_wrong(product: Modelled, plan: str, where: str, part: str) -> None:
    with pytest.raises(InputError) as caught:
        obey(product, f"region 1\n{plan}\n")
    assert part in caught.value.message
    assert str(caught.value.loc).startswith(f"x.plan:{where}")
    assert caught.value.id in ("bad-plan", "illegal-plan") and len(caught.value.message) < 300


def test_a_schedule_must_tell_iterations_apart() -> None:
    """No dependence forbids to run them in any order, but no loop would run them."""
    with pytest.raises(InputError, match="several iterations of S1"):
        obey(model_of(SCALED), "region 1\nschedule { loop i { S1 } }\n")


CELLS = ("[i: n][k: n]", "[k: n]", "[k: n + 7]", "[k + 1: 1 + n]", "[i + k: 2*n]", "[i: n][n - 1 - k: n]")


@pytest.mark.parametrize("cells", CELLS)
def test_copies_with_a_cell_while_they_are_read(product: Modelled, cells: str) -> None:
    """A row of A is read for all j before the next one comes: it may take the same cells."""
    assert obey(product, f"region 1\ncopy c{cells} = A[i][k] for S1\n").program.scop.buffers
