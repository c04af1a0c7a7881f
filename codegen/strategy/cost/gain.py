"""Estimates the speedup of a plan over the loops as written, and says why a nest is not worth it (`Gain`): for nests
that nobody asked to transform (`--auto`)."""

from __future__ import annotations

from dataclasses import replace

from codegen.machine import Machine
from codegen.machine.believable import most_gain
from codegen.plan import model as m
from codegen.plan.model import Directive, Parallel, Pipeline, Plan, Schedule
from codegen.recognize.access.domain_shape import PARALLEL_MIN, most_instances
from codegen.record import record
from codegen.scop.model import Scop
from codegen.strategy.cost.cycles import cycles, short
from codegen.strategy.cost.lengths import SIZE, Sizes
from codegen.strategy.cost.tile_sizes import is_strip
from codegen.transform.program import Program

# A nest has to become this much faster, by the model, to be worth other code in its place.
WORTH = 1.1
# These keep the loops, or move them: what that brings, the model sees. It does not look at tiles, products and values
# in registers, which are planned only where they pay.
_SEEN = (Schedule, m.Distribute, m.Forward, m.Unskew, Parallel, m.StoreIn, m.Vector)


@record
class Gain:
    """Cycles of the source with parameters of SIZE; how many times as fast the result is on so many cores, None where
    the model cannot say; and why it is not worth it, if so."""

    work: float
    factor: float | None
    against: str = ""
    cores: int = 1


def too_little(source: Program, machine: Machine) -> Gain | None:
    """What is said of a nest with little to do whatever the parameters are; None where it may have more."""
    most = _instances(source.scop, False)
    if most is not None and most < PARALLEL_MIN:
        return Gain(cycles(source, machine), None, f"its loops are short: at most {most} statements run")
    most = _instances(source.scop, True)
    if most is not None and most < PARALLEL_MIN:
        reasons = ", ".join(source.scop.guard.reasons)
        words = f"other code holds only where at most {most} statements run{f' ({reasons})' if reasons else ''}"
        return Gain(cycles(source, machine), None, words)
    return None


def predicted(
    source: Program, made: Program, plan: Plan, machine: Machine, peeled: bool = False, sizes: Sizes = ()
) -> Gain:
    """The gain of a plan on all cores of a machine, over one thread that runs the source. `peeled`: tests are gone from
    its loops, which the model does not look at. Parameters have these `sizes`, where any are given."""
    little = too_little(source, machine)
    if little is not None:
        return little
    work = cycles(source, machine, sizes=sizes)
    if peeled:
        return Gain(work, None)
    if all(isinstance(d, Schedule) for d in plan.directives) and made.tree == source.tree:
        return Gain(work, 1.0, "its loops carry dependences that leave nothing to reorder, vectorize or share out")
    if not all(map(_seen, plan.directives)):
        return Gain(work, None)
    after = cycles(made, machine, machine.cores, sizes=sizes)
    factor = work / after if after else 1.0
    cores = machine.cores if any(isinstance(d, (Parallel, Pipeline)) for d in plan.directives) else 1
    if factor > most_gain(machine, cores, min((a.elem.bytes for a in made.scop.arrays.values()), default=8)):
        return Gain(work, None)  # the model is wrong on this one
    if factor >= WORTH:
        return Gain(work, factor, cores=cores)
    words = f"about {short(work)} cycles with parameters of {SIZE} as written, {short(after)} transformed"
    return Gain(work, factor, words)


def _seen(d: Directive) -> bool:
    return isinstance(d, _SEEN) or is_strip(d)


def _instances(scop: Scop, guarded: bool) -> int | None:
    """At most so many statements run, with `guarded` where tests of the result hold; None when parameters decide."""
    total = 0
    for s in scop.statements:
        inside = replace(s, domain=s.domain.intersect_params(scop.guard.valid)) if guarded else s
        most = most_instances(inside, ())
        if most is None:
            return None
        total += most
    return total
