"""When keeping elements in registers from one iteration to the next pays: what an ordered loop waits for.

A value that goes through memory comes back after a store and a load; one in a register is there at once. That counts
where the chain from value to value is what the loop waits for, and not where it waits for memory or for its units:
there the copies from register to register are only more to do.
"""

from __future__ import annotations

from functools import partial
from operator import eq

from codegen.machine import Machine
from codegen.plan.cost import bounds
from codegen.plan.latency import to_store
from codegen.recognize.reuse import used_again
from codegen.record import record
from codegen.scop.tree import Place, enclosing, statements
from codegen.transform.program import Program

WORTH = 1.3  # what the model has to promise: it is no better than that
WIDTH = 4.0  # instructions that start in a cycle, copies among them


@record
class Gain:
    """Cycles per iteration with values that go through memory, and with values in registers."""

    before: float
    after: float

    @property
    def pays(self) -> bool:
        return self.before > WORTH * self.after

    @property
    def text(self) -> str:
        """In words, for a remark."""
        return f"about {self.after:.2g} cycles an iteration, {self.before:.2g} with values that go through memory"


def carry_gain(p: Program, place: Place, machine: Machine) -> Gain | None:
    """What `carry` changes about an innermost loop; None where no value goes from one iteration to a later one."""
    names = statements(place.band)
    again = list(used_again(p.scop, place.band, enclosing(p.tree, names[0])))
    each = bounds(p, place, machine)
    chains = [
        (to_store(p.scop, p.scop.statement(u.stmt), partial(eq, u.number), machine) or 0.0, u.age)
        for u in again
        if u.written
    ]
    if not chains or each is None:
        return None
    registers = max(wait / age for wait, age in chains)
    memory = max((wait + machine.load_latency) / age for wait, age in chains)
    copies = sum(u.age for u in again) / WIDTH
    rest = max(each.issue, each.fetch)
    return Gain(max(rest, memory), max(rest, registers, copies))
