"""Sentences about differences: which element, which values."""
from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from codegen.verify.check_layout import BufferLayout
from codegen.verify.check_leaves import Leaf
from codegen.verify.check_memory import Buffer, Int


def difference_text(
    buffer: Buffer, leaf: Leaf, have: BufferLayout, numbers: Sequence[int], at: int, first: int,
    want: bytes, got: bytes,
) -> str:
    """`C[3][5] is 1.5 and should be 2.5`."""
    kind = numbers[3]
    place = element_text(buffer, leaf, have.dims, numbers[2], at, first)
    return f"{place} is {value_text(got, kind)} and should be {value_text(want, kind)}"


def element_text(buffer: Buffer, leaf: Leaf, dims: Sequence[int], count: int, at: int, first: int) -> str:
    """The C name of scalar number `at`."""
    element, part = divmod(at, count)
    indices: list[int] = []
    for size in reversed(dims):
        indices.insert(0, element % size if size else 0)
        element //= size or 1
    text = buffer.base
    for step in buffer.path:
        text += f"[{indices.pop(0)}]" if step == "*" else step
    if buffer.how not in ("value", "global") or len(dims) > 1 or dims[0] != 1 or buffer.rows != "1":
        indices[0] += first
        text += "".join(f"[{i}]" for i in indices)
    text += leaf.path + (f"[{part}]" if count > 1 else "")
    return text.replace("[0].", "->", 1) if buffer.path[:1] == ("*",) or (buffer.of_structs and dims == (1,)) else text


def value_text(data: bytes, kind: int) -> str:
    """A scalar as C would print it, with every digit that tells it from its neighbours."""
    if kind == 6:
        half = len(data) // 2
        return f"{value_text(data[:half], 1)} + {value_text(data[half:], 1)}i"
    if kind == 1 and len(data) in (4, 8):
        (value,) = struct.unpack("f" if len(data) == 4 else "d", data)
        return f"{value:.{9 if len(data) == 4 else 17}g}" if math.isfinite(value) else str(value)
    if kind in (2, 3, 4, 5):
        return str(int.from_bytes(data, "little", signed=kind in (2, 3)))
    return data.hex()


def values_text(ints: Sequence[Int], values: Sequence[int]) -> str:
    """`n = 5, m = 7`."""
    return ", ".join(f"{i.text} = {v}" for i, v in zip(ints, values, strict=True)) or "its only size"
