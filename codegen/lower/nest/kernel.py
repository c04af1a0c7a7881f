"""Makes the kernel of a contraction in a given loop order: a name with its schedule (`schedule.py` decides what is
unrolled and held in registers). CannotEmit where vectors would change the order of sums, or packed operands would take
too much stack."""

from __future__ import annotations

from typing import NamedTuple

from codegen.isa.model import Isa, bits_of
from codegen.lower.nest.contraction import Contraction
from codegen.lower.nest.loops import Loop
from codegen.lower.nest.schedule import CannotEmit, NestSchedule, schedule
from codegen.record import record

# Packed operands stand on the stack; threads have a few megabytes of it.
STACK_BYTES = 512 * 1024


@record
class Options:
    """`fresh`: the result replaces what is in C, else it is added to it. `reassociate`: sums may be kept in parts."""

    fresh: bool = False
    reassociate: bool = True


ADDED = Options()
# The sums of a product keep the source's order.
KEPT = Options(reassociate=False)


class OrderedContraction(NamedTuple):
    """A contraction with the order of its loops."""

    problem: Contraction
    compute: tuple[Loop, ...]


@record
class NestKernel:
    """A function for one nest; `name` is the same for the same content, in every run."""

    name: str
    nest: OrderedContraction
    schedule: NestSchedule


def check(plan: NestSchedule, options: Options = ADDED, more: int = 0) -> NestSchedule:
    """The same schedule; CannotEmit where there is no code for it. `more` elements stand on the stack of its caller."""
    if not options.reassociate and plan.vector not in plan.problem.c:
        raise CannotEmit(f"vectors along {plan.vector} sum in another order than the source")
    if (more + sum(n for _, n in plan.buffers)) * bits_of(plan.problem.elem) // 8 > STACK_BYTES:
        raise CannotEmit("copies of operands would take too much of the stack")
    return plan


def kernel_of(name: str, nest: OrderedContraction, isa: Isa) -> NestKernel:
    """The kernel of a nest whose sums keep their order."""
    return NestKernel(name, nest, check(schedule(nest, isa), KEPT))
