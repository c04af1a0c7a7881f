"""Networks, replay, training and estimates: small enough to be judged by hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest

from codegen.isa.load import load as load_isa
from codegen.machine.load import load as load_machine
from codegen.tune.actions import ACTION_SETS, legal
from codegen.tune.contraction import matmul
from codegen.tune.cost import Model
from codegen.tune.learn import shapes
from codegen.tune.learn.answer import SHIPPED, answers
from codegen.tune.learn.demos import demo, ways
from codegen.tune.learn.estimate import estimate
from codegen.tune.learn.network import Layer, NeuralNetwork, load, random, save, shipped
from codegen.tune.learn.policy import ahead, follow, moves, ranked, sight
from codegen.tune.learn.replay import Replay
from codegen.tune.learn.samples import Actions, promising, strange
from codegen.tune.learn.traits import traits
from codegen.tune.tree import Tree, joined, key, parse, show_nest, start

MODEL = Model(load_machine("neoverse-n1"), load_isa("neon", 128))


def test_the_published_split() -> None:
    train, test = shapes.training(), shapes.testing()
    assert (len(train), len(test)) == (1757, 440)
    assert len({*train, *test}) == 13**3


def test_a_dueling_head_adds_the_advantage_over_the_mean() -> None:
    one = np.ones((2, 1), np.float32)
    acts = np.array([[1, 0, 0], [0, 1, 0]], np.float32)
    zero = np.zeros(3, np.float32)
    net = NeuralNetwork((), (Layer(one, np.array([0.5], np.float32)), Layer(acts, zero)), "")
    # value 2 + 3 + 0.5, advantages 2, 3, 0 with mean 5/3
    found = net(np.array([[2, 3]], np.float32))[0]
    assert found == pytest.approx([5.5 + 2 - 5 / 3, 5.5 + 3 - 5 / 3, 5.5 - 5 / 3], rel=1e-6)


def test_networks_are_read_back(tmp_path: Path) -> None:
    net = random((200, 32, 16), (1, 7), seed=3)
    path = tmp_path / "net.npz"
    save(NeuralNetwork(net.trunk, net.heads, "for a test"), path)
    again = load(path)
    x = np.random.default_rng(1).random((5, 200)).astype(np.float32)
    assert again.about == "for a test"
    assert np.allclose(again(x), net(x), atol=2e-2)  # half precision
    save(again, tmp_path / "again.npz")
    assert path.read_bytes() == (tmp_path / "again.npz").read_bytes()


def test_replay_draws_by_surprise() -> None:
    replay = Replay(64, 2, 3)
    for n in range(50):
        replay.add((np.array([n, 0], np.float32), n % 3), 0.1, (np.zeros(2, np.float32), (True,) * 3), 0.5)
    replay.surprise(np.arange(50), np.full(50, 1e-6, np.float32))
    replay.surprise(np.array([7, 20]), np.array([1.0, 1.0], np.float32))
    batch = replay.draw(400, np.random.default_rng(2))
    seen = np.bincount(batch.places, minlength=50)
    assert seen[7] > 150 and seen[20] > 150  # nearly all, half each
    assert batch.weights[batch.places == 7].max() < batch.weights.max() + 1e-9
    assert set(batch.states[:, 0].astype(int)) == set(batch.places)


def test_a_full_replay_forgets_the_oldest() -> None:
    replay = Replay(8, 1, 1)
    for n in range(20):
        replay.add((np.array([n], np.float32), 0), 0.0, (np.zeros(1, np.float32), (True,)), 0.0)
    assert len(replay) == 8
    assert set(replay.states[:, 0].astype(int)) == set(range(12, 20))


def test_a_policy_takes_ten_legal_steps() -> None:
    net = random((200, 16), (1, 7), seed=5)
    path = follow(start(matmul(96, 128, 80)), net)
    assert len(path) == 11
    for before, after in pairwise(path):
        reached = moves(before, ACTION_SETS["v1"])
        assert after in reached
        assert [t is not None for t in reached] == list(legal(before))


def test_several_ways_at_once_have_the_greedy_one_among_them() -> None:
    first = start(matmul(96, 128, 80))
    net = random((230, 16), (1, 15), seed=5)
    found = {t.compute for t in ahead(first, net, "v2", lanes=4, width=4)}
    assert {t.compute for t in follow(first, net, "v2", lanes=4)} <= found
    assert len(found) <= 1 + 10 * 4


def test_a_value_ranks_different_nests() -> None:
    nests = ("i64 k64 j64", "i16 k64 i4 j64", "i16* k64 i4 j64", "i16 i4 k64 j64")
    trees = [parse(t, matmul(64, 64, 64)) for t in nests]
    best = ranked(trees, lambda ts: [float(len(t.compute) + (t.compute[1].var == "i")) for t in ts])
    assert [show_nest(t.compute) for t in best] == ["i16 i4 k64 j64", "i16 k64 i4 j64", "i64 k64 j64"]


def test_what_a_network_sees_is_near_one() -> None:
    seen = sight(start(matmul(256, 256, 64)))
    assert seen.shape == (200,) and seen.max() <= 1.01 and seen.min() >= 0
    packed = parse("i8[B] k64 i8 j64", matmul(64, 64, 64))
    assert list(np.flatnonzero(sight(packed, "v2")[200:])) == [1]  # the second mark of the first loop


def test_traits_tell_the_register_tile() -> None:
    problem = matmul(64, 64, 64)
    flat, square = (traits(parse(t, problem), MODEL) for t in ("i64 k64 j64", "i16 j4 k64 i4 j16"))
    registers = 32
    assert flat[5] == pytest.approx(16 / registers) and square[5] == pytest.approx(16 / registers)
    loads = 7  # loads for each multiply-add: (1 + 16) / 16 and (4 + 4) / 16
    assert flat[loads] == pytest.approx(17 / 16) and square[loads] == pytest.approx(8 / 16)
    assert len(flat) == len(square)


def test_samples_differ_and_the_promising_follow_the_value() -> None:
    problem, draw = matmul(64, 96, 80), Random(4)
    found = strange(problem, 12, "v2", draw)
    assert len({key(t) for t in found}) == len(found) == 12

    def deep(trees: list[Tree]) -> list[float]:
        return [float(len(joined(t.compute))) for t in trees]

    best = promising(problem, 6, Actions("v1"), deep, draw)
    assert len(best) == 6 and sum(deep(best)) > sum(deep(strange(problem, 6, "v1", draw)))


def test_training_finds_what_is_worth_it() -> None:
    pytest.importorskip("torch")
    from codegen.tune.learn.dqn import TrainingSettings, exploration, train

    assert exploration(0, 8) == pytest.approx(0.4) and exploration(7, 8) == pytest.approx(0.4**8)

    def value(trees: list[Tree]) -> list[float]:
        ends = ([loop.var for loop in t.compute[-2:]] + [str(t.compute[-1].size)] for t in trees)
        return [0.2 + 0.3 * (e[-1] == "16") + 0.4 * (e[-2:] == ["j", "16"] and e[0] == "i") for e in ends]

    problems = [matmul(64, 64, 64), matmul(128, 64, 96)]
    settings = TrainingSettings(hidden=(64,), steps=6000, first=1000, batch=64, seconds=60, rate=1e-3, sync=200)
    net = train(problems, value, settings, lambda text: None)
    reached = value([follow(start(p), net)[-1] for p in problems])
    assert min(reached) > 0.45, reached


def test_demonstrations_with_packing_and_two_levels() -> None:
    problem = matmul(96, 192, 80)
    found = {show_nest(d.path[-1].compute) for way in ways("v2") if (d := demo(problem, way, "v2", 4)) is not None}
    assert {"i12[B] j16 k80 i8 j12", "j3 i16[B] j4 k80 i6 j16", "i3 j16 i4 k80 i8 j12"} <= found
    wide = [d.path[-1] for way in ways("v2", room=512) if (d := demo(problem, way, "v2", 16)) is not None]
    assert "i8 j6 k80 i12 j32" in {show_nest(t.compute) for t in wide}


def test_demonstrations_reach_register_tiles() -> None:
    problem = matmul(64, 96, 80)
    found = [d for way in ways() if (d := demo(problem, way)) is not None]
    assert all(len(d.chosen) == 10 and len(d.path) == 11 for d in found)
    nests = {" ".join(f"{x.var}{x.size}" for x in d.path[-1].compute) for d in found}
    assert {"i64 k80 j96", "i16 j6 k80 i4 j16", "j12 i8 k80 i8 j8", "j1 i16 j4 k80 i4 j16"} <= nests
    for d in found:
        for at, (before, after) in zip(d.chosen, pairwise(d.path), strict=True):
            assert moves(before, ACTION_SETS["v1"])[at] == after


@pytest.mark.parametrize(("version", "actions"), [("v1", 7), ("v2", 15)])
def test_the_shipped_networks_fit_what_they_are_asked(version: str, actions: int) -> None:
    problem = matmul(112, 128, 192)
    assert len(shipped(SHIPPED[version]).heads[1].bias) == actions
    found = answers(start(problem), MODEL, version)
    worth = estimate(shipped("estimate"), MODEL)([start(problem), found[0]])
    assert worth[1] > 1.5 * worth[0] > 0  # as it thinks itself
    assert len(joined(found[0].compute)) >= 5  # a tile in blocks
