"""Reads back the sizes that a harness case reports, and computes the memory that one run needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from codegen.checking.harness.interface import Harness
from codegen.checking.harness.memory import HarnessBuffer
from codegen.record import record


@record
class BufferLayout:
    """Numbers of one buffer. `dims` are the sizes from the variable in; a leaf is offset, size, count, kind."""

    size: int
    elements: int
    row: int
    dims: tuple[int, ...]
    leaves: tuple[tuple[int, ...], ...]

    @property
    def bytes(self) -> int:
        return self.size * self.elements


@record
class MemoryLayout:
    """The answer of a case for certain integers. `levels` are the declared sizes, as in Memory. Where it is not
    `defined`, the source divides by zero."""

    ints: tuple[int, ...]
    computed: tuple[int, ...]
    defined: bool
    buffers: tuple[BufferLayout, ...]
    levels: tuple[int, ...]

    @property
    def bytes(self) -> int:
        return sum(b.bytes for b in self.buffers)


def last_row(b: HarnessBuffer, have: BufferLayout) -> int:
    """The element at which the last of the rows begins that pointers to a buffer share; 0 where there is one."""
    rows = prod(have.dims[: b.path.count("*")])
    return have.elements - have.elements // rows if rows > 0 else 0


def layout_length(h: Harness) -> int:
    """How many numbers a case answers with."""
    per_buffer = [3 + _rank(b) + 4 * len(own) for b, own in zip(h.memory.buffers, h.leaves, strict=True)]
    return len(h.memory.ints) + 2 * len(h.computed) + sum(per_buffer) + len(h.memory.levels)


def _rank(b: HarnessBuffer) -> int:
    return b.path.count("*") + 1 + len(b.dims)


def read_layout(h: Harness, numbers: Sequence[int]) -> MemoryLayout:
    """The numbers in the order of `_layout` in `harness/emit.py`."""
    rest = iter(numbers)
    ints, pairs = _take(rest, len(h.memory.ints)), _take(rest, 2 * len(h.computed))
    buffers = []
    for b, own in zip(h.memory.buffers, h.leaves, strict=True):
        size, elements, row, *dims = _take(rest, 3 + _rank(b))
        buffers.append(BufferLayout(size, elements, row, tuple(dims), tuple(_take(rest, 4) for _ in own)))
    return MemoryLayout(ints, pairs[1::2], all(pairs[::2]), tuple(buffers), _take(rest, len(h.memory.levels)))


def _take(numbers: Iterator[int], n: int) -> tuple[int, ...]:
    return tuple(next(numbers) for _ in range(n))
