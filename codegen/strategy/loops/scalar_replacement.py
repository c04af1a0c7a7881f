"""When keeping elements in registers from one iteration to the next pays: what an ordered loop waits for.

A value that goes through memory comes back after a store and a load; one in a register is there at once. That counts
where the chain from value to value is what the loop waits for, and not where it waits for memory or for its units:
there the copies from register to register are only more to do.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.machine import Machine
from codegen.recognize.access.reuse import Reuse, just_written, used_again
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import Place, enclosing, statements
from codegen.strategy.cost.cycles import bounds
from codegen.strategy.cost.latency import to_store
from codegen.transform.program import Program

WORTH = 1.3  # what the model has to promise: it is no better than that
WIDTH = 4.0  # instructions that start in a cycle, copies among them


@record
class ReplacementGain:
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


def replacement_gain(p: Program, place: Place, machine: Machine) -> ReplacementGain | None:
    """What `scalar_replace` changes about an innermost loop; None where no value goes from one iteration to a later
    one."""
    names = statements(place.band)
    again = list(used_again(p.scop, place.band, enclosing(p.tree, names[0])))
    each = bounds(p, place, machine)
    chains = [(u, _around(p.scop, names, u, machine, 0.0)) for u in again if u.written]
    if not chains or each is None:
        return None
    registers = max(wait / u.age for u, wait in chains)
    far = float(machine.load_latency)
    memory = max((_around(p.scop, names, u, machine, far) + far) / u.age for u, _ in chains)
    copies = sum(u.age for u in again) / WIDTH
    rest = max(each.issue, each.fetch)
    return ReplacementGain(max(rest, memory), max(rest, registers, copies))


def _around(scop: Scop, names: Sequence[str], u: Reuse, machine: Machine, far: float) -> float:
    """Cycles from a read of an earlier value to what takes its place: the longest way through the statements of an
    iteration. What one leaves for another in memory takes `far` longer where a store to another array, which a compiler
    cannot tell apart, lies between them."""
    body = [scop.statement(n) for n in names]
    first = names.index(u.stmt)
    at = {first: to_store(scop, body[first], lambda k: k == u.number, machine) or 0.0}
    for now, s in enumerate(body):
        ways = []
        for before, number in just_written(scop, body, now):
            if before in at:
                target = s.accesses[number].array
                between = any(x.accesses[x.target].array != target for x in body[before + 1 : now])
                way = to_store(scop, s, lambda k, number=number: k == number, machine) or 0.0  # type: ignore[misc]
                ways.append(at[before] + way + (far if between else 0.0))
        if ways:
            at[now] = max(*ways, at.get(now, 0.0))
    array = body[first].accesses[u.number].array
    return max((x for k, x in at.items() if body[k].accesses[body[k].target].array == array), default=at[first])
