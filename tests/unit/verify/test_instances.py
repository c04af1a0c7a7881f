"""What runs, found by formulas for tiles, is what a projection finds, and takes little work for tiles of any size."""

from __future__ import annotations

import islpy as isl
import pytest

from codegen.options import GenOptions
from codegen.plan_reader.parse import parse
from codegen.region import finish
from codegen.region_model import model_region
from codegen.scop.effort import at_most
from codegen.source_file import open_source
from codegen.transform.apply import apply_plan
from codegen.verify.evidence import collect
from codegen.verify.instances import executed
from codegen.verify.proofs import not_exactly_once

ONE = "[n] -> { [i0, i1] : (i0) mod 12 = 0 and i0 >= 0 and i0 <= i1 <= i0 + 11 and i1 < n }"
SKEWED = """[n, a] -> { [i0, i1, i2, i3] : (a + i0) mod 12 = 0 and (2a + i1) mod 36 = 0 and 0 <= a < 12 and
    i0 <= i2 <= i0 + 11 and i2 >= 0 and i2 < n and i1 <= i3 + 2i2 <= i1 + 35 and 2 <= i3 < n }"""
NESTED = """[n] -> { [i0, i1, i2] : i0 mod 36 = 0 and i1 mod 12 = 0 and i0 <= i1 <= i0 + 35 and i1 <= i2 <= i1 + 11 and
    0 <= i2 < n }"""
OVERLAPPING = ONE.replace("+ 11", "+ 14")
WITH_GAPS = ONE.replace("+ 11", "+ 9")
TWO = f"{ONE[:-2]} ; [i0, i1] : (i0) mod 12 = 0 and i0 <= i1 <= i0 + 11 and n <= i1 < 2n }}"


@pytest.mark.parametrize(
    ("domain", "runs", "by_formula"),
    [
        (ONE, "[n] -> { [i0, i1] -> S[i1] }", True),
        (ONE, "[n] -> { [i0, i1] -> S[i1 + i0] }", True),
        (ONE, "[n] -> { [i0, i1] -> S[i0] }", True),
        (ONE, "[n] -> { [i0, i1] -> S[floor(i1 / 2)] }", True),
        (TWO, "[n] -> { [i0, i1] -> S[i1] }", True),
        (SKEWED, "[n, a] -> { [i0, i1, i2, i3] -> S[i2, i3] }", True),
        (NESTED, "[n] -> { [i0, i1, i2] -> S[i2] }", True),
        (WITH_GAPS, "[n] -> { [i0, i1] -> S[i1] }", True),
        (OVERLAPPING, "[n] -> { [i0, i1] -> S[i1] }", False),
        ("[n] -> { [i0] : i0 mod 3 = 0 and 0 <= i0 < n }", "[n] -> { [i0] -> S[i0] }", False),
        ("[n] -> { [i0, i1] : 0 <= i0 <= i1 < n }", "[n] -> { [i0, i1] -> S[i0, i1] }", False),
        ("[n] -> { [i0, i1] : 0 <= i0 <= i1 < n }", "[n] -> { [i0, i1] -> S[i1] }", False),
    ],
)
def test_the_same_as_a_projection(domain: str, runs: str, by_formula: bool) -> None:
    where, values = isl.Set(domain), isl.MultiPwAff(runs)
    found = executed(where, values)
    assert (found is not None) == by_formula
    if found is not None:
        does = isl.Map.from_multi_pw_aff(values).intersect_domain(where)
        assert found.instances.is_equal(does.range())
        assert found.once == does.is_injective()


def test_two_places_that_run_the_same() -> None:
    a = executed(isl.Set(ONE), isl.MultiPwAff("[n] -> { [i0, i1] -> S[i1] }"))
    b = executed(isl.Set(ONE), isl.MultiPwAff("[n] -> { [i0, i1] -> S[i1 + n] }"))
    assert a is not None and b is not None and a.once and b.once
    assert a.union(b).once and not a.union(a).once


SWEEPS = """\
void f(int T, int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int t = 0; t < T; t++) {
        for (int i = 2; i < n - 1; i++)
            for (int j = 2; j < n - 1; j++)
                B[i][j] = 0.2 * A[i][j] + A[i - 1][j - 1] + A[i + 1][j - 1];
        for (int i = 2; i < n - 1; i++)
            for (int j = 2; j < n - 1; j++)
                A[i][j] = 0.2 * B[i][j] + B[i - 1][j - 1] + B[i + 1][j - 1];
    }
#pragma endscop
}
"""
PLAN = """\
region 1
  schedule {
    loop t, t_i = {S1: 2t + i; S2: 1 + 2t + i}, t_j = {S1: 2t + j; S2: 1 + 2t + j} {
      S1
      S2
    }
  }
"""


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("sizes", [(8, 8, 128), (12, 36, 128), (5, 7, 11), (12, 20, 50)])
def test_tiles_that_are_no_powers_of_two(sizes: tuple[int, int, int], balanced: bool) -> None:
    """Sizes of a processor with 128 KB of first cache took minutes."""
    plan = PLAN + (f"  balance S1.t by {sizes[0]}\n" if balanced else "")
    plan += "  tile S1.t:{}, S1.t_i:{}, S1.t_j:{}\n".format(*sizes)
    options = GenOptions()
    (region,) = open_source("x.c", SWEEPS, options).slices
    model = model_region(region, options)
    assert model is not None
    scop = model.program.scop
    (read,) = parse(plan, "p", {scop.region: scop}, 0)
    p = apply_plan(model.program, read)
    made, findings = finish(p, read, ())
    assert made is not None and not findings
    with at_most(100_000):
        assert not not_exactly_once(collect(p.scop, p.deps, made.code))
