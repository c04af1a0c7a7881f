"""Returns the texts that the declaration of a region's own variable may have in print, and raises Unread where a
variable is used whose declaration was left out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codegen.ast.ctree import Held
from codegen.scop.model import Scop
from codegen.target.guards.buffers import shape
from codegen.verify.loops.events import Event
from codegen.verify.text.read import Unread

ALIGNED = "_Alignas(64) "  # of no concern to values


def declaration(scop: Scop, h: Held, threads: bool) -> tuple[str, ...]:
    """The texts that a declaration may have. A value that it begins with is read by nobody: that every read finds what
    was written before is proven. Memory that a region asked for is taken by the number of the thread where several are
    at work."""
    array, sizes = scop.arrays[h.array], shape(scop, h)
    if array.roomy:
        rows = "".join(f"[{s}]" for s in sizes[1:])
        name = f"(*const restrict {array.name}){rows}" if rows else f"*const restrict {array.name}"
        first, each = f"tw_own_{h.array}", f"tw_bytes_{h.array}"
        own = f"{array.elem.spelling} {name} = (void *)({first} + tw_thread() * {each});"
        return (own,) if threads else (own, f"{array.elem.spelling} {name} = (void *)({first});")
    text = f"{array.elem.spelling} {array.name}{''.join(f'[{s}]' for s in sizes)}"
    ways = f"{text};", f"{text} = 0;", f"{text} = {{0}};"
    return (*ways, *(f"{ALIGNED}{way}" for way in ways))


def omitted(names: Sequence[str], events: Sequence[Event]) -> None:
    """Raises Unread where a variable is used that was not declared."""
    for name in names:
        if any(name in e.text and re.search(rf"(?<![.\w])(?<!->){name}\b", e.text) for e in events):
            raise Unread(f"`{name}` is used and not declared")
