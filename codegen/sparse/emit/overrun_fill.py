"""Prints the C of loops that fill each segment with one value (marked by ir/passes/overrun_fill.py): four stores at a
time, which may run past a segment's end, but never past the last segment."""
from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.sparse.ir.model import Loop
from codegen.sparse.ir.nest import For
from codegen.sparse.ir.passes.overrun_fill import pointers
from codegen.sparse.ir.statement import Store

if TYPE_CHECKING:
    from codegen.sparse.emit.steps import StepPrinter

# Nanoseconds for each element on a Neoverse N1, segments of 11 / of 0 to 3 at random: plain loops 0.4 / 9.9, four
# single stores 0.5 / 4.2, a vector of four 1.0 / 4.8. Vectors that overlap in memory wait for one another.
STEP = 4


def fill_ahead(p: StepPrinter, s: Loop, share: tuple[str, str] | None = None) -> None:
    """`share`: the part of the outermost loop that is to be done; nothing is written beyond its segments."""
    w, first, last = p.w, s.nest[0], s.nest[-1]
    assert isinstance(first, For) and isinstance(last, For)
    end = share[1] if share else p.c(first.high)
    for pointer in pointers(s.nest):
        end = f"{pointer}[{end}]"
    w.line(f"const int64_t end = {end};")

    def segment() -> None:
        v, high = last.var, p.c(last.high)
        w.line(f"int64_t {v} = {p.c(last.low)};")
        w.open(f"if ({high} <= end - {STEP})")
        w.open("do")
        for n, store in enumerate(s.body):
            assert isinstance(store, Store)
            to = f"to{n or ''}"
            w.line(f"volatile {p.types.c_index} *const {to} = {store.target} + {v}; /* one store each, no vectors */")
            for x in range(STEP):
                w.line(f"{to}[{x}] = {p.c(store.value)};")
        w.close(f"}} while (({v} += {STEP}) < {high});")
        w.close("} else {")
        w.depth += 1
        w.open(f"for (; {v} < {high}; {v}++)")
        p.body(s.body)
        w.close()
        w.close()

    p.nest(s.nest[:-1], segment, share)
