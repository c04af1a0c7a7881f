"""Prints a region: from a proven C tree to its new text (`RegionText`), behind tests and with the old text as fallback
where those are needed. `finished.py` lays the text out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from codegen.ast.ctree import CNode
from codegen.print.templates import environment
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.types import LONG_DATA
from codegen.source.language import C, Language
from codegen.source.layout.lexis import blank_comments
from codegen.target.finish.links import FIRST, Links, parts, unmark
from codegen.target.finish.names import NameSpelling
from codegen.target.guards.alias import SEPARATE
from codegen.target.guards.buffers import functions_of, room_of
from codegen.target.guards.computed_parameters import ComputedText, computed_texts, needed, own_declarations
from codegen.target.guards.guard import all_of, guard_text, idle_elsewhere
from codegen.target.pragmas import Threads
from codegen.target.region_views import RegionViews, region_views
from codegen.target.text.pieces import View, reads_of, texts_of, words_of

if TYPE_CHECKING:
    from codegen.lower.nest.kernel import NestKernel
    from codegen.target.matvec.kernel import MatvecKernel
    from codegen.target.matvec.view import MatvecView
    from codegen.target.portable import Portable
    from codegen.target.product.microkernel import MicroKernel
    from codegen.target.product.view import ExactCall, ProductView

# Instruction set, vector width for `generic`, and what it computes.
Kernel: TypeAlias = "tuple[str, int, MicroKernel | MatvecKernel | NestKernel]"
# The same, or kernels among which the compiler's macros choose.
AnyKernel: TypeAlias = "tuple[str, int, MicroKernel | MatvecKernel | NestKernel | Portable]"

_WORD = re.compile(r"[A-Za-z_]\w*")

# What templates call, and the helpers that defines it.
SUPPORT = {
    "tw_min": ("tw_min",),
    "tw_max": ("tw_max",),
    "TW_SIZE": ("tw_size",),
    "TW_SIMD": ("tw_simd",),
    "TW_IVDEP": ("tw_ivdep",),
    "tw_share": ("tw_panels", "tw_share"),
    "tw_panels": ("tw_panels",),
    "tw_crowded": ("tw_crowded",),
    "tw_align": ("tw_align",),
    "tw_alloc": ("tw_align", "tw_alloc"),
    "tw_until": ("tw_until",),
    "TW_ONE_BY_ONE": ("tw_one_by_one",),
    "tw_fit_depth": ("tw_min", "tw_max", "tw_caches"),
    "tw_max_threads": ("tw_max_threads",),
    "tw_most_threads": ("tw_most_threads",),
    "tw_thread": ("tw_team",),
    "tw_tasks": ("tw_min", "tw_max", "tw_tasks"),
    "tw_deal_rows": ("tw_min", "tw_max", "tw_panels", "tw_deal_rows"),
    "tw_grid": ("tw_panels", "tw_grid"),
    "tw_balance": ("tw_max", "tw_balance"),
    "tw_even_tiles": ("tw_min", "tw_max_threads", "tw_line", "tw_even_tiles"),
    "tw_follow": ("tw_min", "tw_max_threads", "tw_team", "tw_line", "tw_follow"),
}


@record
class Locals:
    """Variables in place of members: the region that uses them, their declarations by name, and the test ahead."""

    scop: Scop
    declarations: Mapping[str, str]
    guard: str


@record
class RegionText:
    """A region's new text with the tool's own names, before lines are laid out.

    helpers, kernels  what it calls
    links             which of its lines carry out a statement, and `parts` those of longer parts
    kept              the user's own text in it
    products          the blocked products in it, in order; `matvecs` the matrix-vector products; `nests` the calls of
                      kernels for certain sizes
    locals            members of structs that are read ahead of it
    guard             the part of its test that says what the model assumes
    """

    plain: str
    helpers: frozenset[str]
    kernels: frozenset[Kernel]
    links: Links = ()
    parts: Collection[int] = ()
    kept: str = ""
    computed: tuple[ComputedText, ...] = ()
    products: tuple[ProductView, ...] = ()
    matvecs: tuple[MatvecView, ...] = ()
    nests: tuple[ExactCall, ...] = ()
    locals: Locals | None = None
    guard: str = ""


@record
class Surroundings:
    """What the new text of a region stands in.

    original  its old body, kept as the fallback where a guard is needed, and for one thread where the new text has
              nothing but threads to offer
    summary   the sentence above it
    alias     the test that arrays do not overlap; empty where there is none
    """

    original: str = ""
    indent: str = ""
    summary: str = ""
    alias: str = ""
    names: NameSpelling = field(default_factory=NameSpelling)
    language: Language = C


def emit_region(
    scop: Scop, tree: CNode, around: Surroundings, threads: Threads, threads_only: bool = False
) -> RegionText:
    """The region's new text. `threads_only`: it has nothing but threads to offer."""
    return region_text(region_views(scop, tree, threads, "threads" if threads_only else ""), around)


