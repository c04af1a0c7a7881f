"""Texts for messages of `check`: the C name of an element (`C[3][5]`), a scalar's value with all its digits, the sizes
of a run."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence

from codegen.checking.harness.codes import Kind
from codegen.checking.harness.leaves import ScalarRun
from codegen.checking.harness.memory import HarnessBuffer, SizeInteger


def element_text(buffer: HarnessBuffer, leaf: ScalarRun, dims: Sequence[int], count: int, at: int, first: int) -> str:
    """The C name of scalar number `at`: `C[3][5]`, `img->data[7]`, `p[2].x`."""
    element, part = divmod(at, count)
    indices: list[int] = []
    for size in reversed(dims):
        indices.insert(0, element % size if size else 0)
        element //= size or 1
    indices[len(indices) - len(buffer.dims) - 1] += first
    steps = [*buffer.path, *["*"] * (1 + len(buffer.dims))] if buffer.indexed else []
    text = buffer.base + "".join(f"[{indices.pop(0)}]" if step == "*" else step for step in steps)
    text += leaf.path + (f"[{part}]" if count > 1 else "")
    return re.sub(r"^(\w+)\[0\]\.", r"\1->", text) if dims[0] == 1 else text


def value_text(data: bytes, kind: int) -> str:
    """A scalar as C would print it, with every digit that tells it from its neighbours."""
    if kind == Kind.COMPLEX:
        half = len(data) // 2
        return f"{value_text(data[:half], Kind.REAL)} + {value_text(data[half:], Kind.REAL)}i"
    if kind == Kind.REAL and len(data) in (4, 8):
        (value,) = struct.unpack("f" if len(data) == 4 else "d", data)
        return f"{value:.{9 if len(data) == 4 else 17}g}" if math.isfinite(value) else str(value)
    if kind in (Kind.CHARACTER, Kind.SIGNED, Kind.UNSIGNED, Kind.BOOLEAN):
        return str(int.from_bytes(data, "little", signed=kind in (Kind.CHARACTER, Kind.SIGNED)))
    return data.hex()


def values_text(ints: Sequence[SizeInteger], values: Sequence[int]) -> str:
    """`n = 5, m = 7`."""
    return ", ".join(f"{i.text} = {v}" for i, v in zip(ints, values, strict=True)) or "its only size"
