"""Baseline searches over loop trees: random walks, and exhaustive search to a depth."""

from __future__ import annotations

import random

from codegen.tune.search.frame import Trial
from codegen.tune.tree import Tree

WALKS = 64  # valued together, of which a tenth may be new orders
TIRED = 100  # rounds without a new tree, and the space is taken to be exhausted


def sample(trial: Trial, seed: int = 1) -> None:
    """Random walks, each tree on them valued, until the budget is spent."""
    rng, idle = random.Random(seed), 0
    while idle < TIRED:
        trial.check()
        before = trial.trees
        trial.values([tree for _ in range(WALKS) for tree in _walk(trial, rng)])
        idle = idle + 1 if trial.trees == before else 0


def _walk(trial: Trial, rng: random.Random) -> list[Tree]:
    """The first allowed of all actions in a random order is any of those that are, as likely as the others."""
    space, tree, found = trial.space, trial.start, list[Tree]()
    for _ in range(trial.budget.steps):
        order = rng.sample(space.actions, len(space.actions))
        made = next((t for a in order if (t := space.after(tree, a)) is not None), None)
        if made is None:
            break
        tree = made
        found.append(tree)
    return found


def exhaustive(trial: Trial) -> None:
    """Every tree within the steps of the budget, nearest first."""
    level, reached = [trial.start], {trial.start}
    for _ in range(trial.budget.steps):
        ahead: list[Tree] = []
        for tree in level:
            for _, child in trial.space.children(tree):
                if child not in reached:
                    reached.add(child)
                    ahead.append(child)
        trial.values(ahead)
        level = ahead
