"""Bounds on isl's work, counted in its own operations.

A count is the same on every machine under any load, up to about one part in a thousand: isl's scheduler keeps tables by
address. So a bound may choose between results, which a clock may not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl

from codegen.record import mutable

# A nominal second. A slow core does 1.5 to 4 million operations in a real one, Python's part included.
PER_SECOND = 4_000_000


# Operations for a character of text that is parsed, or gone through by all passes over a function: 5 us each on fast
# cores (a function of 1,000 loops: 59,000 characters, 0.5 s on a slow one).
PER_CHARACTER = 20


class Exhausted(Exception):
    """isl has used up the operations it was given."""


class NoMemory(MemoryError):
    """isl was refused memory. That says nothing about the region, so it must not choose a plan."""


def reading(text: str) -> int:
    """The operations that it takes to parse a text once."""
    return PER_CHARACTER * len(text)


def part(seconds: float, of: int) -> int:
    """The operations of one stage of a region that gets so many nominal seconds: one part `of` so many."""
    return max(1, int(seconds * PER_SECOND / of))


@mutable
class Spent:
    """What was used of a bound, once that is behind."""

    operations: int = 0


@contextmanager
def at_most(operations: int, spent: Spent | None = None) -> Iterator[None]:
    """isl, and whatever else counts its work, may take so many operations inside. Raises Exhausted past them, whatever
    came of that inside; `spent` is told how many it took.

    One bound may stand in another: what is taken inside counts for both, and is never more than the outer one has left.
    """
    ctx = isl.DEFAULT_CONTEXT
    around = ctx.get_max_operations()
    left = max(1, around - _taken(ctx)) if around else 0
    own = min(operations, left) if around else operations
    ctx.reset_operations()
    ctx.set_max_operations(own)
    try:
        yield
    except Exception as error:
        if _used_up(ctx):
            raise Exhausted() from error
        if isinstance(error, isl.Error) and "allocation failure" in str(error):
            raise NoMemory() from error
        raise
    finally:
        taken = min(own, own - ctx.get_max_operations() + _taken(ctx))
        if spent is not None:
            spent.operations = taken
        ctx.reset_operations()
        ctx.set_max_operations(max(1, left - taken) if around else 0)


def spend(operations: int) -> None:
    """Count work that is not isl's. Raises Exhausted where that is more than the bound around has left."""
    ctx = isl.DEFAULT_CONTEXT
    around = ctx.get_max_operations()
    if around:
        ctx.set_max_operations(max(1, around - operations))
        if _used_up(ctx):
            raise Exhausted()


def _taken(ctx: isl.Context) -> int:
    """How many operations isl has counted of its bound. It does not tell, but whether a bound is used up it does."""
    bound = ctx.get_max_operations()
    if not bound:
        return 0
    low, high = 0, bound
    try:
        while low < high:
            at = (low + high + 1) // 2
            ctx.set_max_operations(at)
            if _used_up(ctx):
                low = at
            else:
                high = at - 1
    finally:
        ctx.set_max_operations(bound)
    return low


def _used_up(ctx: isl.Context) -> bool:
    """isl's errors do not tell, but then not even this can be done."""
    try:
        isl.Space.params_alloc(ctx, 0)
    except isl.Error:
        return True
    return False
