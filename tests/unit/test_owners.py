"""Remarks on what products and threads own."""

from __future__ import annotations

from codegen.machine import load
from codegen.plan.strategy import default_plan
from tests.unit.test_keep import program

ROWS = """for (int t = 0; t < m; t++) for (int i = 0; i < n; i++) for (int j = 1; j < n; j++)
    d[i][j] = d[i][j - 1] + t;"""
SHARED = """for (int i = 1; i < n; i++) for (int j = 0; j < n; j++)
    w[j] += d[i][j] * v[i];"""


def remarks(body: str) -> list[str]:
    found = default_plan(program(body), load("neoverse-n1"))
    return [r.message for r in found.remarks if r.id == "ownership"]


def test_threads_own_rows() -> None:
    """d[i][j - 1] is another element, but of the same row: no thread meets another's."""
    assert remarks(ROWS) == ["threads over i share no element of d: equal elements mean equal i"]


def test_a_register_tile_owns_its_elements() -> None:
    text = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
        d[i][j] += v[i + k] * w[k + j];"""
    (found,) = [r for r in remarks(text) if "registers" in r]
    assert found.startswith("d[i][j] belongs to one i and j: a tile of ") and "stays in registers over k" in found


def test_a_fold_over_threads_is_not_owned() -> None:
    assert not any("w" in r and "over i" in r for r in remarks(SHARED))
