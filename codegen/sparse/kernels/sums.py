"""Accumulators of executors: sums kept in variables while inner loops run, several at a time, so that additions need
not wait for one another."""
from __future__ import annotations

from dataclasses import replace

from codegen.sparse.algebra.expr import Exp, num, var
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.algebra.terms import functions, names, subst
from codegen.sparse.emit.cexpr import condition
from codegen.sparse.ir.nest import For, Guard, Let, Level
from codegen.sparse.ir.passes.prune import used_levels
from codegen.sparse.kernels.dots import DotPrinter
from codegen.sparse.kernels.guards import extreme

# Blocks: SpMV of 4x4 blocks that lie anywhere takes 7.5 ms without, 4.3 with 8, 4.1 with 16, 4.2 with 32 on a Neoverse
# N1; 5.2 when only the first element is asked for, since a block may lie on two cache lines.
AHEAD = 16
# Sums in flight, and for loops of how many entries. SpMV on a Neoverse N1, one sum / four / eight from 16 entries on:
# a band of 11 diagonals 1.02 / 1.21 / 1.03 ms, 4x4 blocks 1.39 / 1.39 / 1.30, rows by a power law 8.7 / 9.5 / 7.7.
LANES = 8
LONG = 16


class SumPrinter(DotPrinter):
    """Prints the loops inside the place of the result."""

    def sums(self, tail: list[Level], lanes: int = LANES) -> None:
        """Sums in variables, one for each iteration of the small loops that the place of the result depends on; `lanes`
        of them beside it where there are no such loops."""
        v = self.types.c_value
        held = [x for x in tail if isinstance(x, For) and x.var in self.need]
        size = 1
        for x in held:
            size *= x.high.const
        lanes = lanes if not held and len([x for x in tail if isinstance(x, For)]) == 1 else 1
        self.w.line(f"{v} sum[{size}] = {self.ring.zeros(size)};" if size > 1 else f"{v} sum = {self.ring.zero};")
        slot = num(0)
        for x in held:
            slot = slot * x.high.const + var(x.var)
        place = f"sum[{self.s.c(slot)}]" if held and size > 1 else "sum"
        self.unswitched(tail, place, lanes)
        inner = self.open([y for x in tail for y in self.for_result(x, held)])
        once = self.once and not self.p.kernel.adds and not self.p.starts
        value = self.scaled(place)
        self.w.line(f"{self.target()} = {value};" if once else self.ring.add(self.target(), value))
        self.close(inner)

    def for_result(self, x: Level, held: list[For]) -> list[Level]:
        """What of a level is needed again to find the place of the result."""
        if x in held:
            return [x]
        if isinstance(x, Guard):
            cons = tuple(c for c in x.cons if self.loops_of(names(c.exp)) <= self.need)
            return [replace(x, cons=cons)] if cons else []
        again = isinstance(x, Let) and self.loops_of(frozenset({x.var})) <= self.need and any(
            x.var in names(self.p.index[i]) for i in self.out.indices if i in self.p.index)
        return [x] if again else []

    def unswitched(self, tail: list[Level], place: str, lanes: int) -> None:
        """The loops without guards where the extremes allow it, else with them."""
        valued = any(isinstance(x, Guard) and x.nonzero is not None for x in tail)
        for first in (n for n, x in enumerate(tail) if isinstance(x, For) and not valued):
            tests = [extreme(self.p.lay, c, tail[first:]) for x in tail[first:] if isinstance(x, Guard) for c in x.cons]
            if tests and None not in tests:
                break
        else:
            self.accumulate(tail, place, lanes)
            return
        outer = self.open(tail[:first])
        self.prefetch(tail[:first])
        conds = [condition(t, self.s.extents) for t in tests if t is not None]
        if any(functions(t.exp) for t in tests if t is not None):  # an empty loop has no first and last element to read
            conds = [f"{self.s.c(x.low)} < {self.s.c(x.high)}" for x in tail[first:]
                     if isinstance(x, For) and (x.low.terms or x.high.terms)] + conds
        self.w.open(f"if ({' && '.join(conds)})")
        plain = tuple(x for x in tail[first:] if not isinstance(x, Guard))
        self.accumulate(list(used_levels(plain, self.need | self.product())), place, lanes)
        self.w.close("} else {")
        self.w.depth += 1
        self.accumulate(tail[first:], place, 1)
        self.w.close()
        self.close(outer)

    def prefetch(self, outer: list[Level]) -> None:
        """Where blocks are gone through by position: ask for what a later one takes from the dense operands. Few blocks
        fit into the window in which a processor looks ahead by itself."""
        loop = next((x for x in reversed(outer) if isinstance(x, For)), None)
        pos = self.p.lay.position(loop.var) if loop else None
        if loop is None or pos is None:
            return
        loops = [x for x in self.levels if isinstance(x, For) and x.var != loop.var]
        ends = [{x.var: num(0) for x in loops}, {x.var: num(0) if x.high.terms else x.high - 1 for x in loops}]
        lets = {x.var: x.value for x in self.levels if isinstance(x, Let)}
        index = dict(self.p.index)
        for _ in lets:
            index = {i: subst(e, lets) for i, e in index.items()}
        first, last = ({i: subst(e, {**end, loop.var: var("tw_ahead")}) for i, e in index.items()} for end in ends)
        factors = [f for f in self.p.kernel.terms[0].tensors
                   if f != self.p.operand and any(functions(first[i]) for i in f.indices if i in first)]
        if not factors or self.p.summed:
            return
        v = loop.var
        self.w.line(f"const int64_t tw_ahead = {v} + {AHEAD} < {pos.size} ? {v} + {AHEAD} : {v};")
        for f in factors:
            place = self.element(f, replace(self.p, index=first))
            self.w.line(f"__builtin_prefetch(&{place});")
            span = last[f.indices[0]] - first[f.indices[0]] if len(f.indices) == 1 else num(0)
            if span.const > 0 and not span.terms:  # as a number: where the last block is cut off, so is the operand
                address = f"(uintptr_t)&{place} + {span.const} * sizeof *{f.name}"
                self.w.line(f"__builtin_prefetch((const void *)({address}));")

    def product(self) -> frozenset[str]:
        """Names that the product needs."""
        inside = (self.p.index[x] for f in self.p.kernel.terms[0].tensors for x in f.indices
                  if f != self.p.operand and x in self.p.index)
        return names(self.p.scan.value).union(*(names(e) for e in inside))

    def accumulate(self, levels: list[Level], place: str, lanes: int) -> None:
        loops = [x for x in levels if isinstance(x, For)]
        if lanes == 1 or len(loops) != 1 or self.p.summed:
            opened = self.open(levels)
            self.dot(place)
            self.close(opened)
            return
        (loop,) = loops
        body = levels[levels.index(loop) + 1:]
        opened = self.open(levels[:levels.index(loop)])
        high = self.s.c(loop.high)
        self.w.line(f"int64_t {loop.var} = {self.s.c(loop.low)};")
        self.w.open(f"if ({high} - {loop.var} >= {LONG})")
        sums = [f"tw_sum{n}" for n in range(lanes)]
        self.w.line(f"{self.types.c_value} {', '.join(f'{s} = {self.ring.zero}' for s in sums)};")
        self.w.open(f"for (; {loop.var} < {high} - {lanes - 1}; {loop.var} += {lanes})")
        for n, s in enumerate(sums):
            self.lane(body, loop.var, n, s)
        self.w.close()
        pairs = [f"({self.ring.total(sums[n:n + 2])})" for n in range(0, lanes, 2)]
        self.w.line(f"{place} = {self.ring.total(pairs)};")
        self.w.close()
        self.w.open(f"for (; {loop.var} < {high}; {loop.var}++)")
        self.lane(body, loop.var, 0, place)
        self.w.close()
        self.close(opened)

    def lane(self, body: list[Level], v: str, ahead: int, place: str) -> None:
        """One product, some iterations ahead, into one of the sums."""
        values: dict[str, Exp] = {v: var(v) + ahead}
        for x in body:
            if isinstance(x, Let):
                values[x.var] = subst(x.value, values)
            elif isinstance(x, Guard):
                conds = [f"{self.s.c(subst(x.nonzero, values))} != 0"] if x.nonzero is not None else []
                conds += [condition(Constraint(subst(c.exp, values), c.equal), self.s.extents) for c in x.cons]
                self.w.line(f"if ({' && '.join(conds)})")
        p = self.p
        moved = replace(p, index={i: subst(e, values) for i, e in p.index.items()},
                        scan=replace(p.scan, value=subst(p.scan.value, values)))
        guarded = any(isinstance(x, Guard) for x in body)
        self.w.line(f"{'    ' if guarded else ''}{self.ring.add(place, self.factors(moved=moved))}")

    def dot(self, place: str, stores: bool = False, scales: bool = False) -> None:
        """The product, summed over the dense indices that the result does not have, is added at a place, or stored."""
        product = self.factors()
        if self.p.summed:
            product = self.ring.product([self.element(self.p.operand), self.dense_sum()])
        value = self.scaled(product) if scales else product
        self.w.line(f"{place} = {value};" if stores else self.ring.add(place, value))
