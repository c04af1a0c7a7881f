"""Prints executors with their row loop blocked (`StripPrinter`): 4 or 8 rows at a time and a remainder loop, where the
bounds of the inner loop do not depend on the row. `strip` chooses how many, 0 where blocking is not possible."""
from __future__ import annotations

import copy
from dataclasses import replace

from codegen.sparse.algebra.expr import Exp, num, var
from codegen.sparse.algebra.terms import calls, names, subst
from codegen.sparse.ir.nest import For, Level
from codegen.sparse.ir.walk import expressions, rewrite_exps
from codegen.sparse.kernels.sums import SumPrinter

# SpMV with 11 entries in a row on a Neoverse N1, in ms by rows at a time 1 / 2 / 4 / 8: diagonals 5.2 / 4.0 / 3.0 /
# 2.9, padded rows, which also read a column for each entry, 4.9 / 4.3 / 4.4 / 4.9.
ROWS, ROWS_WITH_INDICES = 8, 4
ROW = "tw_r"


class StripPrinter(SumPrinter):
    """Prints the nest in strips of rows, and the rows that are left."""

    def strip(self) -> int:
        """How many rows to take at a time; 0 where rows differ in length or are not stored once each."""
        first = self.levels[0]
        loops = [x for x in self.levels if isinstance(x, For)]
        if not isinstance(first, For) or not self.once or len(loops) != 2 or self.p.summed \
                or self.levels[1] != loops[1] or first.low != num(0):
            return 0
        inner = loops[1]
        if first.var in names(inner.low) | names(inner.high):
            return 0
        own = [k for e in expressions((*self.levels[2:], *self.p.index.values())) for k in calls(e)
               if any(first.var in names(a) for a in k.args)]
        return ROWS_WITH_INDICES if own else ROWS

    def strips(self, rows: int) -> None:
        first, inner, *rest = self.levels
        assert isinstance(first, For)
        v, high = first.var, self.s.c(first.high)
        if self.parallel():
            self.w.pragma("parallel for schedule(dynamic, 64)")
        self.w.open(f"for (int64_t {v} = 0; {v} < {high} - {rows - 1}; {v} += {rows})")
        self.moved(rows, first, inner, rest).sums([inner, For(ROW, num(0), num(rows)), *self.later(rest, v)])
        self.w.close()
        self.w.open(f"for (int64_t {v} = {high} / {rows} * {rows}; {v} < {high}; {v}++)")
        self.sums([inner, *rest], 1)
        self.w.close()

    def later(self, levels: list[Level], v: str) -> list[Level]:
        """Levels as they are some rows after the strip's first."""
        return [rewrite_exps(x, lambda e: _after(e, v)) for x in levels]

    def moved(self, rows: int, first: For, inner: Level, rest: list[Level]) -> StripPrinter:
        """This printer for one row of the strip: the number of the row in it is a small loop like those of blocks."""
        out, p, v = copy.copy(self), self.p, first.var
        out.p = replace(p, index={x: _after(e, v) for x, e in p.index.items()},
                        scan=replace(p.scan, value=_after(p.scan.value, v), loops=(*p.scan.loops, ROW)))
        out.levels = [first, inner, For(ROW, num(0), num(rows)), *self.later(rest, v)]
        out.need, out.once = self.need | {ROW}, True
        return out


def _after(e: Exp, v: str) -> Exp:
    return subst(e, {v: var(v) + var(ROW)})
