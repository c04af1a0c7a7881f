"""Chooses loop trees to measure for training: some at random, some that are thought to be good."""

from __future__ import annotations

from random import Random

from codegen.isa.model import Isa
from codegen.record import record
from codegen.tune.actions import ACTION_SETS, LANES, allowed
from codegen.tune.contraction import Contraction
from codegen.tune.learn.demos import demo, ways
from codegen.tune.learn.estimate import Value
from codegen.tune.search.tiles import family
from codegen.tune.tree import Tree, key, start


def wander(problem: Contraction, steps: int, version: str, random: Random, lanes: int = LANES) -> list[Tree]:
    """The trees of a random walk; splits are rarer than other steps, or all loops would be split at once."""
    path = [start(problem)]
    actions = ACTION_SETS[version]
    weights = [0.6 if a.kind in ("split", "merge") else 1.0 for a in actions]
    for _ in range(steps):
        made = [allowed(path[-1], a, lanes) for a in actions]
        able = [(t, w) for t, w in zip(made, weights, strict=True) if t is not None]
        path.append(random.choices([t for t, _ in able], [w for _, w in able])[0])
    return path


@record
class Actions:
    """The actions on trees that may be taken: a version of their set, and the lanes of vectors."""

    version: str
    lanes: int = LANES


def strange(problem: Contraction, count: int, version: str, random: Random, lanes: int = LANES) -> list[Tree]:
    """Different trees of random walks."""
    found: dict[str, Tree] = {}
    for _ in range(4 * count):
        tree = wander(problem, random.randint(1, 12), version, random, lanes)[-1]
        found.setdefault(key(tree), tree)
        if len(found) == count:
            break
    return list(found.values())


def designed(problem: Contraction, count: int, value: Value, isa: Isa, random: Random) -> list[Tree]:
    """Register tiles with blocks around them, whatever their sizes."""
    return _mostly_best(list(family(problem, isa)), count, value, random)


def shown(problem: Contraction, count: int, isa: Isa, among: Actions, value: Value, random: Random) -> list[Tree]:
    """The ends of ways that may become demonstrations."""
    every = ways(among.version, isa.registers * isa.lanes_max(problem.elem))
    ends = [d.path[-1] for way in every if (d := demo(problem, way, among.version, among.lanes)) is not None]
    return _mostly_best(list({key(t): t for t in ends}.values()), count, value, random)


def _mostly_best(trees: list[Tree], count: int, value: Value, random: Random) -> list[Tree]:
    """Two thirds of those that are thought to be among the best, and others."""
    worth = value(trees)
    ranked = [t for _, t in sorted(zip(worth, trees, strict=True), key=lambda x: -x[0])]
    best, rest = ranked[: 3 * count], ranked[3 * count :]
    some = random.sample(best, min(len(best), 2 * count // 3))
    return some + random.sample(rest, min(len(rest), count - len(some)))


def promising(
    problem: Contraction, count: int, among: Actions, value: Value, random: Random, width: int = 12
) -> list[Tree]:
    """Some of the best that a beam with an estimate meets: the trees on which the estimate must not be wrong."""
    level, met = [start(problem)], dict[str, tuple[float, Tree]]()
    for _ in range(10):
        reached = {k: t for tree in level for k, t in _next(tree, among.version, among.lanes)}
        worth = value(list(reached.values()))
        ranked = sorted(zip(worth, reached.values(), strict=True), key=lambda x: -x[0])[:width]
        met.update((key(t), (w, t)) for w, t in ranked)
        level = [t for _, t in ranked]
    best = sorted(met.values(), key=lambda x: -x[0])[: 3 * count]
    return [t for _, t in random.sample(best, min(count, len(best)))]


def _next(tree: Tree, version: str, lanes: int) -> list[tuple[str, Tree]]:
    made = (allowed(tree, a, lanes) for a in ACTION_SETS[version])
    return [(f"{key(t)} {t.cursor}", t) for t in made if t is not None]
