"""Actions on a loop tree for searches and learning: one small step at a time, at the cursor.

Published (v1): up, down, swap_up, swap_down, split_4, split_8, split_16. Version 2 adds more factors, the undoing of a
split, and packing; version 3 adds threads. Vectors and unrolling are not chosen: they follow from the order of loops.
Numbers of actions never change within a version: a trained policy depends on them.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.lower.nest.loops import THREADS
from codegen.record import record
from codegen.tune.tree import Loop, Tree, inner, loops, shared

LIMIT = 10  # loops that an observation has room for
LANES = 8  # of the published legality rule: AVX2, fp32


@record
class Action:
    """`kind` is up, down, swap_up, swap_down, split, merge, pack or threads; `factor` belongs to split, `operand` to
    pack."""

    name: str
    kind: str
    factor: int = 0
    operand: str = ""


def _split(factor: int) -> Action:
    return Action(f"split_{factor}", "split", factor)


_MOVES = tuple(Action(name, name) for name in ("up", "down", "swap_up", "swap_down"))
_V1 = (*_MOVES, *map(_split, (4, 8, 16)))
_V2 = (
    *_V1,
    *map(_split, (2, 6, 12, 32, 64)),
    Action("merge", "merge"),
    Action("pack_a", "pack", operand="A"),
    Action("pack_b", "pack", operand="B"),
)
ACTION_SETS: dict[str, tuple[Action, ...]] = {"v1": _V1, "v2": _V2, "v3": (*_V2, Action("threads", "threads"))}


def action(name: str, version: str = "v2") -> Action:
    """The action of that name."""
    for known in ACTION_SETS[version]:
        if known.name == name:
            return known
    raise KeyError(f"no action '{name}' in {version}")


def apply(tree: Tree, act: Action) -> Tree | None:
    """The tree after an action, or None where it is not possible."""
    return _APPLY[act.kind](tree, act)


def replay(tree: Tree, names: Sequence[str], version: str = "v2") -> Tree:
    """The tree after several actions; one that is not possible changes nothing."""
    for name in names:
        tree = apply(tree, action(name, version)) or tree
    return tree


def vectors(tree: Tree, lanes: int) -> bool:
    """Whether the innermost loop is made of whole vectors, or is a single iteration."""
    last = tree.compute[-1].size
    return last == 1 or last % lanes == 0


def allowed(tree: Tree, act: Action, lanes: int = LANES, limit: int = LIMIT) -> Tree | None:
    """The tree after an action that a policy may choose; None where it may not.

    The rules on vectors and on the number of loops apply to what an action changes: the cursor may always move, so that
    there is a way out of a tree that breaks them.
    """
    made = apply(tree, act)
    if made is None or made.compute == tree.compute:
        return made
    fits = vectors(made, lanes) and loops(made) <= limit
    return made if fits and not any(THREADS in loop.pack for loop in made.compute[1:]) else None


def legal(
    tree: Tree, actions: Sequence[Action] = _V1, lanes: int = LANES, limit: int = LIMIT
) -> tuple[bool, ...]:
    """Which of the actions a policy may choose, in their order."""
    return tuple(allowed(tree, a, lanes, limit) is not None for a in actions)


def _up(tree: Tree, _: Action) -> Tree | None:
    return tree._replace(cursor=tree.cursor - 1) if tree.cursor else None


def _down(tree: Tree, _: Action) -> Tree | None:
    return tree._replace(cursor=tree.cursor + 1) if tree.cursor + 1 < len(tree.compute) else None


def _swap_up(tree: Tree, _: Action) -> Tree | None:
    return _swap(tree, tree.cursor - 1, tree.cursor - 1)


def _swap_down(tree: Tree, _: Action) -> Tree | None:
    return _swap(tree, tree.cursor, tree.cursor + 1)


def _swap(tree: Tree, at: int, cursor: int) -> Tree | None:
    """Exchange the loops `at` and `at + 1`; pieces of one variable keep their order and only the cursor moves."""
    if at < 0 or at + 1 >= len(tree.compute):
        return None
    if tree.compute[at].var == tree.compute[at + 1].var:
        return tree._replace(cursor=cursor)
    compute = (*tree.compute[:at], tree.compute[at + 1], tree.compute[at], *tree.compute[at + 2 :])
    write = _exchanged(tree.write, tree.compute[at], tree.compute[at + 1]) if shared(tree) > at else tree.write
    return Tree(tree.problem, compute, write, cursor)


def _exchanged(nest: tuple[Loop, ...], a: Loop, b: Loop) -> tuple[Loop, ...]:
    """The nest that writes back, if it is below the upper loop and has both. Entries are found by value, the first of
    equal ones, as in the published system: the number of states depends on it, the generated code does not."""
    plain = [loop[:3] for loop in nest]
    if a[:3] not in plain or b[:3] not in plain:
        return nest
    places = plain.index(a[:3]), plain.index(b[:3])
    found = list(nest)
    found[places[0]], found[places[1]] = nest[places[1]], nest[places[0]]
    return tuple(found)


def _split_at(tree: Tree, act: Action) -> Tree | None:
    """The new loop inside has `factor` iterations; the outer one keeps the quotient, and the rest as its tail."""
    at = tree.cursor
    loop = tree.compute[at]
    if loop.size < act.factor:
        return None
    step = inner(tree.compute, at)
    quotient, tail = divmod(loop.size * step + loop.tail, act.factor * step)
    pieces = (Loop(loop.var, quotient, tail, loop.pack), Loop(loop.var, act.factor))
    plain = (pieces[0]._replace(pack=""), pieces[1])
    write = (*tree.write[:at], *plain, *tree.write[at + 1 :]) if shared(tree) > at else tree.write
    return Tree(tree.problem, (*tree.compute[:at], *pieces, *tree.compute[at + 1 :]), write, at)


def _merge(tree: Tree, _: Action) -> Tree | None:
    """Undo a split: the next loop over the same variable disappears, and the cursor's loop takes over its part."""
    at, var = tree.cursor, tree.compute[tree.cursor].var
    after = next((n for n in range(at + 1, len(tree.compute)) if tree.compute[n].var == var), None)
    if after is None:
        return None
    write = _merged(tree.write, at, after) if shared(tree) > after else tree.write
    return Tree(tree.problem, _merged(tree.compute, at, after), write, at)


