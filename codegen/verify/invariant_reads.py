"""Proof of reads that the iterations of an interleaved loop (written out side by side) share: one read serves several
iterations only where all of them find the same value. Returns findings."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.recognize.access.invariant_values import alike_reads, moved
from codegen.scop.tree import INTERLEAVED
from codegen.verify.evidence import Evidence, Finding
from codegen.verify.readback import StatementRun


def unlike_value(e: Evidence) -> Sequence[Finding]:
    """What the iterations of a loop side by side read once, all of them would read."""
    out: list[Finding] = []
    for r in e.runs:
        lp = r.point.loops[-1] if r.point.loops else None
        if any(x.loop.alike and (x is not lp or x.loop.kind != INTERLEAVED) for x in r.point.loops):
            out.append(Finding("alike", "values are shared by iterations that are not side by side"))
        if lp is None or not lp.loop.alike:
            continue
        name = r.instance.stmt
        k = moved(_beside(e, r))
        sure = alike_reads(e.scop, e.deps, name, k) if k is not None else ()
        s = e.scop.statement(name)
        for stmt, n in lp.loop.alike:
            if stmt == name and n not in sure:
                what = f"`{s.accesses[n].array}` in {name} (`{s.source}`), of which each has its own"
                out.append(Finding("alike", f"iterations of loop `{lp.loop.name}` would share {what}"))
    return out


def _beside(e: Evidence, r: StatementRun) -> isl.Map:
    """Pairs of instances that run in one run of the innermost loop."""
    runs, at = r.executes(e.scop), r.point.domain
    together = isl.Map.from_domain_and_range(at, at)
    for d in range(len(r.point.vars) - 1):
        together = together.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
    return runs.reverse().apply_range(together).apply_range(runs)
