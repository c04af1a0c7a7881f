"""Vectors that one step of a loop reads and the next one reads again: they stay in registers.

Neighbours a whole number of vectors apart are the same element, some steps later: with two lanes, what is right of one
vector is left of the next. Compilers read it again, since a store that may be to the same array lies between; and these
are the vectors that lie across two lines of a cache. jacobi-2d, f64, two lanes, Neoverse N1: 1.62 cycles a point in the
first-level cache, 1.73 where it is read again. Only for rows side by side: one row waits for its sums, not for what it
reads, and a copy more is a copy more (jacobi-1d 0.96, heat-3d 1.00).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from codegen.ast.ctree import Instance
from codegen.record import record
from codegen.scop.expr import Ref, walk
from codegen.scop.model import Statement
from codegen.target.body import BodyPrinter
from codegen.target.jam import Statements, shifted
from codegen.target.lane_printer import LanePrinter
from codegen.target.lanes import strides
from codegen.target.pieces import View, fresh, side_by_side

Read = tuple[Statement, Instance, int]  # a vector that begins at this access


@record
class Steps:
    """Steps of a loop over vectors: `times` of them in each of the `rows`, iterations of a loop around it.

    Each chain is what a step reads from one row of an array, so that every vector is in the next step what the one
    before it is in this one. All but the last are kept in variables for the next step.
    """

    printer: LanePrinter
    found: Statements
    rows: tuple[str, int]
    times: int
    taken: frozenset[str]
    chains: tuple[tuple[Read, ...], ...] = ()

    @property
    def ahead(self) -> tuple[View, ...]:
        """What the first step finds in variables. It may be read only where there is such a step."""
        kind = self.printer.lanes.type
        pairs = zip(self.chains, self._names(), strict=True)
        reads = ((name, r) for chain, names in pairs for name, r in zip(names[:-1], chain[:-1], strict=True))
        return tuple(View("decl", f"{kind} {name} = {self.printer.access(*r)};") for name, r in reads)

    def step(self, number: int) -> tuple[View, ...]:
        """The body of a step, counted from where the loop's variable is."""
        p, names = self.printer, self._names()
        chains = [[self._later(r, number) for r in chain] for chain in self.chains]
        own = {self._text(r): n for chain, x in zip(chains, names, strict=True) for r, n in zip(chain, x, strict=True)}
        now = tuple(self._later((s, at, 0), number)[:2] for s, at in self.found)
        taken = self.taken.union(*names) if names else self.taken
        reads = (f"const {p.lanes.type} {x[-1]} = {p.access(*c[-1])};" for c, x in zip(chains, names, strict=True))
        moves = (f"{a} = {b};" for x in names for a, b in pairwise(x))
        return (
            *(View("decl", text) for text in reads),
            *side_by_side(replace(p, kept=own), now, *self.rows, taken, self.times),
            *(View("decl", text) for text in moves),
        )

    def _names(self) -> list[tuple[str, ...]]:
        """Variables of each chain: those that are kept, and the one of the last vector."""
        count = sum(len(c) - 1 for c in self.chains)
        again = fresh("again", self.taken, tuple(map(str, range(count))))
        last = fresh("last", self.taken, tuple(map(str, range(len(self.chains)))))
        numbers = iter(range(count))
        return [(*(f"{again}{next(numbers)}" for _ in c[1:]), f"{last}{k}") for k, c in enumerate(self.chains)]

    def _later(self, r: Read, number: int = 1) -> Read:
        """What is read in a later step."""
        return r[0], shifted(r[1], self.printer.var, number * self.times * self.printer.lanes.count), r[2]

    def _text(self, r: Read) -> str:
        """The first element of the vector."""
        return BodyPrinter.access(self.printer, *r)

    def _reads(self) -> dict[str, Read]:
        """Vectors of neighbours that a step reads, from arrays that the loop never writes."""
        p, out = self.printer, dict[str, Read]()
        written = {s.accesses[s.target].array for s, _ in self.found}
        for s, at in self.found:
            numbers = sorted({e.access for e in walk(s.rhs) if isinstance(e, Ref)})
            numbers = [k for k in numbers if s.accesses[k].array not in written and strides(s, at, k, p.var) == 1]
            for t in range(self.times):
                for row in range(self.rows[1]):
                    there = shifted(shifted(at, self.rows[0], row), p.var, t * p.lanes.count)
                    for r in ((s, there, k) for k in numbers):
                        out.setdefault(self._text(r), r)
        return out

    def chained(self) -> Steps:
        """With the chains that there are."""
        reads = self._reads()
        follows = {e: f for e, r in reads.items() if (f := self._text(self._later(r))) in reads}
        chains = []
        for e in follows.keys() - follows.values() if follows else ():
            chain = [e]
            while chain[-1] in follows:
                chain.append(follows[chain[-1]])
            chains.append(tuple(reads[x] for x in chain))
        order = list(reads)
        return replace(self, chains=tuple(sorted(chains, key=lambda c: order.index(self._text(c[0])))))
