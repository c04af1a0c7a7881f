"""Loads the TOML tables in `data/` as `Isa` records.

A table gives words for each type in [types], words for all types in [words], and patterns for groups of types in
[ops.*]; <word> stands for that word of the type. [broadcast] gives the cost of bringing a value into every lane, by
groups of types, [fold] what may stand in for minima and maxima in chains (see `fast_paths.py`). Of several groups that
a type belongs to, the narrowest wins; an empty pattern means that the type has no such operation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from codegen.isa.common import common, underlying
from codegen.isa.known import own
from codegen.isa.model import C_TYPES, LONGEST_BITS, Isa, Vec, bits_of, is_float
from codegen.isa.widths import OPEN, opened
from codegen.resources import data_dir, toml
from codegen.scop.lanes import ELEMENTS

GENERIC_BITS = 128
_WORD = re.compile(r"<(\w+)>")


@cache
def load(name: str, vector_bits: int = GENERIC_BITS) -> Isa:
    """The instruction set called `name`. `vector_bits` is the width for `generic`, and the most
    that it may be where it is left open; the others know theirs."""
    if name == OPEN:
        return opened(load("generic", vector_bits))
    if underlying(name):
        return common(load(underlying(name), vector_bits))
    mine = own(name)
    return isa_of(name, table(name) if mine is None else mine.table, vector_bits)


def table(name: str) -> dict[str, Any]:
    """A built-in table."""
    return toml(data_dir("isa") / f"{name}.toml")[1]


def isa_of(name: str, data: Mapping[str, Any], vector_bits: int = GENERIC_BITS) -> Isa:
    """The instruction set that a table describes."""
    bits = int(data.get("vector_bits", vector_bits))
    return Isa(
        name=name,
        prefix=f"tw_{name}" if "vector_bits" in data else f"tw_v{bits}",
        header=data["header"],
        target=data["target"],
        bits=bits,
        registers=int(data["registers"]),
        typedefs=_typedefs(data, bits),
        vecs=tuple(_vec(data, elem, bits) for elem in ELEMENTS),
        processor=data.get("processor", ""),
        enabled=data.get("enabled", ""),
    )


def groups(elem: str) -> tuple[str, ...]:
    """The groups a type belongs to, widest first."""
    if is_float(elem):
        return ("all", "float", elem)
    return ("all", "int", "signed" if elem[0] == "i" else "unsigned", f"int{bits_of(elem)}", elem)


def _words(data: Mapping[str, Any], elem: str, bits: int) -> dict[str, str]:
    """What <word> means for a type: the table's own words, and some that every table can use."""
    width = bits_of(elem)
    given = {
        "elem": elem,
        "scalar": C_TYPES[elem],
        "width": str(width),
        "bytes": str(bits // 8),
        "lanes": str(bits // width),
        "most": str(LONGEST_BITS // width),
        "copies": ", ".join(["x"] * (bits // width)),
    }
    return {**given, **data.get("words", {}), **data.get("types", {}).get(elem, {})}


def _fill(pattern: str, words: dict[str, str]) -> str:
    """The pattern with its words in place; words may use words."""
    return _WORD.sub(lambda m: _fill(words[m[1]], words), pattern) if "<" in pattern else pattern


def _vec(data: Mapping[str, Any], elem: str, bits: int) -> Vec:
    words = _words(data, elem, bits)
    ops: dict[str, str] = {}
    for group in groups(elem):
        ops.update(data["ops"].get(group, {}))
    filled = {name: _fill(pattern, words) for name, pattern in ops.items() if pattern}
    return Vec(
        elem=elem,
        vector=_fill(words["vector"], words),
        mask=_fill(words["mask"], words),
        lanes=_fill(words["lanes"], words),
        group=128 // bits_of(elem) if "fma_lane" in filled else 0,
        broadcast=next(data["broadcast"][g] for g in reversed(groups(elem)) if g in data["broadcast"]),
        ops=tuple(filled.items()),
        folds=tuple(data.get("fold", {}).items()) if is_float(elem) else (),
        half=words.get("half", ""),
    )


def _typedefs(data: Mapping[str, Any], bits: int) -> tuple[tuple[str, str], ...]:
    """Vector types that no header gives."""
    found = []
    for kind in ("typedef", "typedef_unaligned"):
        for words in (_words(data, elem, bits) for elem in ELEMENTS if kind in data):
            found.append((_fill(data[kind]["name"], words), _fill(data[kind]["text"], words)))
    return tuple(found)
