"""Episodes to begin with: register tiles, reached step by step, the one that an estimate likes best for each product.

A tile of C that stays in registers through the sum takes seven actions, of which the first make the tree slower: chance
finds it rarely. Ways are written as actions, so that the policy learns how to get there; the estimate says which one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from codegen.record import record
from codegen.tune.actions import ACTION_SETS, LANES, allowed
from codegen.tune.contraction import Contraction
from codegen.tune.learn.policy import STEPS
from codegen.tune.tree import Tree, start

FACTORS = (4, 8, 16)


@record
class Demo:
    """A path of trees, and the number of the action that leads from each to the next."""

    path: tuple[Tree, ...]
    chosen: tuple[int, ...]


def ways() -> Iterator[tuple[str, ...]]:
    """From i, k, j: tiles of some rows and columns, with blocks of rows or of columns outside; rows alone; columns
    alone; and nothing at all."""
    yield ()
    for rows, columns in product(FACTORS, repeat=2):
        tile = (f"split_{rows}", "swap_down", "swap_down", "down", f"split_{columns}", "swap_up", "swap_up")
        yield tile
        yield (*tile, "swap_up")
    for columns in FACTORS:
        flat = ("down", "down", f"split_{columns}", "swap_up")
        yield flat
        yield (*flat, "swap_up")
        for more in FACTORS:  # a row of several vectors, which stays in registers
            yield ("down", "down", f"split_{more}", f"split_{columns}", "swap_up", "swap_up")
            yield ("down", "down", f"split_{columns}", f"split_{more}", "swap_up", "swap_up")


def demo(problem: Contraction, way: Sequence[str], version: str = "v1", lanes: int = LANES) -> Demo | None:
    """The way from the start, filled up with moves of the cursor; None where a step is not allowed."""
    actions = ACTION_SETS[version]
    names = [a.name for a in actions]
    path, chosen = [start(problem)], list[int]()
    for name in way:
        at = names.index(name)
        made = allowed(path[-1], actions[at], lanes)
        if made is None:
            return None
        path.append(made)
        chosen.append(at)
    while len(chosen) < STEPS:
        at = names.index("up" if path[-1].cursor else "down")
        made = allowed(path[-1], actions[at], lanes)
        if made is None:
            return None
        path.append(made)
        chosen.append(at)
    return Demo(tuple(path), tuple(chosen))
