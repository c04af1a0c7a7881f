"""Loads the compiled test program and runs its cases; buffers for them, between guard zones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cffi import FFI  # type: ignore[import-untyped]

from codegen.checking.harness.codes import Op
from codegen.checking.harness.interface import Harness
from codegen.checking.harness.layout import BufferLayout, MemoryLayout, layout_length, read_layout
from codegen.record import record

_SCRATCH = 1 << 20  # what a case may scribble on while it only tells sizes
_ZONE = 64  # bytes on either side of a buffer that nobody may touch
_MARK = b"\x5a" * _ZONE


@record
class Library:
    """A shared object with cases. Opening one runs no code of the user's."""

    ffi: Any
    lib: Any

    def call(self, number: int, op: Op, ins: Sequence[int], args: Any, io: Any) -> None:
        """One case."""
        getattr(self.lib, f"tw_case_{number}")(op, self.ffi.new("long[]", [*ins, 0]), args, io)

    @property
    def levels(self) -> range:
        """Versions of functions that this processor has, from 0, the functions themselves."""
        return range(max(0, self.lib.tw_levels()) + 1)

    def layout(self, h: Harness, ins: Sequence[int]) -> MemoryLayout:
        """The sizes of a case. Buffers of unknown size have the count that `ins` gives them."""
        scratch = self.ffi.new("char[]", _SCRATCH)
        count = len(h.memory.buffers)
        args = self.ffi.new("void *[]", [scratch] * count + [self.ffi.NULL])
        length = layout_length(h)
        out = self.ffi.new("long[]", length + 1)
        self.call(h.number, Op.TELL_SIZES, ins, args, out)
        return read_layout(h, list(out[0:length]))

    def differs(self, a: Any, b: Any, have: BufferLayout, leaf: Sequence[int], tolerance: float, slack: float) -> int:
        """The number of the first scalar of a leaf that differs, or -1."""
        numbers = self.ffi.new("long[]", list(leaf))
        return int(self.lib.tw_differs(a, b, have.elements, have.size, numbers, tolerance, slack))

    def nudge(self, a: Any, have: BufferLayout, leaf: Sequence[int]) -> None:
        """Move every real number to one of its neighbours."""
        self.lib.tw_nudge(a, have.elements, have.size, self.ffi.new("long[]", list(leaf)))

    def spread(self, a: Any, b: Any, have: BufferLayout, leaf: Sequence[int]) -> float:
        """How far two versions of a leaf are apart."""
        return float(self.lib.tw_spread(a, b, have.elements, have.size, self.ffi.new("long[]", list(leaf))))


_DECLARED = """
void tw_threads(int);
void tw_threads_from(double);
int tw_levels(void);
void tw_levels_up_to(int);
long tw_differs(const char *, const char *, long, long, const long *, double, double);
void tw_nudge(char *, long, long, const long *);
double tw_spread(const char *, const char *, long, long, const long *);
"""


def open_library(path: Path, numbers: Sequence[int], more: str = "") -> Library:
    """Load a shared object, with `more` declarations; OSError when a symbol is missing."""
    ffi = FFI()
    ffi.cdef(_DECLARED + more)
    for n in numbers:
        ffi.cdef(f"void tw_case_{n}(int, const long *, void **, long *);")
    return Library(ffi, ffi.dlopen(str(path), ffi.RTLD_LAZY))


@record
class Arena:
    """Buffers between zones that must stay as they are. `kept` keeps the memory alive."""

    ffi: Any
    args: Any
    starts: tuple[Any, ...]
    blocks: tuple[tuple[int, Any, int], ...]  # a buffer, and the beginning and size of what lies between two zones
    kept: tuple[Any, ...]

    def damaged(self) -> int | None:
        """The number of a buffer that was written outside of, or None."""
        for k, start, size in self.blocks:
            before, after = self.ffi.buffer(start - _ZONE, _ZONE), self.ffi.buffer(start + size, _ZONE)
            if before[:] != _MARK or after[:] != _MARK:
                return k
        return None


def arena(ffi: Any, sizes: Sequence[int], overlap: tuple[int, int, int] | None = None) -> Arena:
    """Zeroed buffers of these sizes, aligned like malloc's best; of two that overlap, the second begins so many bytes
    after the first."""
    starts, blocks, kept = {}, [], []
    for k, size in enumerate(sizes):
        if overlap is None or k not in overlap[:2]:
            block, starts[k] = _zoned(ffi, size)
            kept.append(block)
            blocks.append((k, starts[k], size))
    if overlap is not None:
        one, two, shift = overlap
        low, high = min(0, shift), max(sizes[one], shift + sizes[two])
        block, start = _zoned(ffi, high - low)
        starts[one], starts[two] = start - low, start - low + shift
        kept.append(block)
        blocks.append((one, start, high - low))
    ordered = tuple(starts[k] for k in range(len(sizes)))
    args = ffi.new("void *[]", [*ordered, ffi.NULL])
    return Arena(ffi, args, ordered, tuple(blocks), (*kept, args))


def _zoned(ffi: Any, size: int) -> tuple[Any, Any]:
    """Memory with a zone on either side, and where it begins behind the first."""
    block = ffi.new("char[]", size + 3 * _ZONE)
    address = int(ffi.cast("uintptr_t", block))
    start = block + (_ZONE - address % _ZONE) % _ZONE + _ZONE
    ffi.memmove(start - _ZONE, _MARK, _ZONE)
    ffi.memmove(start + size, _MARK, _ZONE)
    return block, start
