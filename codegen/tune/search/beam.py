"""Beam search over loop trees: the best few children of a node, or the best few nodes of a level."""

from __future__ import annotations

from codegen.tune.search.frame import Trial
from codegen.tune.tree import Tree

AHEAD = 2  # levels


def deep(trial: Trial, width: int) -> None:
    """Depth first into the best `width` children of every node, better or worse than the node itself. All of them, and
    theirs, will be gone into: what is asked then is valued together, since few at a time take longest."""
    reached: dict[Tree, int] = {}
    known: dict[Tree, list[Tree]] = {}

    def children(tree: Tree) -> list[Tree]:
        if tree not in known:
            known[tree] = [t for _, t in trial.space.children(tree)]
        return known[tree]

    def descend(tree: Tree, left: int) -> None:
        trial.check()
        if left == 0 or reached.get(tree, -1) >= left:
            return
        reached[tree] = left
        level = [tree]
        for _ in range(min(left, AHEAD)):
            groups = [children(node) for node in level]
            trial.values(t for group in groups for t in group)
            level = [t for group in groups for t in _best(trial, group, width)]
        for child in _best(trial, children(tree), width):
            descend(child, left - 1)

    descend(trial.start, trial.budget.steps)


def broad(trial: Trial, width: int) -> None:
    """The same tree of choices, level by level."""
    level, reached = [trial.start], {trial.start}
    for _ in range(trial.budget.steps):
        children = [[t for _, t in trial.space.children(tree)] for tree in level]
        trial.values(t for group in children for t in group)
        level = []
        for group in children:
            for child in _best(trial, group, width):
                if child not in reached:
                    reached.add(child)
                    level.append(child)


def wide(trial: Trial, width: int) -> None:
    """Of all trees of a level the best `width`; those that are equal but for the cursor may all stay."""
    level, reached = [trial.start], {trial.start}
    for _ in range(trial.budget.steps):
        children = [t for tree in level for _, t in trial.space.children(tree) if t not in reached]
        children = list(dict.fromkeys(children))
        reached.update(children)
        level = _best(trial, children, width)


def _best(trial: Trial, trees: list[Tree], width: int) -> list[Tree]:
    """The best by value; among equals the first."""
    values = trial.values(trees)
    order = sorted(range(len(trees)), key=lambda n: -values[n])
    return [trees[n] for n in order[:width]]
