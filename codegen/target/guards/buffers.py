"""Returns the block of memory that a region allocates at run time, as `Workspace` for the template `region.c.j2`: room
for expanded variables and for private arrays of threads, its size in bytes, the condition for asking for it, and the
declarations of its parts; None where the region needs no memory. Raises InputError where loops on threads are nested
around a private array."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from math import prod

from codegen.ast.ctree import CNode, Declare, For, Held, node_kids, walk
from codegen.diagnostics import InputError
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import ON_THREADS
from codegen.target.guards.guard import all_of

# Beyond this many bytes for all threads together, regions run as written.
LIMIT = 1 << 30
LINE = 64  # bytes of a line of the cache
LONG = 4 * LINE  # bytes of arrays that are gone through by vectors, and not kept in registers


@record
class Workspace:
    """One block of memory for all of them: the condition under which it is asked for, its size, and the parts."""

    when: str
    bytes: str
    comments: tuple[str, ...]
    parts: tuple[str, ...]  # declarations


def room_of(scop: Scop, code: CNode, guard: str, used: Collection[str] = ()) -> Workspace | None:
    """None when the region asks for nothing. `guard` must hold as well; `used` are the names in the region's text."""
    own = _own(scop, code)
    if not scop.buffers and not own:
        return None
    tests = [guard] if guard else []
    for sizes in (*(b.texts for b in scop.buffers), *(shape(scop, h) for h in own)):
        tests += [f"{t} > 0" for t in sizes if not t.isdigit()]
    totals = [f"(double){' * '.join(b.texts)} * sizeof({_elem(scop, b.array)})" for b in scop.buffers]
    for h in own:
        totals.append(f"tw_most_threads() * (double){' * '.join(shape(scop, h))} * sizeof({_elem(scop, h.array)})")
    tests.append(f"{' + '.join(totals)} <= {min([b.limit for b in scop.buffers] + [LIMIT] * bool(own))}")
    parts, sizes, last = [], [], ""
    for b in scop.buffers:
        parts.append(f"{_elem(scop, b.array)} *const {b.array} = {f'tw_align({last})' if last else 'tw_memory'};")
        sizes.append(f"{_cells(b.texts)} * (long)sizeof({_elem(scop, b.array)})")
        last = f"{b.array} + {_cells(b.texts)}"
    for k, h in enumerate(own):
        start, each = memory_of(h.array)
        lines = f"({_cells(shape(scop, h))} * (long)sizeof({_elem(scop, h.array)}) + 127) / 64 * 64"
        if each in used or k < len(own) - 1:  # one thread steps over nothing
            parts.append(f"const long {each} = {lines};")
        parts.append(f"char *const {start} = {f'tw_align({last})' if last else 'tw_memory'};")
        sizes.append(f"tw_most_threads() * ({lines})")
        last = f"{start} + tw_most_threads() * {each}"
    comments = [f"all values of `{b.variable}`: {_words(b.texts)}" for b in scop.buffers]
    comments += [f"one `{h.array}` for each thread: {_words(shape(scop, h))}" for h in own]
    return Workspace(all_of(dict.fromkeys(tests)), " + 64 + ".join(sizes), tuple(comments), tuple(parts))


def functions_of(*texts: str) -> frozenset[str]:
    """The functions of integers that texts call, sizes of such memory among them: the file has to define them."""
    return frozenset(name for text in texts for name in re.findall(r"\btw_(?:floord|min|max)\b", text))


def shape(scop: Scop, h: Held) -> list[str]:
    """The sizes of a variable of the region where it is declared, as factors of a product."""
    array = scop.arrays[h.array]
    return [_factor(array.extents[k - array.scope]) if s < 0 else str(s) for k, s in enumerate(h.sizes) if s]


def alignment(scop: Scop, h: Held) -> str:
    """What stands ahead of the declaration of a variable of the region: clang puts arrays at any multiple of their
    elements, where vectors lie across two lines of the cache. deriche, Neoverse N1, two passes over columns: 71 ms,
    aligned 53."""
    sizes = shape(scop, h)
    long = sizes and all(s.isdigit() for s in sizes) and prod(map(int, sizes)) * scop.arrays[h.array].elem.bytes >= LONG
    return f"_Alignas({LINE}) " if long else ""


def _factor(text: str) -> str:
    simple = re.fullmatch(r"(\(long\))?\w+", text) or re.fullmatch(r"\((\(long\)|[^()])*\)", text)
    return text if simple else f"({text})"


def memory_of(array: str) -> tuple[str, str]:
    """Names: where the first thread's begins, and how many bytes each of them takes."""
    return f"tw_own_{array}", f"tw_bytes_{array}"


def _own(scop: Scop, code: CNode) -> list[Held]:
    """Variables of which each thread has one, in the memory of the region. That all declarations of one have the same
    shape is proven."""
    found = {h.array: h for n in walk(code) if isinstance(n, Declare) for h in n.slots if scop.arrays[h.array].roomy}
    _check_teams(scop, code, ())
    return [found[name] for name in sorted(found)]


def _check_teams(scop: Scop, node: CNode, teams: tuple[str, ...]) -> None:
    """Threads inside of threads are counted from 0 in every team, so their numbers tell no variables apart."""
    if isinstance(node, For) and node.loop.kind in ON_THREADS:
        teams = (*teams, node.loop.name)
    if isinstance(node, Declare) and len(teams) > 1:
        for h in node.slots:
            if scop.arrays[h.array].roomy:
                why = f"`{h.array}` would be shared by iterations of `{teams[0]}`, as loop `{teams[1]}` has some, too"
                raise InputError("illegal-plan", why, scop.loc, "mark only one of the loops")
    for kid in node_kids(node):
        _check_teams(scop, kid, teams)


def _words(texts: Sequence[str]) -> str:
    return " x ".join(texts).replace("(long)", "")


def _cells(texts: Sequence[str]) -> str:
    first = texts[0] if texts[0].startswith("(long)") else f"(long){texts[0]}"
    return " * ".join((first, *texts[1:]))


def _elem(scop: Scop, array: str) -> str:
    return scop.arrays[array].elem.spelling
