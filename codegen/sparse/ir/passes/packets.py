"""Pass that attaches a `Packet` to scatters, and to the counts before them, whose bodies read no array but the values:
the printed C then may move entries in packets, where they go to too many places at once (emit/packets.py)."""
from __future__ import annotations

from dataclasses import replace

from codegen.sparse.algebra.expr import Exp, var
from codegen.sparse.algebra.terms import calls, names
from codegen.sparse.ir.counting import Count, Packet, Scatter
from codegen.sparse.ir.model import Computation
from codegen.sparse.ir.read_write_sets import bound
from codegen.sparse.ir.statement import Stmt, Store
from codegen.sparse.ir.walk import expressions, rewrite_exps

VALUE = "v"


def packets(c: Computation, count: Exp | None, data: str) -> Computation:
    """`count`: entries of the source when known; `data`: its array of values."""
    if count is None:
        return c
    steps = list(c.steps)
    for at, s in enumerate(steps):
        if isinstance(s, Scatter):
            first = next(n for n, x in enumerate(steps) if isinstance(x, Count) and x.counter == s.counter)
            packet = _packet(s, count, data)
            if packet is not None:
                counted = steps[first]
                assert isinstance(counted, Count)
                steps[first] = replace(counted, packet=packet)
                steps[at] = replace(s, packet=packet)
    return replace(c, steps=tuple(steps))


def _packet(s: Scatter, count: Exp, data: str) -> Packet | None:
    if not all(isinstance(x, Store) for x in s.body):
        return None
    values = dict.fromkeys(e for e in expressions(s.body) for k in calls(e) if k.id == data)
    inside = frozenset().union(names(s.index), *(names(e) for e in expressions(s.body) if e not in values))
    read = {k.id for e in expressions((s.index, s.body)) for k in calls(e)}
    if len(values) != 1 or read != {data}:
        return None
    return Packet(s.nest, tuple(sorted(inside & bound(s.nest))), next(iter(values)), count)


def unpacked(body: tuple[Stmt, ...], packet: Packet) -> tuple[Stmt, ...]:
    """The body with the value taken from the packet."""
    return rewrite_exps(body, lambda e: var(VALUE) if e == packet.value else e)