def region_text(made: RegionViews, around: Surroundings) -> RegionText:
    """The text of a region that is there as views."""
    text, kept, computed = _rendered(around, made)
    marked = FIRST not in around.original
    plain, links = unmark(text) if marked else (text, ())
    every = tuple(all_views(made.views))
    guard = guard_text(made.scop, made.ints)
    return RegionText(
        plain,
        _helpers(made.helpers, plain) | ({LONG_DATA} if made.kernels[0] and _has_long_data(made.scop) else set()),
        made.kernels[0],
        links,
        parts(text) if marked else range(text.count("\n") + 1),
        kept,
        computed,
        products=tuple(v.product for v in every if v.product is not None),
        matvecs=tuple(v.matvec for v in every if v.matvec is not None),
        nests=tuple(x for v in every for x in exact_calls(v)),
        locals=Locals(made.short, made.declarations, guard) if made.declarations else None,
        guard=guard,
    )


def _rendered(around: Surroundings, made: RegionViews) -> tuple[str, str, tuple[ComputedText, ...]]:
    """The text with its tests and what stands ahead; the old body in it, if that is kept; and computed parameters."""
    scop, views, alone = made.scop, made.views, made.threads_only
    tests = (guard_text(scop, made.ints), around.alias, "tw_max_threads() > 1" if alone else "", made.enough)
    guard = all_of(tests)
    reasons = [*scop.guard.reasons, *([SEPARATE] if around.alias else [])]
    if alone or made.enough:
        threads = "more than one thread" if alone else "tiles"
        reasons.append(f"there is {'work for ' if made.enough else ''}{threads}")
    room = room_of(scop, made.tree, guard, words_of(views))
    if room is not None:
        made.ints.helpers.update(functions_of(room.when, room.bytes, *room.parts))
    kept = bool(room or reasons or (guard and not idle_elsewhere(scop)))
    original = deeper(around.original.rstrip("\n")) if kept else ""
    values = {
        "views": views,
        "indent": around.indent,
        "number": scop.region,
        "function": scop.function,
        "summary": around.summary,
        "guard": guard,
        "room": room,
        "reasons": ", and ".join(reasons),
        "original": original,
        "marked": FIRST not in around.original,
        "unused": _unused(scop, views, kept, around.original),
    }
    template = environment().get_template("region.c.j2")
    computed = computed_texts(scop, made.ints)
    text = template.render(values, ahead=())
    new_text = text.replace(original, "")
    waits = ("#pragma omp barrier",) if made.threads == "team" else ()  # nobody is at work on what the loops use
    ahead = (*waits, *own_declarations(scop, new_text), *needed(computed, new_text))
    if ahead:
        text = template.render(values, ahead=ahead, unused=_unused(scop, views, kept, around.original, " ".join(ahead)))
    return text, original, computed


def _helpers(used: set[str], text: str) -> frozenset[str]:
    words = set(re.findall(r"\b(?:tw|TW)_\w+", text))
    return frozenset(used).union(*(SUPPORT[w] for w in words if w in SUPPORT))


def _has_long_data(scop: Scop) -> bool:
    """Whether there are elements of type `long`, for which kernels have another name."""
    return any(a.elem.varies for a in scop.arrays.values())


def all_views(views: Sequence[View]) -> Iterator[View]:
    """All of them, in the order of the text."""
    for v in views:
        yield v
        yield from all_views((*v.body, *v.orelse))


def deeper(text: str) -> str:
    """The fallback's lines moved in by its new nesting; left alone where lines are continued."""
    if "\\\n" in text:
        return text
    return "\n".join("    " + x if x.strip() and not x.lstrip().startswith("#") else x for x in text.split("\n"))


def _unused(scop: Scop, views: Sequence[View], kept: bool, original: str, ahead: str = "") -> list[str]:
    """Variables of the function that only the old text mentioned, or read; compilers would call them unused. No text is
    old when it is kept. What macros of the old text make nothing of is mentioned, too: others may be in force later."""
    if kept:
        return []
    before = set(re.findall(r"[A-Za-z_]\w*", ahead))
    words = words_of(views) | before
    bound = {a.base for a in scop.arrays.values() if a.inside}
    for text in texts_of(views):
        found = re.match(r"(?:const )?(?:long|int) (\w+) =", text)
        if found:
            bound.add(found.group(1))
    only_set = scop.read - reads_of(views) if not any(map(_templated, all_views(views))) else frozenset()
    named = sorted(scop.visible.intersection(_WORD.findall(blank_comments(original))).difference(scop.outside))
    mentioned = (*scop.outside, *named)
    return [n for n in mentioned if n not in words or n in bound or (n in only_set and n not in before)]


def exact_calls(v: View) -> tuple[ExactCall, ...]:
    """The calls that are printed of it: none behind one that always fits."""
    if v.nested is not None:
        return v.nested.exact[:1] if v.nested.always else v.nested.exact
    return v.product.exact if v.product is not None else ()


def _templated(view: View) -> bool:
    """Is its text a template's?"""
    return bool(view.product or view.matvec or view.nested)
