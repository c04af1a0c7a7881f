"""Searches on values that can be checked by hand; nothing is compiled or timed here."""

from collections.abc import Sequence

import pytest

from codegen.isa.load import load
from codegen.machine.load import load as load_machine
from codegen.tune.contraction import matmul
from codegen.tune.contraction import parse as parse_problem
from codegen.tune.cost import Model
from codegen.tune.search import METHODS, Budget, Improvement, Space, modelled, run
from codegen.tune.search.tiles import family, tiled
from codegen.tune.tree import Tree, key, parse, show_nest, start

PROBLEM = matmul(64, 64, 64)
NEON = load("neon")
MODEL = Model(load_machine("neoverse-n1"), NEON)


def splits(trees: Sequence[Tree]) -> list[float | None]:
    """The more loops, the better; loops over k innermost cannot be valued."""
    return [None if t.compute[-1].var == "k" else float(len(t.compute)) for t in trees]


@pytest.mark.parametrize("name", [n for n in METHODS if n not in ("fixed", "exhaustive")])
def test_all_find_the_top_of_a_slope(name: str) -> None:
    found = run(METHODS[name], start(PROBLEM), splits, Budget(seconds=20.0, steps=3, trees=400))
    assert found.value == 6.0
    assert len(found.best.compute) == 6
    assert [s.value for s in found.history] == sorted(s.value for s in found.history)


def test_greedy_stops_where_nothing_is_better() -> None:
    asked: list[Tree] = []

    def flat(trees: Sequence[Tree]) -> list[float | None]:
        asked.extend(trees)
        return [1.0 for _ in trees]

    found = run(METHODS["greedy1"], start(PROBLEM), flat, Budget())
    assert found.complete and found.best == start(PROBLEM)
    assert len(asked) == len({t.compute for t in asked})
    # The start, one swap, three splits; moving the cursor leads to nothing new.
    assert len(asked) == 5


def test_two_actions_ahead_see_over_a_valley() -> None:
    goal = parse("k64 i16 i4 j64", PROBLEM).compute
    first = parse("k64 i64 j64", PROBLEM).compute

    def valley(trees: Sequence[Tree]) -> list[float | None]:
        return [9.0 if t.compute == goal else 0.0 if t.compute == first else 1.0 for t in trees]

    assert run(METHODS["greedy1"], start(PROBLEM), valley, Budget()).value == 1.0
    assert run(METHODS["greedy2"], start(PROBLEM), valley, Budget()).value == 9.0


def test_beams_are_sorted_by_value_and_not_by_name() -> None:
    """The best child has the name that comes last, the second best the one before it."""
    levels: list[int] = []

    def by_size(trees: Sequence[Tree]) -> list[float | None]:
        levels.append(len(trees))
        return [-float(t.compute[0].size) if t.compute[0].var == "i" else -999.0 for t in trees]

    found = run(METHODS["beam2bfs"], start(PROBLEM), by_size, Budget(steps=1))
    assert show_nest(found.best.compute) == "i4 i16 k64 j64"
    deep = run(METHODS["beam2dfs"], start(PROBLEM), by_size, Budget(steps=2))
    assert deep.value == -1.0


def test_exhaustive_values_every_nest_once() -> None:
    found = run(METHODS["exhaustive"], start(matmul(128, 128, 128)), splits, Budget(steps=5))
    assert (found.trees, found.complete) == (560, True)


def test_budgets() -> None:
    few = run(METHODS["random"], start(PROBLEM), splits, Budget(trees=30))
    assert (few.trees, few.complete) == (30, False)
    none = run(METHODS["random"], start(PROBLEM), splits, Budget(seconds=-1.0))
    assert (none.best, none.value) == (start(PROBLEM), None)


def test_an_interrupt_keeps_the_best() -> None:
    calls = 0

    def stopped(trees: Sequence[Tree]) -> list[float | None]:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise KeyboardInterrupt
        return splits(trees)

    told: list[Improvement] = []
    found = run(METHODS["greedy1"], start(PROBLEM), stopped, Budget(), told.append)
    assert found.interrupted and found.value == 5.0
    assert tuple(told) == found.history


def test_more_actions_behind_a_version() -> None:
    names = {n for n, _ in Space("v2", lanes=4).children(start(PROBLEM))}
    assert {"split_6", "split_64", "pack_b"} <= names
    assert not names & {"up", "merge"}
    six = dict(Space("v2", lanes=4).children(start(PROBLEM)))["split_6"]
    assert show_nest(six.compute) == "i10+4 i6 k64 j64"


def test_threads_are_an_action_of_version_3() -> None:
    first = dict(Space("v3", lanes=4).children(start(PROBLEM)))["threads"]
    assert show_nest(first.compute) == "i64[T] k64 j64"
    after = dict(Space("v3", lanes=4).children(first))
    assert show_nest(after["threads"].compute) == "i64 k64 j64"
    assert show_nest(after["split_4"].compute) == "i16[T] i4 k64 j64"
    assert "swap_down" not in after
    assert [a.name for a in Space("v3").actions[:-1]] == [a.name for a in Space("v2").actions]


def test_trees_by_design() -> None:
    assert show_nest(tiled(matmul(100, 70, 30), 4, 16, True).compute) == "i25 j4+6 k30 i4 j16"
    packed = tiled(matmul(100, 70, 30), 6, 16, False, "S")
    assert show_nest(packed.compute) == "j4+6 i16+4[B] k30 i6 j16"
    assert show_nest(tiled(parse_problem("C[i] += A[i,k] * B[k] : i=8 k=5"), 4, 16, True).compute) == "k5 i8"
    whole = list(family(PROBLEM, NEON))
    assert len({key(t) for t in whole}) == len(whole) > 200
    for tree in whole:
        assert parse(show_nest(tree.compute), PROBLEM).compute == tree.compute


def test_the_model_knows_good_trees_from_bad() -> None:
    problem = matmul(256, 256, 256)
    best, plain, far, bad = MODEL([
        parse("j16 i42+4[B] k256 i6 j16", problem), parse("j16 i64 k256 i4 j16", problem), start(problem),
        parse("k256 j256 i256", problem),
    ])  # fmt: skip
    assert best is not None and plain is not None and far is not None and bad is not None
    assert 40.0 > best > plain > 1.5 * far > 3 * bad
    assert MODEL([parse("i1024[B] k1024 j1024", matmul(1024, 1024, 1024))]) == [None]


def test_the_analytic_tree_asks_for_one_value() -> None:
    found = run(modelled(MODEL, NEON)["analytic"], start(PROBLEM), MODEL, Budget())
    assert found.trees == 2
    assert found.value is not None and found.value > 30.0


def test_a_wide_beam_on_the_model_finds_a_register_tile() -> None:
    found = run(modelled(MODEL, NEON)["wide"], start(PROBLEM), MODEL, Budget(steps=8))
    assert found.value is not None and found.value > 24.0
