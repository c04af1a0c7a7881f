"""Prints the C texts of the test harness: for each region a function on buffers (declarations, sizes, fills, the region
itself, what is copied back), and the shared files that run cases, run them on ranks, or watch stores."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from codegen.checking.harness.codes import as_c
from codegen.checking.harness.declare import copies, declarations, moves
from codegen.checking.harness.interface import FunctionPlace, Harness
from codegen.checking.harness.leaves import ScalarRun
from codegen.print.templates import environment
from codegen.record import record
from codegen.source.language import CXX

_THIS = re.compile(r"\bthis\s*->\s*")


@record
class Fill:
    """One call of tw_fill, as C texts."""

    buffer: int
    leaf: tuple[str, ...]
    count: str
    size: str
    row: str


def runtime_text() -> str:
    """The part that all programs share, the same for every file."""
    return environment().get_template("check_runtime.c.j2").render(codes=as_c())


def ranks_text() -> str:
    """What runs results on several ranks."""
    return environment().get_template("check_ranks.c.j2").render(codes=as_c())


def watch_text() -> str:
    """What takes note of stores."""
    return environment().get_template("check_watch.c.j2").render()


def cases_text(cases: Sequence[tuple[Harness, str]], marked: Collection[int] = (), mark: str = "") -> str:
    """A function for each region with its text, to stand below the file it comes from. Those of `marked` numbers have
    a mark before them, behind their brace and behind them."""
    cxx = any(h.place.language is CXX for h, _ in cases)
    shared = sorted({shared for h, _ in cases for shared in h.memory.shared})
    views = [{**_view(h, body), "mark": mark if h.number in marked else ""} for h, body in cases]
    template = environment().get_template("check_case.c.j2")
    return template.render(cases=views, shared=() if cxx else shared, cxx=cxx, codes=as_c())


def _view(h: Harness, body: str) -> dict[str, object]:
    return {
        "number": h.number,
        "declarations": list(declarations(h)),
        "layout": list(_layout(h)),
        "fills": list(_fills(h)),
        "body": _free(body, h.place).rstrip("\r\n"),
        "stores": [*moves(h), *copies(h, out=True)],
        "scope": h.place.scope,
        "usings": h.place.usings,
        "objects": h.place.objects,
        "undefined": h.memory.undefined,
        "globals": [(k, b.base) for k, b in enumerate(h.memory.buffers) if b.how == "global"],
    }


def _free(body: str, place: FunctionPlace) -> str:
    """A region as part of a function of no class, where members are variables."""
    return _THIS.sub("", body) if place.objects else body


def _layout(h: Harness) -> Iterator[str]:
    """What the function tells about sizes: integers; for each computed parameter whether it is defined, and its value;
    per buffer its element size, elements, row length, sizes from the outermost in, leaves; then the declared sizes of
    all levels. `harness/layout.py` reads it."""
    late = ("element", "apart", "before")
    yield from (f"tw_in[{k}]" if i.how in late else i.text for k, i in enumerate(h.memory.ints))
    yield from (x for d in h.computed for x in (f"tw_defined_{d.name}", d.name))
    for k in range(len(h.memory.buffers)):
        sizes = h.sizes(k)
        yield from (f"sizeof(tw_e{k})", " * ".join(sizes), h.row(k), *sizes)
        for leaf in h.leaves[k]:
            yield from _leaf(k, leaf)
    yield from (level.size for level in h.memory.levels)


def _fills(h: Harness) -> Iterator[Fill]:
    for k in range(len(h.memory.buffers)):
        base = h.memory.buffers[k].base
        kind = "TW_DISTINCT" if base in h.site.unequal else "TW_INDEX" if base in h.sources else "TW_KIND"
        for leaf in h.leaves[k]:
            yield Fill(k, _leaf(k, leaf, kind), " * ".join(h.sizes(k)), f"sizeof(tw_e{k})", h.row(k))


def _leaf(k: int, leaf: ScalarRun, what: str = "TW_KIND") -> tuple[str, ...]:
    """Offset, size, count and kind."""
    whole = f"(*(tw_e{k} *)0){leaf.path}"
    offset = f"__builtin_offsetof(tw_e{k}, {leaf.path[1:]})" if leaf.path else "0"
    kind = "0" if leaf.opaque else f"{what}({whole}{leaf.first})"
    return offset, f"sizeof({whole}{leaf.first})", f"sizeof({whole}) / sizeof({whole}{leaf.first})", kind
