"""Reuse of vectors between consecutive steps of a loop (predictive commoning): they stay in registers instead of being
loaded again.

Neighbours an integer of vectors apart are the same element, some steps later: with two lanes, what is right of one
vector is left of the next. Compilers read it again, since a store that may be to the same array lies between; and these
are the vectors that lie across two lines of a cache. jacobi-2d, f64, two lanes, Neoverse N1: 1.62 cycles a point in the
first-level cache, 1.73 where it is read again. Only for rows side by side: one row waits for its sums, not for what it
reads, and a copy more is a copy more (jacobi-1d 0.96, heat-3d 1.00).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from itertools import pairwise

from codegen.ast.ctree import Instance
from codegen.ast.lowered import Body, Load, Move
from codegen.lower.lane_accesses import Maker, element
from codegen.lower.loop_strides import unit_stride
from codegen.lower.rows import side_by_side
from codegen.lower.shift import shifted
from codegen.lower.statements import Statements, written_in
from codegen.record import record
from codegen.scop.expr import Ref, walk
from codegen.scop.model import Statement

Read = tuple[Statement, Instance, int]  # a vector that begins at this access


@record
class VectorSteps:
    """Steps of a loop over vectors: `times` of them in each of the `rows`, iterations of a loop around it.

    A chain is a read and those of the following steps that find the same elements, as far as one step makes them: all
    but the last are in variables."""

    make: Maker
    found: Statements
    rows: tuple[str, int]
    times: int
    chains: tuple[tuple[Read, ...], ...] = ()

    @property
    def ahead(self) -> tuple[Load, ...]:
        """What the first step finds in variables. It may be read only where there is such a step."""
        pairs = zip(self.chains, self._names(), strict=True)
        reads = ((name, r) for chain, names in pairs for name, r in zip(names[:-1], chain[:-1], strict=True))
        return tuple(self._load(name, r, False) for name, r in reads)

    def step(self, number: int) -> Body:
        """The body of a step, counted from where the loop's variable is."""
        names = self._names()
        chains = [[self._later(r, number) for r in chain] for chain in self.chains]
        own = {element(*r): n for chain, x in zip(chains, names, strict=True) for r, n in zip(chain, x, strict=True)}
        now = tuple(self._later((s, at, 0), number)[:2] for s, at in self.found)
        return (
            *(self._load(x[-1], c[-1], True) for c, x in zip(chains, names, strict=True)),
            *side_by_side(replace(self.make, kept=own), now, *self.rows, self.times),
            *(Move(a, b) for x in names for a, b in pairwise(x)),
        )

    def _load(self, name: str, r: Read, fixed: bool) -> Load:
        return Load(name, r[0].name, r[2], self.make.place(*r), self.make.count, fixed)

    def _names(self) -> list[tuple[str, ...]]:
        """Variables of each chain: those that are kept, and the one of the last vector."""
        numbers = iter(range(sum(len(c) - 1 for c in self.chains)))
        return [(*(f"again.{next(numbers)}" for _ in c[1:]), f"last.{k}") for k, c in enumerate(self.chains)]

    def _later(self, r: Read, number: int = 1) -> Read:
        """What is read in a later step."""
        return r[0], shifted(r[1], self.make.var, self.make.vectors(number * self.times)), r[2]

    def _reads(self) -> dict[Hashable, Read]:
        """Vectors of neighbours that a step reads, from arrays that the loop never writes."""
        var, out = self.make.var, dict[Hashable, Read]()
        written = written_in(self.found)
        for s, at in self.found:
            numbers = sorted({e.access for e in walk(s.rhs) if isinstance(e, Ref)})
            numbers = [k for k in numbers if s.accesses[k].array not in written and unit_stride(s, at, k, var) == 1]
            for t in range(self.times):
                for row in range(self.rows[1]):
                    there = shifted(shifted(at, self.rows[0], row), var, self.make.vectors(t))
                    for r in ((s, there, k) for k in numbers):
                        out.setdefault(element(*r), r)
        return out

    def chained(self) -> VectorSteps:
        """With the chains that there are."""
        reads = self._reads()
        follows = {e: f for e, r in reads.items() if (f := element(*self._later(r))) in reads}
        chains = []
        for e in follows.keys() - follows.values() if follows else ():
            chain = [e]
            while chain[-1] in follows:
                chain.append(follows[chain[-1]])
            chains.append(tuple(reads[x] for x in chain))
        order = list(reads)
        return replace(self, chains=tuple(sorted(chains, key=lambda c: order.index(element(*c[0])))))
