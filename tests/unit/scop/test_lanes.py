"""Steps in another order, and steps that are smaller ones repeated."""

from __future__ import annotations

import pytest

from codegen.scop.lanes import Lane, chained, rounds

ACC, A, B, S = Lane("acc"), Lane("a"), Lane("b"), Lane("const")
A1, B1, A2, B2 = Lane("a", (), 1), Lane("b", (), 1), Lane("a", (), 2), Lane("b", (), 2)


def op(kind: str, *args: Lane) -> Lane:
    return Lane(kind, args)


P, P1, P2 = op("mul", A, B), op("mul", A1, B1), op("mul", A2, B2)
ONE, TWO = op("add", ACC, P), op("add", op("add", ACC, P), P1)


@pytest.mark.parametrize(("step", "wanted"), [
    (op("add", ACC, op("add", P, P1)), TWO),
    (op("add", op("add", P, P1), ACC), TWO),
    (op("sub", ACC, op("add", P, P1)), op("sub", op("sub", ACC, P), P1)),
    (op("add", ACC, op("sub", P, P1)), op("sub", op("add", ACC, P), P1)),
    (op("sub", ACC, op("sub", P, P1)), op("add", op("sub", ACC, P), P1)),
    (op("add", ACC, op("add", op("add", P, P1), P2)), op("add", TWO, P2)),
    (op("add", ACC, op("sub", P, op("add", P1, P2))), op("sub", op("sub", ONE, P1), P2)),
    (op("add", op("add", ACC, S), op("add", P, P1)), op("add", op("add", op("add", ACC, S), P), P1)),
    (ONE, ONE),
    (op("sub", op("add", P, P1), ACC), op("sub", op("add", P, P1), ACC)),
    (op("add", ACC, op("mul", ACC, P)), op("add", ACC, op("mul", ACC, P))),
    (op("min", ACC, op("add", P, P1)), op("min", ACC, op("add", P, P1))),
])  # fmt: skip
def test_chained(step: Lane, wanted: Lane) -> None:
    assert chained(step) == wanted


def least(x: Lane, y: Lane) -> Lane:
    """A minimum as a choice: the accumulator comes twice."""
    return op("select", op("lt", x, y), x, y)


@pytest.mark.parametrize(("step", "pairs", "wanted"), [
    (ONE, 1, (ONE, 1)),
    (TWO, 2, (ONE, 2)),
    (op("add", TWO, P2), 3, (ONE, 3)),
    (op("add", TWO, op("mul", S, P2)), 3, None),
    (op("add", op("add", ACC, op("mul", P, S)), op("mul", P1, S)), 2, (op("add", ACC, op("mul", P, S)), 2)),
    (least(least(ACC, op("add", A, B)), op("add", A1, B1)), 2, (least(ACC, op("add", A, B)), 2)),
    (op("sub", ONE, P1), 2, None),
    (op("add", op("add", ACC, op("mul", A, B1)), op("mul", A1, B)), 2, None),
    (op("add", op("add", ACC, P1), P), 2, None),
    (op("add", ACC, op("add", P, P1)), 2, None),
])  # fmt: skip
def test_rounds(step: Lane, pairs: int, wanted: tuple[Lane, int] | None) -> None:
    assert rounds(step, pairs, pairs) == (wanted or (step, 1))


def test_rounds_need_pairs() -> None:
    step = op("add", op("add", ACC, P), op("mul", A1, B))
    assert rounds(step, 2, 1) == (step, 1)
