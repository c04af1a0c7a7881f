"""The Gymnasium environment `Scheduling`: tuning as a game for reinforcement learning.

An episode is ten actions on one contraction; there is no action to stop. The reward of an action is how much the value
of the tree grew, in parts of the peak. An action that is not allowed changes nothing and earns nothing; `info["mask"]`
says which are allowed. Gymnasium is needed for this file alone: `pip install tilewright[tune]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from codegen.tune.actions import allowed, legal
from codegen.tune.contraction import Contraction
from codegen.tune.observe import SIZE, observe
from codegen.tune.search.frame import Space, Value
from codegen.tune.tree import Loop, Tree, show, start

STEPS = 10
HIGH = 1e6


class Scheduling(gymnasium.Env[Any, Any]):
    """Each episode takes the next of the problems, one that depends on the seed where there is one, or the one that
    `reset(options={"problem": ...})` names. `value` is any value of trees, such as a `Measurer` or a `Model`; `peak` is
    in the same unit."""

    def __init__(
        self, problems: Sequence[Contraction], value: Value, peak: float, space: Space | None = None,
        steps: int = STEPS, render_mode: str | None = None,
    ) -> None:  # fmt: skip
        self.problems, self.value, self.peak, self.steps = tuple(problems), value, peak, steps
        self.space = space or Space()
        self.metadata = {"render_modes": ["ansi"]}
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(len(self.space.actions))
        self.observation_space = spaces.Box(0.0, HIGH, (SIZE,), np.float32)
        self._episode = -1
        self._done = 0
        self._known: dict[tuple[Contraction, tuple[Loop, ...]], float] = {}
        self.tree: Tree = start(self.problems[0])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._episode = self._episode + 1 if seed is None else seed
        self._done = 0
        given = (options or {}).get("problem")
        self.tree = start(given or self.problems[self._episode % len(self.problems)])
        return observe(self.tree), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        made = allowed(self.tree, self.space.actions[int(action)], self.space.lanes, self.space.limit)
        reward = 0.0
        if made is not None:
            if made.compute != self.tree.compute:
                reward = (self._of(made) - self._of(self.tree)) / self.peak
            self.tree = made
        self._done += 1
        return observe(self.tree), reward, False, self._done >= self.steps, self._info()

    def render(self) -> str:
        return show(self.tree)

    def _of(self, tree: Tree) -> float:
        """A failure is as slow as can be."""
        key = tree.problem, tree.compute
        if key not in self._known:
            self._known[key] = self.value([tree])[0] or 0.0
        return self._known[key]

    def _info(self) -> dict[str, Any]:
        mask = legal(self.tree, self.space.actions, self.space.lanes, self.space.limit)
        return {"mask": np.array(mask, dtype=np.int8), "tree": show(self.tree)}
