"""Lowers a format conversion to optimised steps of the sparse IR, by the plan of `mechanisms.py`: order, numbering,
arrays, fill."""

from __future__ import annotations

from dataclasses import replace

from codegen.sparse.ir.model import Computation, Define, Free
from codegen.sparse.synth.fill import Filled
from codegen.sparse.synth.inside import inside
from codegen.sparse.synth.mechanisms import choose, in_source, listed
from codegen.sparse.synth.pair import Pair, symbols


def lower(p: Pair, sorted_input: bool = False, sorting: bool = False) -> Computation:
    """The chain of steps for a pair; `sorted_input`: as if the entries came in the order the destination needs;
    `sorting`: entries are sorted where they could be counted."""
    plan = choose(p, sorting)
    if sorted_input:
        order = tuple(in_source(p, e) for e in plan.order)
        plan = replace(plan, move="none", log=(*plan.log[:-1], f"entries come in order of {listed(order)}"))
    return _Chain(p, plan).run()


class _Chain(Filled):
    def run(self) -> Computation:
        t = self.t
        for n, e in t.desc.lets:
            self.add(Define(n, e))
        self.add(*inside(self.p, self.stream))
        self.arrange()
        self.env = {v: self.at(e) for v, e in t.resolved}
        for place, how in zip(self.p.places, self.plan.how, strict=True):
            getattr(self, f"number_{how}")(place)
        self.allocate()
        self.fill()
        for temp in self.temps:
            self.add(Free(temp))
        live = frozenset({*t.desc.shape, *symbols(t), *self.sizes})
        return Computation(tuple(self.steps), live, self.plan.log)
