"""Bounds on isl's work, counted in its own operations.

A count is the same on every machine under any load, up to about one part in a thousand: isl's scheduler keeps tables by
address. So a bound may choose between results, which a clock may not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl

# A nominal second. A slow core does 1.5 to 4 million operations in a real one, Python's part included.
PER_SECOND = 4_000_000


class Exhausted(Exception):
    """isl has used up the operations it was given."""


class NoMemory(MemoryError):
    """isl was refused memory. That says nothing about the region, so it must not choose a plan."""


def part(seconds: float, of: int) -> int:
    """The operations of one stage of a region that gets so many nominal seconds: one part `of` so many."""
    return max(1, int(seconds * PER_SECOND / of))


@contextmanager
def at_most(operations: int) -> Iterator[None]:
    """isl may take so many operations inside. Raises Exhausted past them, whatever came of that inside.

    One bound may stand in another, which then begins to count anew behind it.
    """
    ctx = isl.DEFAULT_CONTEXT
    around = ctx.get_max_operations()
    ctx.reset_operations()
    ctx.set_max_operations(operations)
    try:
        yield
    except Exception as error:
        if _used_up(ctx):
            raise Exhausted() from error
        if isinstance(error, isl.Error) and "allocation failure" in str(error):
            raise NoMemory() from error
        raise
    finally:
        ctx.reset_operations()
        ctx.set_max_operations(around)


def _used_up(ctx: isl.Context) -> bool:
    """isl's errors do not tell, but then not even this can be done."""
    try:
        isl.Space.params_alloc(ctx, 0)
    except isl.Error:
        return True
    return False
