"""Dependences of many pieces or with many faces: isl's scheduler would look for an order without an end."""

from __future__ import annotations

import pytest

from codegen.machine import load_for
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.plan.model import Parallel
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.strategy.orders import isl_schedule
from codegen.strategy.planner import default_plan
from codegen.strategy.products.panels import find_panels
from codegen.transform.program import Program
from tests.property.harness import program_of


@pytest.mark.parametrize("seed", [3000292, 3000421, 3000697])
def test_generation_ends(seed: int) -> None:
    """Left as they are, these regions would be: with a warning, past eight times the limit."""
    made = generate("in.c", program_of(seed).text(), GenOptions(timeout=10))
    assert made.regions[0].transformed


THREE_LOOPS = """void g(int n, double A[n][n])
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        A[i][j] -= A[i][k] * A[k][j];
#pragma endscop
}
"""


def program(source: str) -> Program:
    (s,) = open_source("in.c", source, GenOptions()).slices
    model = model_region(s, GenOptions())
    assert model is not None
    return model.program


def test_panels_are_not_sought_at_any_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact dependences of eight loops take isl's scheduler half a minute, and it counts nothing of that."""
    p = program(program_of(7003140).text())
    assert isl_schedule.is_costly(p.scop, p.deps, p.tree, "max")
    monkeypatch.setattr("codegen.strategy.products.panels.isl_schedule", None)
    assert find_panels(p, load_for("generic", ""), "max") is None


def test_few_loops_cost_little() -> None:
    p = program(THREE_LOOPS)
    assert not isl_schedule.is_costly(p.scop, p.deps, p.tree, "max")


def test_no_order_is_sought_for_panels_where_nothing_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps in place along a line, again in every plane: no loop around them reads what could be summed up."""
    p = program(THREE_LOOPS.replace("A[i][k] * A[k][j]", "A[i][j - 1]"))
    monkeypatch.setattr("codegen.strategy.products.panels.is_costly", None)
    assert find_panels(p, load_for("generic", ""), "max") is None


def test_the_scheduler_is_not_asked_about_large_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    """They keep the order of the source, and get what suits that."""
    monkeypatch.setattr(isl_schedule, "LARGE", 1)
    monkeypatch.setattr(isl_schedule, "_compute", None)
    p = program(THREE_LOOPS)
    assert isl_schedule.is_costly(p.scop, p.deps, p.tree, "max")
    decided = default_plan(p, load_for("generic", ""))
    assert any(isinstance(d, Parallel) for d in decided.plan.directives)
