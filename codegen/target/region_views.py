"""Converts a region's C tree to the `View` records that `region.c.j2` prints, with the hoisted members and tile offsets
ahead of its loops, and lists the helpers and kernels they call; also for variants of the machine, in which only blocked
products differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from codegen.ast.ctree import CNode
from codegen.record import record
from codegen.scop.model import Scop
from codegen.target.finish.braces import unwrapped
from codegen.target.guards.guard import guard_text
from codegen.target.guards.locals import with_locals
from codegen.target.guards.tile_offsets import ahead_numbers
from codegen.target.pragmas import Threads, pragma_makers
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import View, words_of
from codegen.target.view import Blocks, ViewBuilder, reserved

if TYPE_CHECKING:
    from codegen.target.emit import Kernel

OnlyFor: TypeAlias = Literal["", "threads", "work"]  # without that, the loops as they were written are as good


@record
class RegionViews:
    """A region as views, with what they were made of and with.

    helpers       what they call, and what is called by texts that `ints` prints from now on
    kernels       what they call, and then what their variants call
    short         the region with variables in place of members, and `declarations` of these by name
    enough        the test that there is work for threads, where the region has nothing to offer for less
    threads_only  whether it has nothing else to offer
    """

    scop: Scop
    tree: CNode
    threads: Threads
    views: tuple[View, ...]
    helpers: set[str]
    kernels: tuple[frozenset[Kernel], ...]
    ints: IntPrinter
    short: Scop
    declarations: Mapping[str, str]
    enough: str
    threads_only: bool

    def variant(self, number: int) -> RegionViews:
        """The region with its products in the blocks of that variant."""
        return replace(self, views=with_variant(self.views, number), kernels=(self.kernels[number + 1],))


def region_views(
    scop: Scop,
    tree: CNode,
    threads: Threads,
    only_for: OnlyFor = "",
    variants: Sequence[Blocks] = (),
    blocks: Blocks | None = None,
) -> RegionViews:
    """The region as views. `only_for`: it has nothing to offer but to threads, or to much work. Products are in their
    own blocks, or in `blocks`, and for variants of the machine in those of `variants`."""
    threads_only = only_for == "threads"

    def build(of: Scop, helpers: set[str]) -> tuple[ViewBuilder, tuple[View, ...]]:
        makers = pragma_makers(of, threads)
        builder = ViewBuilder(
            of, makers, helpers, threads=bool(threads), once=threads_only, blocks=blocks, variants=tuple(variants)
        )
        return builder, unwrapped(builder.build(tree))

    helpers: set[str] = set()
    builder, views = build(scop, helpers)
    enough = _enough(builder) if only_for else ""
    ints = IntPrinter({p.name: p for p in scop.params}, {}, helpers)
    always = [guard_text(scop, ints), *(v.head for v in views if v.kind in ("for", "if"))]
    short, declarations = with_locals(scop, " ".join(always), reserved(scop))
    if declarations:
        builder, views = build(short, helpers)
        words = words_of(views)
        views = (*(View("decl", line) for name, line in declarations.items() if name in words), *views)
    ends = (View("stmt", o.end) for o in scop.own if o.end)
    views = (*ahead_numbers(short, bool(threads), words_of(views)), *views, *ends)
    if enough:
        views = tuple(_unasked(v, f" if(parallel: {enough})") for v in views)
    kernels = tuple(map(frozenset, (builder.kernels, *builder.variant_kernels)))
    return RegionViews(scop, tree, threads, views, helpers, kernels, ints, short, declarations, enough, threads_only)


def _unasked(v: View, clause: str) -> View:
    """A view, and what it holds, without a clause that asks once more what is known ahead of it."""
    body = tuple(_unasked(x, clause) for x in v.body)
    return replace(v, pragma=v.pragma.replace(clause, ""), body=body)


def with_variant(views: tuple[View, ...], number: int) -> tuple[View, ...]:
    """The views with their products in the blocks of that variant."""
    return tuple(
        replace(
            v,
            body=with_variant(v.body, number),
            orelse=with_variant(v.orelse, number),
            product=v.variants[number] if v.variants else v.product,
        )
        if v.body or v.orelse or v.variants
        else v
        for v in views
    )


def _enough(builder: ViewBuilder) -> str:
    """When there is work enough for threads, where one test tells."""
    tests = list(dict.fromkeys(builder.tests))
    return tests[0] if len(tests) == 1 else ""
