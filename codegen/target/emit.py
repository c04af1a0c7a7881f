"""Prints a region: from a proven C tree to the text that replaces it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, TypeAlias

from codegen.ast.ctree import CNode
from codegen.record import record
from codegen.scop.model import Scop
from codegen.source.language import C, Language
from codegen.target.finish.braces import unwrapped
from codegen.target.finish.cxx import in_language
from codegen.target.finish.extremes import flattened, used
from codegen.target.finish.links import FIRST, Links, parts, spread, unmark
from codegen.target.finish.names import NameSpelling
from codegen.target.finish.outline import outlined
from codegen.target.finish.rows import laid_out
from codegen.target.guards.alias import SEPARATE
from codegen.target.guards.buffers import room_of
from codegen.target.guards.computed_parameters import ComputedText, computed_texts, needed, own_declarations
from codegen.target.guards.guard import all_of, guard_text, idle_elsewhere
from codegen.target.guards.locals import with_locals
from codegen.target.guards.tile_offsets import ahead_numbers
from codegen.target.pragmas import Threads, pragma_makers
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import View, reads_of, texts_of, words_of
from codegen.target.text.templates import environment
from codegen.target.view import ViewBuilder, reserved

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
    "tw_max_threads": ("tw_max_threads",),
    "tw_most_threads": ("tw_most_threads",),
    "tw_thread": ("tw_team",),
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
    """Replacement text of a region, the helpers and kernels it calls, and which of its lines belong to a statement."""

    text: str
    helpers: frozenset[str]
    kernels: frozenset[Kernel]
    links: Links = ()
    names: frozenset[str] = frozenset()  # of macros, and of all generated code where the user chose how they begin
    computed: tuple[ComputedText, ...] = ()
    plain: str = ""  # the text with the tool's own names
    products: tuple[ProductView, ...] = ()  # the blocked products in it, in order
    matvecs: tuple[MatvecView, ...] = ()  # the matrix-vector products in it, in order
    nests: tuple[ExactCall, ...] = ()  # calls of kernels for certain sizes, in order
    locals: Locals | None = None  # members of structs that are read ahead of it
    guard: str = ""  # the part of its test that says what the model assumes
    portable: Portable | None = None  # kernels that it calls in place of those, chosen by the compiler's macros

    @property
    def called(self) -> frozenset[AnyKernel]:
        """The kernels that the text calls."""
        if self.portable is None:
            return self.kernels
        isa, bits, _ = self.portable.variants[-1].kernels[0]
        return frozenset((*self.portable.shared, (isa, bits, self.portable)))


@record
class Surroundings:
    """What the new text of a region stands in.

    original  its old body, kept as the fallback where a guard is needed, and for one thread where the new text has
              nothing but threads to offer
    summary   the sentence above it
    alias     the test that arrays do not overlap; empty where there is none
    others    the new text for other machines, each with the condition of the preprocessor under which it counts; this
              one is then for all that is left
    """

    original: str = ""
    indent: str = ""
    summary: str = ""
    alias: str = ""
    names: NameSpelling = field(default_factory=NameSpelling)
    language: Language = C
    others: tuple[tuple[str, RegionText], ...] = ()


@record
class _Views:
    """A region as views, with what they were made with.

    short         the region with variables in place of members, and `declarations` of these by name
    enough        the test that there is work for threads, where the region has nothing else to offer
    threads_only  whether that is so
    """

    builder: ViewBuilder
    views: tuple[View, ...]
    ints: IntPrinter
    short: Scop
    declarations: Mapping[str, str]
    enough: str
    threads_only: bool


def emit_region(
    scop: Scop, tree: CNode, around: Surroundings, threads: Threads, threads_only: bool = False
) -> RegionText:
    """The region's new text. `threads_only`: it has nothing but threads to offer."""
    original, names = around.original, around.names
    made = _views(scop, tree, threads, threads_only)
    text, kept, computed = _rendered(scop, tree, around, threads, made)
    own = parts(text) if FIRST not in original else range(text.count("\n") + 1)
    plain, links = unmark(text) if FIRST not in original else (text, ())
    every = tuple(all_views(made.views))
    products = tuple(v.product for v in every if v.product is not None)
    kernels = frozenset(made.builder.kernels)
    text, portable = plain, None
    if around.others:
        from codegen.target.portable import for_all

        text, portable = for_all(RegionText(plain, frozenset(), kernels, products=products), around.others)
    text = flattened(text)
    helpers = _helpers(made.builder, plain) | used(text)
    users = [_flush(deeper(original.rstrip("\n")))]
    text, links, macros = outlined(_flush(_but(kept, text, around.language)), users, links, own)
    new = names.new(text) | {names.word(x) for x in macros}
    text, firsts = laid_out(names.of(text), users)
    guard = guard_text(scop, made.ints)
    return RegionText(
        text if text.endswith("\n") else text + "\n",
        helpers,
        kernels,
        spread(links, firsts),
        new,
        computed,
        plain,
        products,
        matvecs=tuple(v.matvec for v in every if v.matvec is not None),
        nests=tuple(x for v in every for x in exact_calls(v)),
        locals=Locals(made.short, made.declarations, guard) if made.declarations else None,
        guard=guard,
        portable=portable,
    )