def _merged(nest: tuple[Loop, ...], at: int, after: int) -> tuple[Loop, ...]:
    loop = nest[at]
    size, tail = divmod(loop.size * inner(nest, at) + loop.tail, inner(nest, after))
    return (*nest[:at], Loop(loop.var, size, tail, loop.pack), *nest[at + 1 : after], *nest[after + 1 :])


def _pack(tree: Tree, act: Action) -> Tree | None:
    """Pack an operand before the loop of the cursor, or no longer if it is; an operand is packed once."""
    at, operand = tree.cursor, act.operand
    if any(operand in loop.pack for n, loop in enumerate(tree.compute) if n != at):
        return None
    loop = tree.compute[at]
    pack = "".join(sorted(set(loop.pack) ^ {operand}))
    compute = (*tree.compute[:at], loop._replace(pack=pack), *tree.compute[at + 1 :])
    return tree._replace(compute=compute)


def _threads(tree: Tree, act: Action) -> Tree | None:
    """Threads share the outermost loop, or no longer if they do; it must be one of the result's."""
    first = tree.compute[0]
    if tree.cursor or first.var not in tree.problem.c:
        return None
    pack = "".join(sorted(set(first.pack) ^ {THREADS}))
    return tree._replace(compute=(first._replace(pack=pack), *tree.compute[1:]))


_APPLY = {
    "up": _up,
    "down": _down,
    "swap_up": _swap_up,
    "swap_down": _swap_down,
    "split": _split_at,
    "merge": _merge,
    "pack": _pack,
    "threads": _threads,
}
