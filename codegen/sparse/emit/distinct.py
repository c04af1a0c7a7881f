"""Prints the C of the step `Distinct`, on one thread or several: finds the distinct values of each owner, in order, and
counts them; a mark for every value says which owner had it last.

On several threads an owner belongs to one of them. Each numbers the values of its owners from 0, into its own part of
`found`, with marks of its own; then the parts are pushed together and the numbers moved on.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.sparse.algebra.expr import var
from codegen.sparse.ir.counting import Distinct
from codegen.sparse.ir.passes.overrun_fill import pointers

if TYPE_CHECKING:
    from codegen.sparse.emit.shares import SharePrinter
    from codegen.sparse.emit.steps import StepPrinter


def distinct(p: StepPrinter, s: Distinct, marks: str, count: str, first: str = "",
             share: tuple[str, str] | None = None) -> None:
    """The loop. `marks`, `count`, `first`: names for the marks, the count and, with threads, the start of a part."""

    def body() -> None:
        place, owner = f"{marks}[{p.c(s.index)}]", p.c(s.owner)
        p.w.open(f"if ({place} != {owner})")
        p.w.line(f"{place} = {owner};")
        p.w.line(f"{s.found}[{f'{first} + ' if first else ''}{count}] = {p.c(s.value)};")
        p.w.line(f"{count}++;")
        p.w.line(f"{s.ptr}[{p.c(s.owner + 1)}] = {count};")
        p.w.close()

    p.nest(s.nest, body, share)


def distinct_on_threads(p: SharePrinter, s: Distinct) -> None:
    w = p.w
    p.scalars["*share"] = "int64_t"
    p.fail("!(share = tw_new(2 * (int64_t)threads, sizeof *share, 1))", "NO_MEMORY")
    p.region()
    key = p.share_between(s.nest, s.owner)
    w.line(f"{p.types.c_index} *const mine = {s.seen} + t * ({p.c(s.span)});")
    first = "low"
    for pointer in pointers(s.nest):
        first = f"{pointer}[{first}]"
    w.line(f"const int64_t first = {first};")
    w.line("int64_t count = 0;")
    distinct(p, s, "mine", "count", "first", ("low", "high"))
    w.line("share[2 * t] = first;")
    w.line("share[2 * t + 1] = count;")
    w.line("#pragma omp barrier")
    w.line("#pragma omp single")
    w.line((f"{s.name} = " if s.name else "(void)") + f"tw_join({s.found}, share, parts);")
    w.open("if (low < high && t > 0)")
    w.line(f"const int64_t last = {key(var('high') - 1)};")
    w.line(f"for (int64_t x = {key(var('low'))}; x <= last; x++)")
    w.line(f"    if ({s.ptr}[x + 1] > 0)")
    w.line(f"        {s.ptr}[x + 1] += share[2 * t + 1];")
    w.close()
    w.close()
    w.line("free(share);")
    w.line("share = NULL;")
