"""Hill climbing over loop trees: looks some actions ahead and takes the first action towards the best tree, as long as
that is better than the present one."""

from __future__ import annotations

from codegen.tune.search.frame import Trial
from codegen.tune.tree import Tree


def greedy(trial: Trial, ahead: int) -> None:
    """Look `ahead` actions ahead and do the first action of the best way; with the last actions, all of them."""
    here, left = trial.start, trial.budget.steps
    while left > 0:
        ways = _ways(trial, here, min(ahead, left))
        values = trial.values([way[-1] for way in ways])
        best = max(range(len(ways)), key=lambda n: values[n], default=None)
        if best is None or values[best] <= trial.value(here):
            return
        if len(ways[best]) >= left:
            return
        here, left = ways[best][0], left - 1


def _ways(trial: Trial, tree: Tree, ahead: int) -> list[tuple[Tree, ...]]:
    """All ways of up to `ahead` actions, shortest first; of those to one tree, the first."""
    level: list[tuple[Tree, ...]] = [()]
    found: dict[Tree, tuple[Tree, ...]] = {tree: ()}
    for _ in range(ahead):
        longer = []
        for way in level:
            for _, child in trial.space.children(way[-1] if way else tree):
                if child not in found:
                    found[child] = (*way, child)
                    longer.append(found[child])
        level = longer
    return [way for way in found.values() if way]
