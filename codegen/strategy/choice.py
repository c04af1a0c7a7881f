"""Chooses between a plan in the scheduler's loop order and one in the source's, by predicted cycles on one thread and
on all cores (`no_slower`); and the `Decision` record: a plan, its remarks, and the program it leads to."""

from __future__ import annotations

from collections.abc import Callable

from codegen.diagnostics import Diagnostic, Severity
from codegen.machine import Machine
from codegen.plan.model import Plan, Skew, Tile
from codegen.record import record
from codegen.strategy.author import Considered
from codegen.strategy.cost.cycles import cycles, shape, short
from codegen.strategy.cost.lengths import SIZE
from codegen.strategy.cost.tile_sizes import is_strip
from codegen.strategy.loops.interleaved_recurrences import has_chains
from codegen.transform.program import Program

# Another order has to promise this much; and when it is tiled, which the model does not look at, the source's order has
# to be this much better.
GAIN, TILED = 1.02, 0.75


@record
class Decision:
    """A plan with the reasons for it, and the program it leads to (what carrying it out again would give)."""

    plan: Plan
    remarks: tuple[Diagnostic, ...]
    program: Program
    considered: tuple[Considered, ...] = ()


def no_slower(
    source: Program, usual: Program, made: Decision, kept: Callable[[], Decision], machine: Machine
) -> Decision:
    """`made` from the order `usual`, or `kept` in the order of the source.

    Both count, one thread and all: an order with more parallel loops may cost a little more on one.
    """
    one = cycles(source, machine), cycles(usual, machine)
    alike = one[1] <= GAIN * one[0] and shape(source) == shape(usual)
    if (alike or one[0] > GAIN * machine.cores * one[1]) and not has_chains(source):
        return made
    other = kept()
    if _cut(other):  # rows take turns, by whole lines if they can: another order has little to add
        return made if _cut(made) else other
    if _cut(made):
        better = one[0] < TILED * one[1]
    else:
        both = cycles(other.program, machine, machine.cores), cycles(made.program, machine, machine.cores)
        better = one[0] * both[0] <= GAIN * one[1] * both[1]
    if alike or not better:
        return made
    text = (
        f"the source's order of loops is kept: about {short(one[0])} cycles with parameters of {SIZE}, against "
        f"{short(one[1])} in the order with most parallel loops"
    )
    lost = (Considered("order with most parallel loops", (), f"about {short(one[1])} cycles against {short(one[0])}"),)
    told = Diagnostic(Severity.REMARK, "source-order", text, source.scop.loc, kind="analysis")
    said = {d.id for d in other.remarks}
    missed = tuple(
        d for d in made.remarks if d.id in ("no-product", "reduction-order") and d.id not in said
    )  # always true
    return Decision(other.plan, (told, *missed, *other.remarks), other.program, (*lost, *other.considered))


def _cut(made: Decision) -> bool:
    return any(isinstance(d, (Tile, Skew)) and not is_strip(d) for d in made.plan.directives)
