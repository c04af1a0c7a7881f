"""Checks that the result stores to no element that the original does not store to.

Values cannot tell: an element that is written with what it held before looks untouched. Other threads of the program
may change it meanwhile, though, and it may lie in memory that cannot be written. So both programs are compiled with a
call before every access (`check_watch.c.j2`), and the bytes that the result stores must be among those that the
original stores.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from codegen.checking.harness.codes import Op
from codegen.checking.harness.interface import Harness
from codegen.checking.harness.layout import BufferLayout
from codegen.checking.harness.shared_object import Library, arena, open_library
from codegen.checking.sanitize import subset
from codegen.checking.show import element_text
from codegen.checking.test_sizes.survey import TestVector
from codegen.checking.trials import BATCH, TEAMS, THREADS, WORK, ComparedObjects
from codegen.children.worker import Died, run_limited
from codegen.limits import LimitPassed
from codegen.record import record

INSTANCES = 300_000  # statement instances of one run; about 0.1 s
SEEDS = 3  # of data for each vector: conditions that hold here do not hold there
_DECLARED = "void tw_watch(long, const char *const *, const long *, unsigned char *const *);"


@record
class IntroducedStore:
    """A store of the result that the original does not make."""

    vector: TestVector
    message: str


def watched(vectors: Sequence[TestVector]) -> tuple[TestVector, ...]:
    """Those of the vectors that are run with all accesses watched, on several data."""
    chosen = subset([v for v in vectors if v.work <= INSTANCES])
    return tuple(replace(v, seed=v.seed + 2 * k) for v in chosen for k in range(SEEDS))


def introduced_store(h: Harness, pair: ComparedObjects, vectors: Sequence[TestVector]) -> IntroducedStore | None:
    """The first store that only the result makes. Vectors at which a watched program does not end well tell nothing:
    other runs have shown that the result does whatever the original does. Where one crashes, as sources do that read a
    pointer to a row and then nothing of the row, each vector gets a child of its own."""
    try:
        return run_limited(functools.partial(_first, h, pair, vectors), BATCH)
    except LimitPassed:
        return None
    except Died:
        alone = (introduced_store(h, pair, [v]) for v in vectors) if len(vectors) > 1 else ()
        return next((found for found in alone if found is not None), None)


def _first(h: Harness, pair: ComparedObjects, vectors: Sequence[TestVector]) -> IntroducedStore | None:
    original, result = (open_library(p, pair.numbers, _DECLARED) for p in (pair.original, pair.result))
    for library in (original, result):
        library.lib.tw_threads(THREADS)
    for v in vectors:
        mine = _stored(h, original, original, v)
        for level, (least, team) in product(result.levels, zip(WORK, TEAMS, strict=True)):
            result.lib.tw_levels_up_to(level)
            result.lib.tw_threads(team)
            result.lib.tw_threads_from(least)
            theirs = _stored(h, original, result, v)
            for k, have in enumerate(original.layout(h, v.ins).buffers):
                at = _first_more(mine[k], theirs[k])
                if at is not None:
                    where = _element(h, k, have, v, at)
                    version = pair.version(level)
                    return IntroducedStore(v, f"{version}the result stores to {where}, which the source does not")
    return None


def _first_more(mine: bytes, theirs: bytes) -> int | None:
    """The first byte that is 1 there and 0 here. As one large number each: there are millions of them."""
    more = int.from_bytes(theirs, "little") & ~int.from_bytes(mine, "little")
    return ((more & -more).bit_length() - 1) // 8 if more else None


def _stored(h: Harness, original: Library, library: Library, v: TestVector) -> list[bytes]:
    """A byte for every byte of every buffer: 1 where it is stored while the case runs."""
    ffi, memory = library.ffi, arena(library.ffi, v.sizes)
    fill: Any = original.ffi.cast("void **", memory.args)
    original.call(h.number, Op.FILL, v.ins, fill, original.ffi.new("long *", v.seed))
    library.call(h.number, Op.SET_OWN, v.ins, memory.args, ffi.NULL)
    own = ffi.new("long[]", [int(ffi.cast("long", start)) for start in memory.starts])
    library.call(h.number, Op.TELL_OWN, v.ins, memory.args, own)  # the file's own variables are where they are
    notes = [ffi.new("unsigned char[]", size + 1) for size in v.sizes]
    kept = ffi.new("long[]", v.sizes), ffi.new("unsigned char *[]", notes)
    library.lib.tw_watch(len(notes), ffi.cast("const char **", own), *kept)
    library.call(h.number, Op.RUN_AS_SET, v.ins, memory.args, ffi.NULL)
    library.lib.tw_watch(0, ffi.NULL, ffi.NULL, ffi.NULL)
    return [bytes(ffi.buffer(x, size)) for x, size in zip(notes, v.sizes, strict=True)]


def _element(h: Harness, k: int, have: BufferLayout, v: TestVector, byte: int) -> str:
    """The scalar that a byte of a buffer belongs to."""
    for leaf, (offset, size, count, _) in zip(h.leaves[k], have.leaves, strict=True):
        inside = byte % have.size - offset
        if 0 <= inside < size * count:
            number = byte // have.size * count + inside // size
            return element_text(h.memory.buffers[k], leaf, have.dims, count, number, v.ins[h.slot(k)])
    return f"`{h.memory.buffers[k].base}`"


__all__ = ["IntroducedStore", "introduced_store", "watched"]
