"""The compiler's own vectors under names that leave their width open: a macro of the file says how long they are, and
the compiler's macros choose it."""

from __future__ import annotations

import re
from dataclasses import replace

from codegen.isa.model import Isa, Vec, bits_of

WIDTHS = (16, 32, 64)  # bytes of a vector, where the compiler's macros choose
OPEN = "open"  # what `load` knows them by, with the bits of the longest
WIDE = 8  # elements from which on a vector is one of the wide ones
PREFIX = "tw_open"
_VECTOR = re.compile(r"\btw_(f\d+)x\d+u?\b")


def vector_name(elem: str) -> str:
    """The type of vectors."""
    return f"tw_{elem}v"


def lanes_macro(elem: str) -> str:
    """The macro that has the number of their elements."""
    return f"TW_{elem.upper()}_LANES"


def is_open(isa: Isa) -> bool:
    return isa.prefix == PREFIX


def opened(isa: Isa) -> Isa:
    """An instruction set of the compiler's own vectors, floating-point types alone, without their width."""
    vecs = tuple(_opened(v) for v in isa.vecs if v.elem in ("f64", "f32"))
    return replace(isa, name=OPEN, prefix=PREFIX, typedefs=(), vecs=vecs)


def at_width(isa: Isa, width: int) -> Isa:
    """The same, where vectors have so many bytes."""
    return replace(isa, bits=8 * width)


def lanes_at(elem: str, width: int) -> int:
    return 8 * width // bits_of(elem)


def _opened(vec: Vec) -> Vec:
    name = vector_name(vec.elem)
    plain = [(op, _VECTOR.sub(name, text)) for op, text in vec.ops]
    return replace(vec, vector=name, lanes=lanes_macro(vec.elem), ops=tuple(x for x in plain if _known(*x)))


def _known(op: str, text: str) -> bool:
    """Operations whose text has no other vectors, and no number of lanes."""
    return not re.search(r"\btw_[iu]\d+x\d+", text) and not text.startswith("{{")
