"""Operations of a thread of a kernel, as compilers make them of its statements, in straight code and in loops: of their
values `count.py` counts those that are live. Also, polynomials of names, which subscripts are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Union

from codegen.record import record

LOAD, STORE, WORK = "load", "store", "work"
THREAD, PRODUCT, INDEX, POINTER, OFFSET = "thread", "product", "index", "pointer", "offset"  # of subscripts
DIVIDE, ROOT, CALL = "divide", "root", "call"
NARROW, WIDE = 1, 2  # registers of a number of 32 bits, and of 64


@record
class Operation:
    """What makes a value of so many registers from others, by their numbers, or none; `after` have to be complete.
    Values that are the same for all threads of a block are in registers of another kind and are no operations."""

    kind: str
    words: int
    uses: tuple[int, ...] = ()
    after: tuple[int, ...] = ()


@record
class Straight:
    """Operations without a branch, by their numbers, in the order of the source."""

    operations: tuple[int, ...]


@record
class Repeated:
    """A loop. Values that are `kept` are needed when an iteration ends; in the place of those that are `carried`, the
    next iteration has others."""

    parts: tuple["Part", ...]
    kept: tuple[int, ...]
    carried: frozenset[int]


Part = Union[Straight, Repeated]


@record
class ThreadCode:
    """All that a thread does, of so many in a block, with counters of so many registers."""

    operations: tuple[Operation, ...]
    parts: tuple[Part, ...]
    threads: int
    counter: int


Factors = tuple[str, ...]  # of a product of names, in order; of a constant there are none
Polynomial = Mapping[Factors, int]
Terms = tuple[tuple[Factors, int], ...]


def added(a: Polynomial, b: Polynomial, times: int = 1) -> Polynomial:
    out = dict(a)
    for key, n in b.items():
        out[key] = out.get(key, 0) + times * n
    return {key: n for key, n in out.items() if n}


def multiplied(a: Polynomial, b: Polynomial) -> Polynomial:
    out: Polynomial = {}
    for one, n in a.items():
        out = added(out, {tuple(sorted((*one, *other))): m for other, m in b.items()}, n)
    return out
