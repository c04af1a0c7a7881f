"""The Gymnasium environment: its contract, rewards, masks and episodes."""

from collections.abc import Sequence

import pytest

from codegen.isa.load import load
from codegen.machine.load import load as load_machine
from codegen.tune.contraction import matmul
from codegen.tune.cost import Model
from codegen.tune.tree import Tree

pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env

from codegen.tune.environment import Scheduling

PROBLEMS = (matmul(64, 64, 64), matmul(112, 128, 192))


def loops(trees: Sequence[Tree]) -> list[float | None]:
    return [float(len(t.compute)) for t in trees]


def test_the_contract_of_gymnasium() -> None:
    check_env(Scheduling(PROBLEMS, Model(load_machine("neoverse-n1"), load("neon")), 40.0), skip_render_check=True)


def test_an_episode() -> None:
    env = Scheduling(PROBLEMS, loops, 10.0, render_mode="ansi")
    seen, info = env.reset()
    assert list(seen[:3]) == [1.0, 64.0, 0.0]
    assert list(info["mask"]) == [0, 1, 0, 1, 1, 1, 1]
    rewards = [env.step(a)[1] for a in (4, 1, 0, 0)]  # split_4, down, up, up (not allowed)
    assert rewards == [0.1, 0.0, 0.0, 0.0]
    assert env.render() == "i16* i4 k64 j64 | i16 i4 j64"
    ends = [env.step(1)[3] for _ in range(6)]
    assert ends == [False] * 5 + [True]


def test_each_episode_takes_the_next_problem() -> None:
    env = Scheduling(PROBLEMS, loops, 10.0)
    sizes = []
    for _ in range(3):
        env.reset()
        sizes.append(env.tree.compute[0].size)
    assert sizes == [64, 112, 64]
    env.reset(options={"problem": matmul(80, 80, 80)})
    assert env.tree.compute[0].size == 80


def test_the_rewards_of_an_episode_add_up() -> None:
    model = Model(load_machine("neoverse-n1"), load("neon"))
    env = Scheduling(PROBLEMS[1:], model, 40.0)
    env.reset()
    first = model([env.tree])[0]
    total = sum(env.step(a)[1] for a in (4, 3, 3, 1, 6, 2, 2))
    last = model([env.tree])[0]
    assert first is not None and last is not None
    assert total == pytest.approx((last - first) / 40.0)
    assert total > 0.3
