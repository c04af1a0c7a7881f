"""Makes test vectors in which two arrays share memory, where the types allow it: equal pointers, and pointers one
element apart. `judge.py` runs them after those with separate arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import prod

from pycparser import c_ast

from codegen.checking.harness.interface import Harness
from codegen.checking.harness.memory import Memory
from codegen.checking.test_sizes.survey import TestVector
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import nodes
from codegen.scop.model import AccessStep, Scop
from codegen.target.guards.alias import may_overlap
from codegen.target.guards.pointers import table_of
from codegen.target.guards.spans import span_pointer

_ANY_ORDER = re.compile(r"\s*(?:omp\b.*\b(?:parallel|for|simd|sections|taskloop)\b|GCC\s+ivdep\b)", re.S)
WORK = (100_000, 3_000)  # statement instances of a larger and a small run
MOST = 24  # runs of one region
_GIVEN = ("pointer", "extern", "inner")  # buffers that a pointer leads to


def overlapping(h: Harness, scop: Scop, trust: bool, vectors: Sequence[TestVector]) -> tuple[TestVector, ...]:
    """Vectors like some of the given ones, in which two arrays share memory. Not those of which the source itself says
    that iterations with both of them are independent of each other: it would not say what it computes."""
    calm = [v for v in vectors if not v.doubtful and not v.special]
    bases = [max(fit, key=lambda v: v.work) for limit in WORK if (fit := [v for v in calm if 0 < v.work <= limit])]
    # What overwrites subscripts may lead anywhere.
    own = {k for k, b in enumerate(h.memory.buffers) if b.base not in h.sources}
    promised = _promised(h.site)
    pairs = [p for p in _buffers(h.memory, scop, trust) if own.issuperset(p)]
    pairs = [p for p in pairs if not any(words.issuperset(h.memory.buffers[k].base for k in p) for words in promised)]
    made = (
        replace(v, overlap=(one, two, shift), last_row=rows)
        for rows in (False, True)
        for shift in (0, 1, -1)
        for one, two in pairs
        for v in dict.fromkeys(bases)
        if not rows or any(_has_rows(h, v, k) for k in (one, two))
    )
    return tuple(islice(made, MOST))


def _has_rows(h: Harness, v: TestVector, buffer: int) -> bool:
    """Do several pointers of a run share a buffer?"""
    b, counts = h.memory.buffers[buffer], []
    for k, step in enumerate(b.path):
        outer = h.memory.find(b.base, b.path[:k]) if step == "*" else None
        counts += [2 if outer is None else v.ins[h.slot(outer) + 1]] if step == "*" else []
    return prod(counts) > 1


def _promised(site: RegionSite) -> list[set[str]]:
    """The names in each statement whose iterations threads or vectors take in any order, as a directive says."""
    everything = c_ast.Compound(list(site.statements))
    found = [everything] if any(map(_any_order, (*site.around, *site.front))) else []
    for block in nodes(everything):
        items = block.block_items or () if isinstance(block, c_ast.Compound) else ()
        for k, item in enumerate(items):
            if _any_order(item):
                found += [x for x in items[k + 1 :] if not isinstance(x, c_ast.Pragma)][:1]
    return [{str(n.name) for n in nodes(x) if isinstance(n, c_ast.ID)} for x in found]


def _any_order(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Pragma) and _ANY_ORDER.match(node.string or "") is not None


def overlap_text(h: Harness, v: TestVector) -> str:
    """How two arrays lie, in words."""
    if v.overlap is None:
        return ""
    one, two, shift = v.overlap
    first, second = (_name(h.memory, k) for k in ((one, two) if shift >= 0 else (two, one)))
    rows = " (the last row)" if v.last_row else ""
    return f", with `{second}` {'one element after' if shift else 'equal to'} `{first}`{rows}"


def _name(memory: Memory, buffer: int) -> str:
    """The pointer that leads to a buffer, the first one of several."""
    b = memory.buffers[buffer]
    text = b.base + "".join("[0]" if step == "*" else step for step in b.path)
    return text.replace("[0].", "->")


def _buffers(memory: Memory, scop: Scop, trust: bool) -> Iterator[tuple[int, int]]:
    """Numbers of buffers with elements of one type that may be the same memory."""
    found: dict[tuple[int, int], None] = {}
    for names in may_overlap(scop, trust):
        numbers = sorted(k for k in (_buffer(memory, scop, n) for n in names) if k is not None)
        if len(set(numbers)) == 2 and all(memory.buffers[k].how in _GIVEN for k in numbers):
            found[numbers[0], numbers[1]] = None
    yield from (pair for pair in found if _type(memory, pair[0]) == _type(memory, pair[1]))


def _type(memory: Memory, buffer: int) -> tuple[object, ...]:
    elem = memory.buffers[buffer].elem
    return (elem.elem, id(elem.struct), len(elem.declarators))


def _buffer(memory: Memory, scop: Scop, name: str) -> int | None:
    """The buffer that holds an array's elements: behind the last pointer on the way to them, or the one with the struct
    around them. None where it is no memory that a test could compare: what data decide about, and rows that hang on
    further pointers."""
    array = scop.arrays[name]
    if not span_pointer(scop, array) if array.opaque else array.rank == 0:
        return None
    at = table_of(scop, name)
    fixed = 0 if at is None else at.steps
    found = {_last_pointer(memory, array.base, a.path, fixed) for _, a in scop.accesses_to(name)}
    return next(iter(found)) if len(found) == 1 else None


def _last_pointer(memory: Memory, base: str, way: Sequence[AccessStep], fixed: int) -> int | None:
    """The buffer behind the last pointer on a way; None where more than one pointer is followed behind a subscript that
    is none of so many fixed steps."""
    path: tuple[str, ...] = ()
    last, behind, subscripts = memory.find(base, ()), 0, 0
    for number, step in enumerate(way):
        if path and (here := memory.find(base, path)) is not None and step.kind != "member":
            last, behind = here, behind + (subscripts > 0)
        subscripts += number >= fixed and step.kind in ("sub", "flat", "data")
        path = (*path, *([] if step.kind == "member" else ["*"]), *([f".{step.text}"] if step.text else []))
    return last if behind <= 1 else None
