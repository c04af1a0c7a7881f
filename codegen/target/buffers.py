"""Memory in which a region keeps all values of some of its variables, for the template `region.c.j2`."""

from __future__ import annotations

from codegen.record import record
from codegen.scop.model import Buffer, Scop


@record
class Room:
    """One block of memory for all of them: the condition under which it is asked for, its size, and the parts."""

    when: str
    bytes: str
    comments: tuple[str, ...]
    parts: tuple[str, ...]  # declarations


def room_of(scop: Scop, guard: str) -> Room | None:
    """None when the region keeps nothing. `guard` must hold as well."""
    if not scop.buffers:
        return None
    tests = [guard] if guard else []
    for b in scop.buffers:
        tests += [f"{t} > 0" for t in b.texts if not t.isdigit()]
    total = " + ".join(f"(double){' * '.join(b.texts)} * sizeof({_elem(scop, b)})" for b in scop.buffers)
    tests.append(f"{total} <= {min(b.limit for b in scop.buffers)}")
    parts = []
    for k, b in enumerate(scop.buffers):
        start = f"tw_align({scop.buffers[k - 1].array} + {_cells(scop.buffers[k - 1])})" if k else "tw_memory"
        parts.append(f"{_elem(scop, b)} *const {b.array} = {start};")
    return Room(
        " && ".join(dict.fromkeys(tests)),
        " + 64 + ".join(f"{_cells(b)} * (long)sizeof({_elem(scop, b)})" for b in scop.buffers),
        tuple(f"all values of `{b.variable}`: {' x '.join(b.texts).replace('(long)', '')}" for b in scop.buffers),
        tuple(parts),
    )


def _cells(b: Buffer) -> str:
    first = b.texts[0] if b.texts[0].startswith("(long)") else f"(long){b.texts[0]}"
    return " * ".join((first, *b.texts[1:]))


def _elem(scop: Scop, b: Buffer) -> str:
    return scop.arrays[b.array].elem.spelling
