"""Neighbours in one loop body are one node for isl's scheduler, in regions with many statements."""

from __future__ import annotations

import pytest

from codegen.scop.tree import enclosing, statements
from codegen.strategy.orders import clusters as module
from codegen.strategy.orders.clusters import clusters
from codegen.strategy.orders.isl_schedule import isl_schedule
from codegen.transform.program import Program, violation
from tests.unit.transform.test_copy_reads import program

# w is a recurrence and v is not: they do not keep together, though they are neighbours.
BODY = """for (int i = 1; i < n; i++) {
    v[i] = 2 * w[i];
    d[i][0] = v[i] + 1;
    w[i] = w[i - 1] + d[i][0];
    for (int j = 1; j < n; j++) d[i][j] = v[i];
    v[i] = d[i][1];
}"""


def members(p: Program) -> list[tuple[str, ...]]:
    found = clusters(p.scop, p.tree, p.deps.union())
    return sorted(found.members.values()) if found else []


def test_neighbours_for_the_same_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    p = program(BODY)
    assert members(p) == []  # so few that each stands for itself
    monkeypatch.setattr(module, "MANY", 2)
    assert members(p) == [("S1", "S2"), ("S3",), ("S4",), ("S5",)]


def test_the_order_is_one_of_statements_and_legal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY", 2)
    p = program(BODY)
    tree = isl_schedule(p.scop, p.deps, p.tree, "smart")
    assert sorted(statements(tree)) == [s.name for s in p.scop.statements]
    assert not violation(p.with_tree(tree))
    first, second = (enclosing(tree, n) for n in ("S1", "S2"))
    assert [lp.name for lp in first] == [lp.name for lp in second]
