"""Following a policy: ten greedy steps, no measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.tune.actions import ACTION_SETS, LANES, LIMIT, Action, allowed
from codegen.tune.learn.network import Network
from codegen.tune.observe import FEATURES, observe
from codegen.tune.tree import Tree

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

STEPS = 10  # actions of an episode


def sight(tree: Tree) -> NDArray[numpy.float32]:
    """The observation as a network takes it in: sizes and tails by their logarithm, all near one."""
    import numpy as np

    seen = observe(tree).reshape(-1, FEATURES)
    seen[:, 1:3] = np.log2(1 + seen[:, 1:3]) / 8
    return seen.reshape(-1)


def moves(tree: Tree, actions: tuple[Action, ...], lanes: int = LANES) -> tuple[Tree | None, ...]:
    """The tree after each action, None where a policy may not choose it."""
    return tuple(allowed(tree, a, lanes, LIMIT) for a in actions)


def follow(tree: Tree, network: Network, version: str = "v1", lanes: int = LANES, steps: int = STEPS) -> list[Tree]:
    """The trees on the way of the policy, the given one first."""
    import numpy as np

    path, actions = [tree], ACTION_SETS[version]
    for _ in range(steps):
        reached = moves(path[-1], actions, lanes)
        if not any(reached):
            break
        q = network(sight(path[-1])[None])[0]
        best = int(np.argmax(np.where([r is not None for r in reached], q, -np.inf)))
        found = reached[best]
        assert found is not None
        path.append(found)
    return path
