"""Demonstration episodes for training: register tiles, reached step by step.

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
ROWS, COLUMNS, BLOCKS = (2, 4, 6, 8, 12, 16), (8, 12, 16, 32, 64), (2, 4, 8, 16)  # of version 2
ROOM = 128  # elements in the registers: 32 vectors of 4, or 16 of 8


@record
class Demo:
    """A path of trees, and the number of the action that leads from each to the next."""

    path: tuple[Tree, ...]
    chosen: tuple[int, ...]


def ways(version: str = "v1", room: int = ROOM) -> Iterator[tuple[str, ...]]:
    """From i, k, j: tiles of some rows and columns, in blocks of one level or two; with the actions of version 1 also
    columns alone, with those of version 2 packed operands."""
    yield ()
    if version == "v1":
        for rows, columns in product(FACTORS, repeat=2):
            yield from _tile(rows, columns, FACTORS)
        yield from _flat()
        return
    for rows, columns in product(ROWS, COLUMNS):
        if 3 * room // 8 <= rows * columns < 7 * room // 8:  # enough to be busy, and room for operands
            yield from _tile(rows, columns, BLOCKS)
            yield from _tile(rows, columns, BLOCKS, ("pack_b",))
            yield (*_steps(rows, columns), "pack_a")
            yield (*_steps(rows, columns), "swap_up", "pack_a")
            yield (*_steps(rows, columns, ("pack_b",)), "pack_a")


def _steps(rows: int, columns: int, before: tuple[str, ...] = ()) -> tuple[str, ...]:
    """`i28 j8* k192 i4 j16`: blocks of rows, in each the blocks of columns; `before` is done to the loop over rows."""
    inward = ("swap_down", "swap_down", "down")
    return (f"split_{rows}", *before, *inward, f"split_{columns}", "swap_up", "swap_up")


def _tile(rows: int, columns: int, blocks: Sequence[int], before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Blocks in both orders; columns in larger blocks outside, which stay in the first cache; and rows in such."""
    tile = _steps(rows, columns, before)
    yield tile
    yield (*tile, "swap_up")
    for block in blocks:
        yield (*tile, f"split_{block}", "swap_up")
        if not before:
            yield (*_steps(rows, columns, (f"split_{block}", "swap_down")), "swap_up")


def _flat() -> Iterator[tuple[str, ...]]:
    """Columns alone, of one vector or of several: a row that stays in registers."""
    for columns in FACTORS:
        flat = ("down", "down", f"split_{columns}", "swap_up")
        yield flat
        yield (*flat, "swap_up")
        for more in FACTORS:
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
