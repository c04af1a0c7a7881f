"""Ownership by enumeration: every iteration of every block, every element, every thread. Slow and sure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

Iteration = tuple[int, ...]


def private_by_hand(
    iterations: Mapping[str, Iterable[Iteration]],
    uses: Sequence[tuple[str, Callable[[Iteration], tuple[int, ...]]]],
    thread: Mapping[str, Callable[[Iteration], tuple[int, ...]]],
    which: int,
) -> bool:
    """Is every element that use number `which` touches used by one thread, counting all uses? One block."""
    users: dict[tuple[int, ...], set[tuple[int, ...]]] = defaultdict(set)
    mine: set[tuple[int, ...]] = set()
    for number, (group, element) in enumerate(uses):
        for it in iterations[group]:
            at = element(it)
            users[at].add(thread[group](it))
            if number == which:
                mine.add(at)
    return all(len(users[e]) == 1 for e in mine)
