"""Decides which reductions run in vectors, where reassociation is allowed: returns a `vector` directive with several
accumulators side by side, or None; and the directives that cut the loop into long strips for threads.

Integers are left to compilers: they may change the order of those by themselves, and do it well.
"""

from __future__ import annotations

from codegen.machine import Machine
from codegen.plan.model import Directive, LoopRef, Parallel, Tile, Vector
from codegen.recognize.access.strides import move, step_of
from codegen.recognize.reductions import joined
from codegen.scop.expr import Call, DataLoop, Gather, walk
from codegen.scop.model import Statement
from codegen.scop.tree import Band, enclosing, statements
from codegen.strategy.cost.tile_sizes import REDUCTION_STRIP
from codegen.strategy.loops.outer_vectors import lane_type
from codegen.transform.program import Program
from codegen.transform.tile import tiles_of

MOST = 8  # vectors side by side


def vector_reduction(p: Program, band: Band, machine: Machine) -> Vector | None:
    """The innermost loop of a band as vectors, where it gathers and its statements have such a form."""
    if not p.reassociate:
        return None
    lp, names = band.loops[-1], statements(band)
    stmts = [p.scop.statement(n) for n in names]
    gathers = [_gathers(p, s) for s in stmts]
    if lane_type(p, stmts, machine) is None or not any(gathers):
        return None
    if any(isinstance(e, (Call, DataLoop, Gather)) for s in stmts for e in walk(s.rhs)):
        return None
    for s in stmts:
        around = enclosing(p.tree, s.name)
        if not all(m.unit or m.still for a in s.accesses for m in [move(p.scop, s, a, around, len(around) - 1)]):
            return None
    # Steps in flight: as many as units can start until one is done; fewer of a single sum, as its loads take a cycle.
    wait = max(1, int(machine.fma_latency))
    times = min(MOST, wait, -(-wait * int(machine.fma_throughput) // sum(gathers)))
    return Vector(LoopRef(lp.name, names[0]), machine.vector_bits // 8, times)


def _gathers(p: Program, s: Statement) -> bool:
    """Does the innermost loop fold into one place? Not into a variable that each of its iterations has for itself."""
    around = enclosing(p.tree, s.name)
    target = s.accesses[s.target]
    change = step_of(s, around, len(around) - 1) or ()
    own = any(change[: p.scop.arrays[target.array].scope])
    still = move(p.scop, s, target, around, len(around) - 1).still
    return still and not own and joined(p.scop, s) is not None


def on_threads(p: Program, v: Vector) -> tuple[Directive, ...]:
    """Strips of the loop on threads."""
    strips = tiles_of(p.scop, enclosing(p.tree, v.loop.stmt), [v.loop.name])[v.loop.name]
    return Tile(((v.loop, REDUCTION_STRIP),)), Parallel(LoopRef(strips, v.loop.stmt))
