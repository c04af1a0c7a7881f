"""Follows the learned policy for ten actions from a loop tree, on its greedy path or on several side by side, and
returns the trees on the way; nothing is measured. Also what the network sees of a tree (`sight`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from codegen.tune.actions import ACTION_SETS, LANES, LIMIT, Action, allowed
from codegen.tune.learn.estimate import Value
from codegen.tune.learn.network import NeuralNetwork
from codegen.tune.observe import FEATURES, observe
from codegen.tune.tree import Tree

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

STEPS = 10  # actions of an episode
WIDTH = 16  # ways that are followed side by side
MARKS = "ABT"  # what a loop may be marked with, from version 2 on: operands that are packed, threads


def sight(tree: Tree, version: str = "v1") -> NDArray[numpy.float32]:
    """The observation as a network takes it in: sizes and tails by their logarithm, all near one. Versions whose
    actions mark loops see the marks too."""
    import numpy as np

    seen = observe(tree).reshape(-1, FEATURES)
    seen[:, 1:3] = np.log2(1 + seen[:, 1:3]) / 8
    if version == "v1":
        return seen.reshape(-1)
    marks = np.zeros((LIMIT, len(MARKS)), np.float32)
    for at, loop in enumerate(tree.compute[:LIMIT]):
        marks[at] = [mark in loop.pack for mark in MARKS]
    return np.concatenate([seen.reshape(-1), marks.reshape(-1)])


def moves(tree: Tree, actions: tuple[Action, ...], lanes: int = LANES) -> tuple[Tree | None, ...]:
    """The tree after each action, None where a policy may not choose it."""
    return tuple(allowed(tree, a, lanes, LIMIT) for a in actions)


def follow(
    tree: Tree, network: NeuralNetwork, version: str = "v1", lanes: int = LANES, steps: int = STEPS
) -> list[Tree]:
    """The trees on the one way of the greedy policy, the given one first."""
    import numpy as np

    path, actions = [tree], ACTION_SETS[version]
    for _ in range(steps):
        reached = moves(path[-1], actions, lanes)
        if not any(reached):
            break
        q = network(sight(path[-1], version)[None])[0]
        best = int(np.argmax(np.where([r is not None for r in reached], q, -np.inf)))
        found = reached[best]
        assert found is not None
        path.append(found)
    return path


def ahead(
    first: Tree, network: NeuralNetwork, version: str = "v1", lanes: int = LANES, width: int = WIDTH
) -> list[Tree]:
    """The trees on `width` ways, those on which the network expects to lose least against what it thinks best at each
    step; the greedy way is the first of them."""
    import numpy as np

    level, lost, actions = [first], {first: 0.0}, ACTION_SETS[version]
    for _ in range(STEPS):
        found: dict[Tree, float] = {}
        for tree, gains in zip(level, network(np.stack([sight(t, version) for t in level])), strict=True):
            able = [(t, float(q)) for t, q in zip(moves(tree, actions, lanes), gains, strict=True) if t is not None]
            best = max((q for _, q in able), default=0.0)
            for made, q in able:
                found[made] = min(found.get(made, np.inf), lost[tree] + best - q)
        level = sorted(found, key=lambda t: found[t])[:width]
        lost.update((t, found[t]) for t in level)
        if not level:
            break
    return list({t.compute: t for t in lost}.values())


def ranked(trees: Iterable[Tree], value: Value) -> list[Tree]:
    """Different nests, as far as `value` can tell the best first."""
    found = list({t.compute: t for t in trees}.values())
    worth = dict(zip((t.compute for t in found), value(found), strict=True))
    return sorted(found, key=lambda t: -worth[t.compute])