def _views(scop: Scop, tree: CNode, threads: Threads, threads_only: bool) -> _Views:
    builder = ViewBuilder(scop, pragma_makers(scop, threads), threads=bool(threads), once=threads_only)
    views = unwrapped(builder.build(tree))
    enough = _enough(builder) if threads_only else ""
    ints = IntPrinter({p.name: p for p in scop.params}, {}, builder.helpers)
    always = [guard_text(scop, ints), *(v.head for v in views if v.kind in ("for", "if"))]
    short, declarations = with_locals(scop, " ".join(always), reserved(scop))
    if declarations:
        makers = pragma_makers(short, threads)
        builder = ViewBuilder(short, makers, builder.helpers, threads=bool(threads), once=threads_only)
        views = unwrapped(builder.build(tree))
        words = words_of(views)
        views = (*(View("decl", line) for name, line in declarations.items() if name in words), *views)
    ends = (View("stmt", o.end) for o in scop.own if o.end)
    views = (*ahead_numbers(short, bool(threads), words_of(views)), *views, *ends)
    if enough:
        views = tuple(replace(v, pragma=v.pragma.replace(f" if(parallel: {enough})", "")) for v in views)
    return _Views(builder, views, ints, short, declarations, enough, threads_only)


def _rendered(
    scop: Scop, tree: CNode, around: Surroundings, threads: Threads, made: _Views
) -> tuple[str, str, tuple[ComputedText, ...]]:
    """The text with its tests and what stands ahead; the old body in it, if that is kept; and computed parameters."""
    views, alone = made.views, made.threads_only
    tests = (guard_text(scop, made.ints), around.alias, "tw_max_threads() > 1" if alone else "", made.enough)
    guard = all_of(tests)
    reasons = [*scop.guard.reasons, *([SEPARATE] if around.alias else [])]
    reasons += [f"there is {'work for ' if made.enough else ''}more than one thread"] if alone else []
    room = room_of(scop, tree, guard)
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
        "unused": _unused(scop, views, kept),
    }
    template = environment().get_template("region.c.j2")
    computed = computed_texts(scop, made.ints)
    text = template.render(values, ahead=())
    new_text = text.replace(original, "")
    waits = ("#pragma omp barrier",) if threads == "team" else ()  # nobody is at work on what the loops use
    ahead = (*waits, *own_declarations(scop, new_text), *needed(computed, new_text))
    if ahead:
        text = template.render(values, ahead=ahead, unused=_unused(scop, views, kept, " ".join(ahead)))
    return text, original, computed


def _helpers(builder: ViewBuilder, text: str) -> frozenset[str]:
    words = set(re.findall(r"\b(?:tw|TW)_\w+", text))
    return frozenset(builder.helpers.union(*(SUPPORT[w] for w in words if w in SUPPORT)))


def all_views(views: Sequence[View]) -> Iterator[View]:
    """All of them, in the order of the text."""
    for v in views:
        yield v
        yield from all_views((*v.body, *v.orelse))


def _but(original: str, text: str, language: Language) -> str:
    """The text as its language has it, but for what the user wrote."""
    parts = text.split(original) if original.strip() else [text]
    return original.join(in_language(part, language) for part in parts)


def _enough(builder: ViewBuilder) -> str:
    """When there is work enough for threads, where one test tells."""
    tests = list(dict.fromkeys(builder.tests))
    return tests[0] if len(tests) == 1 else ""


def _flush(text: str) -> str:
    """Directives inside kernels were indented with the rest."""
    return re.sub(r"^ +#", "#", text, flags=re.M)


def deeper(text: str) -> str:
    """The fallback's lines moved in by its new nesting; left alone where lines are continued."""
    if "\\\n" in text:
        return text
    return "\n".join("    " + x if x.strip() and not x.lstrip().startswith("#") else x for x in text.split("\n"))


def _unused(scop: Scop, views: Sequence[View], kept: bool, ahead: str = "") -> list[str]:
    """Variables of the function that only the old text mentioned, or read; compilers would call them unused. No text is
    old when it is kept."""
    if kept:
        return []
    before = set(re.findall(r"[A-Za-z_]\w*", ahead))
    words = words_of(views) | before
    bound = {a.base for a in scop.arrays.values() if a.inside}
    for text in texts_of(views):
        found = re.match(r"(?:long|int) (\w+) =", text)
        if found:
            bound.add(found.group(1))
    only_set = scop.read - reads_of(views) if not any(map(_templated, all_views(views))) else frozenset()
    return [n for n in scop.outside if n not in words or n in bound or (n in only_set and n not in before)]


def exact_calls(v: View) -> tuple[ExactCall, ...]:
    """The calls that are printed of it: none behind one that always fits."""
    if v.nested is not None:
        return v.nested.exact[:1] if v.nested.always else v.nested.exact
    return v.product.exact if v.product is not None else ()


def _templated(view: View) -> bool:
    """Is its text a template's?"""
    return bool(view.product or view.matvec or view.nested)
