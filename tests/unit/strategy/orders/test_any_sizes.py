"""Orders of regions of fixed size."""

from __future__ import annotations

import islpy as isl
import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.strategy.orders.any_sizes import LARGE, sizes_in

# Its shortened dependences are cyclic: exact ones are scheduled, which took isl two minutes for numbers of this size.
TREES = """void f(double W[1001][1001], double C[1001][1001], const double p[1000])
{
#pragma scop
  for (int i = 0; i <= 1000; i++) {
    W[i][i] = 0;
    C[i][i] = 0;
  }
  for (int i = 1000 - 1; i >= 0; --i)
    for (int j = i + 1; j <= 1000; ++j) {
      W[i][j] = W[i][j - 1] + p[j - 1];
      C[i][j] = C[i + 1][j] + W[i][j];
      for (int k = i + 1; k < j; k++)
        C[i][j] = C[i][j] < C[i][k] + C[k + 1][j] ? C[i][j] : C[i][k] + C[k + 1][j];
    }
#pragma endscop
}
"""


def test_large_numbers_take_no_longer_than_variables() -> None:
    """The first plan works out, and within seconds."""
    made = generate("in.c", TREES, GenOptions(timeout=10))
    assert made.regions[0].transformed and not any(d.id in ("fallback", "unproven") for d in made.diagnostics)


def test_numbers_that_are_near_share_a_variable() -> None:
    sizes = sizes_in(
        [isl.UnionMap("{ A[i] -> B[j = i + 1] : 0 <= i < 999 and j <= 1000; B[i] -> A[i] : 2000 < i < 5000 }")]
    )
    assert sizes is not None and sizes.least == (998, 2001, 4999)


@pytest.mark.parametrize(
    "text", [f"{{ A[i] -> B[i] : 0 <= i < {LARGE - 1} }}", "[n] -> { A[i] -> B[i] : 0 <= i < n }",
             "{ A[i] -> B[i] : 0 <= i < 1000 and exists(e : i = 3e) }"]
)  # fmt: skip
def test_where_there_is_nothing_to_replace(text: str) -> None:
    """Small numbers, variables, and quotients, whose numbers are no sizes."""
    assert sizes_in([isl.UnionMap(text)]) is None


def test_a_relation_for_all_sizes_is_the_old_one_for_its_numbers() -> None:
    before = isl.UnionMap("{ A[i] -> A[j] : 0 <= i < j < 1000 and i + j >= 998; A[i] -> B[i] : -1000 <= i <= 1001 }")
    sizes = sizes_in([before])
    assert sizes is not None and len(sizes.least) == 1
    known = sizes.lifted(before).intersect_params(isl.Set(f"[tw_size0] -> {{ : tw_size0 = {sizes.least[0]} }}"))
    assert known.project_out(isl.dim_type.param, 0, 1).is_equal(before)


def test_a_value_that_depends_on_a_size_is_none() -> None:
    sizes = sizes_in([isl.UnionMap("{ A[i] -> A[i + 1] : 0 <= i < 1000 }")])
    assert sizes is not None
    assert sizes.dropped(isl.PwAff("[tw_size0] -> { A[i] -> [(i + tw_size0)] }")) is None
    kept = sizes.dropped(isl.PwAff("[tw_size0] -> { A[i] -> [(2i)] }"))
    assert kept is not None and kept.plain_is_equal(isl.PwAff("{ A[i] -> [(2i)] }"))
