"""Chooses which statements share loops: schedules the region with `--fusion` none, smart or max as given, or for auto
in all three ways and with the source's loops rejoined, and returns the order of least predicted cycles.

Sharing loops brings what one statement computes to the next one while it is near; it may cost parallel loops and
vectors. Each way is scheduled, and the model weighs what is fetched against what is lost, on one thread and on all.
"""

from __future__ import annotations

from collections.abc import Callable

from codegen.diagnostics import Diagnostic, Severity
from codegen.machine import Machine
from codegen.record import record
from codegen.scop.tree import Band, Seq, kids, statements, walk
from codegen.strategy.cost.cycles import cycles, shape, short
from codegen.strategy.cost.lengths import SIZE
from codegen.strategy.orders.distribution import strongly_connected
from codegen.strategy.orders.rejoin import rejoined
from codegen.transform.program import Program

AUTO, WAYS = "auto", ("smart", "none", "max")
GAIN = 1.05  # another way than `smart` has to promise this much
# Accesses of a region beyond which two more schedules take longer than a build should wait.
EFFORT = 60


@record
class Fusion:
    """A way, the order that comes of it, and the reasons where there was a choice."""

    way: str
    program: Program
    remarks: tuple[Diagnostic, ...] = ()


def fuse(source: Program, machine: Machine, given: str, order: Callable[[Program, str], Program]) -> Fusion:
    """The order of the loops in the way that is given, or for `auto` in the best one."""
    if given != AUTO:
        q = order(source, given)
        return Fusion(given, q, _remarks(source, q, f"as --fusion={given} asks"))
    usual = Fusion("smart", order(source, "smart"))
    if not _choice(source):
        return usual
    made = {"smart": usual.program}
    for way in WAYS[1:]:
        q = order(source, way)
        if shape(q) not in {shape(x) for x in made.values()}:
            made[way] = q
    together = rejoined(source, usual.program)
    if together is not None:
        made["together"] = together
    if len(made) < 2 or not any(_groups(q) for q in made.values()):
        return usual
    costs = {way: (cycles(q, machine), cycles(q, machine, machine.cores, free=True)) for way, q in made.items()}
    best = min(made, key=lambda w: costs[w][0] * costs[w][1] * (1 if w == "smart" else GAIN))
    words = ", ".join(f"{short(costs[w][1])} with {w}" for w in made if w != best)
    why = f"about {short(costs[best][1])} cycles with parameters of {SIZE} on {machine.cores} cores, {words}"
    return Fusion(best, made[best], _remarks(source, made[best], f"{best}: {why}"))


def _choice(source: Program) -> bool:
    """Are there statements that need not share loops, and few enough to try?"""
    stmts = source.scop.statements
    if sum(len(s.accesses) for s in stmts) > EFFORT:
        return False
    return len(strongly_connected(source.scop, source.must, [s.name for s in stmts])) > 1


def _remarks(source: Program, q: Program, why: str) -> tuple[Diagnostic, ...]:
    """Which statements share loops now, and what they have in common."""
    groups = _groups(q)
    text = "; ".join(_shared(source, n) for n in groups) if groups else "no statements share loops"
    told = Diagnostic(Severity.REMARK, "fusion", f"{text} ({why})", source.scop.loc, kind="analysis")
    return (told,) if len(source.scop.statements) > 1 else ()


def _groups(q: Program) -> list[Band]:
    """Loops that hold several parts."""
    return [n for _, n in walk(q.tree) if isinstance(n, Band) and isinstance(n.child, Seq) and len(kids(n.child)) > 1]


def _shared(source: Program, band: Band) -> str:
    names = statements(band)
    used = [{a.array for a in source.scop.statement(n).accesses} for n in names if n in _known(source)]
    common = sorted({a for k, x in enumerate(used) for y in used[k + 1 :] for a in x & y})
    arrays = [a for a in common if source.scop.arrays[a].rank]
    what = f" for `{'`, `'.join(arrays[:3])}`" if arrays else ""
    return f"{', '.join(names)} share loop {band.loops[-1].name}{what}"


def _known(source: Program) -> set[str]:
    return {s.name for s in source.scop.statements}
