"""Recurrences whose blocks follow each other: which regions are of that kind, and what becomes of them."""

from __future__ import annotations

import pytest

from codegen.machine import load
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.plan.model import Pipeline, StripMine
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.strategy.planner import default_plan
from codegen.strategy.products.selection import in_panels
from codegen.strategy.products.stages import find_stages
from codegen.transform.program import Program, violation

from .test_panels import spelled

PARAMS = "int n, double L[n][n], double x[n], double b[n], int T[n][n], double D[n][n]"
# On one thread, short pieces of its lines would come more slowly than whole ones.
SOLVE = """
for (int i = 0; i < n; i++) {
  x[i] = b[i];
  for (int j = 0; j < i; j++)
    x[i] -= L[i][j] * x[j];
  x[i] = x[i] / L[i][i];
}"""
INTERVALS = """
for (int i = n - 1; i >= 0; i--)
  for (int j = i + 1; j < n; j++) {
    T[i][j] = T[i][j] > T[i][j - 1] ? T[i][j] : T[i][j - 1];
    for (int k = i + 1; k < j; k++)
      T[i][j] = T[i][j] > T[i][k] + T[k + 1][j] ? T[i][j] : T[i][k] + T[k + 1][j];
  }"""
# The same from the other side: results downwards.
MIRRORED = """
for (int i = 0; i < n; i++)
  for (int j = i - 1; j >= 0; j--) {
    T[i][j] = T[i][j] > T[i][j + 1] ? T[i][j] : T[i][j + 1];
    for (int k = j + 1; k < i; k++)
      T[i][j] = T[i][j] > T[i][k] + T[k - 1][j] ? T[i][j] : T[i][k] + T[k - 1][j];
  }"""
# The order of these is the source's: D may hold numbers that compare with nothing.
FLOATING = INTERVALS.replace("T[", "D[")
NO_RECURRENCE = "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) x[i] -= L[i][j] * b[j];"


def program(body: str) -> Program:
    model = model_region(open_source("in.c", _source(body), GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program


def _source(body: str) -> str:
    return f"void f({PARAMS})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize(
    ("body", "tree", "product"),
    [
        (INTERVALS, "ir, ib(i, k, j(S4); i(k(S1; j(S2; S3))))", "S4"),
        (MIRRORED, "ir, ib(i, k, j(S4); i(k(S1; j(S2; S3))))", "S4"),
    ],
)
def test_blocks_of_results_go_through_stages(body: str, tree: str, product: str) -> None:
    found = in_panels(program(body), load("neoverse-n1"), "smart")
    assert found is not None
    q, blocks, what = found
    assert spelled(q.tree) == tree
    assert [d.stmt for d in what.directives] == [product]
    assert not violation(q)
    stage, results = blocks
    assert isinstance(stage, StripMine)
    assert isinstance(results, StripMine)
    assert results.size == 2 * stage.size


@pytest.mark.parametrize("body", [INTERVALS, MIRRORED])
def test_threads_follow_each_other(body: str) -> None:
    plan = default_plan(program(body), load("neoverse-n1")).plan
    assert [d.along.name for d in plan.directives if isinstance(d, Pipeline)] == ["ib"]
    text = generate("in.c", _source(body), GenOptions()).text
    assert "stages" in text
    assert "tw_follow" in text


@pytest.mark.parametrize("body", [SOLVE, FLOATING, NO_RECURRENCE])
def test_other_regions_have_no_stages(body: str) -> None:
    assert find_stages(program(body), load("neoverse-n1"), "smart") is None
