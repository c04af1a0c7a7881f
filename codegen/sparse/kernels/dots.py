"""Prints dot products along dense indices inside executors: `C(i,j) = A(i,j)*X(i,k)*Y(j,k)`. Several sums are in flight
along the index, several entries of a row share what they read of its own operand, and rows of dense operands that lie
far apart are prefetched."""
from __future__ import annotations

from dataclasses import replace

from codegen.sparse.algebra.expr import Exp, var
from codegen.sparse.algebra.terms import functions, names, subst
from codegen.sparse.ir.nest import For, Let
from codegen.sparse.kernels.notation import Tensor
from codegen.sparse.kernels.pieces import Pieces
from codegen.sparse.kernels.semiring import PLUS_TIMES

# Sums in flight along a dense index: two vectors of two. Variables, since compilers keep an array in memory around the
# loop that becomes vectors: SDDMM of a band with 16 columns on a Neoverse N1 10.1 ms with an array, 7.6 without.
DOTS = 4
# SDDMM with 16 columns on a Neoverse N1, entries ahead 0 / 4 / 8 / 16: columns anywhere 184 / 87 / 84 / 91 ms, a band,
# where caches have all rows, 15.5 / 18.3 / 17.4 / 16.5. So only where a row's columns span more than a cache.
AHEAD = 8
SPAN = 65536  # elements of the dense operand between the first and the last column of a row
LINE = 64  # bytes of a cache line
# Entries whose dot products are taken together. SDDMM of a band with 16 columns on a Neoverse N1, 500,000 entries:
# 4.3 ms one by one, 2.9 by two or four; with AVX-512, 2,000,000 entries: 10.3 and 8.8.
TOGETHER = 4


class DotPrinter(Pieces):
    """Prints sums over the dense indices that the result does not have."""

    def dense_sum(self) -> str:
        """A variable with the product, but for the sparse operand, summed."""
        w, (*outer, x) = self.w, self.p.summed
        dots = ["dot", *(f"tw_dot{n}" for n in range(1, DOTS))]
        w.line(f"{self.types.c_value} {', '.join(f'{d} = {self.ring.zero}' for d in dots)};")
        for y in outer:
            w.open(f"for (int64_t {y} = 0; {y} < n_{y}; {y}++)")
        w.line(f"int64_t {x} = 0;")
        w.open(f"for (; {x} <= n_{x} - {DOTS}; {x} += {DOTS})")
        for n, d in enumerate(dots):
            moved = replace(self.p, index={**self.p.index, x: var(x) + n})
            w.line(self.ring.add(d, self.factors(skip_sparse=True, moved=moved)))
        w.close()
        w.line(f"for (; {x} < n_{x}; {x}++)")
        w.line(f"    {self.ring.add('dot', self.factors(skip_sparse=True))}")
        self.close(len(outer))
        # Vectors are added whole.
        halves = [self.ring.total(dots[m::2]) for m in (0, 1)]
        w.line(f"dot = {self.ring.total([f'({h})' for h in halves])};")
        return "dot"

    def far_rows(self) -> tuple[Tensor, For] | None:
        """A dense operand whose rows an array of the format chooses, entry by entry in segments, and the loop."""
        loops = [x for x in self.levels if isinstance(x, For)]
        last = loops[-1]
        if len(loops) < 2 or len(self.p.summed) != 1 or not last.low.terms or self.p.lay.position(last.var) is None:
            return None
        for f in self.p.kernel.terms[0].factors:
            row = self.p.index.get(f.indices[0]) if len(f.indices) == 2 and f.indices[1] in self.p.summed else None
            plain = f != self.p.operand and f.indices and f.indices[0] not in self.p.rows
            if plain and row is not None and functions(self.traced(row)):
                return f, last
        return None

    def traced(self, e: Exp) -> Exp:
        """An expression without the names that the nest gives."""
        lets = {x.var: x.value for x in self.levels if isinstance(x, Let)}
        for _ in lets:
            e = subst(e, lets)
        return e

    def apart(self, f: Tensor, loop: For) -> None:
        """Before the loop: do its entries choose rows that lie far apart?"""
        row = self.traced(self.p.index[f.indices[0]])
        first, last = (self.s.c(subst(row, {loop.var: e})) for e in (loop.low, loop.high - 1))
        self.w.line(f"const int tw_apart = {self.s.c(loop.low)} < {self.s.c(loop.high)} && "
                    f"llabs((int64_t){last} - (int64_t){first}) * n_{f.indices[1]} > {SPAN};")

    def fixed_row(self, f: Tensor, loop: For) -> Tensor | None:
        """The other dense operand where all entries of the loop take the product of `f` with one row of it."""
        term = self.p.kernel.terms[0]
        others = [g for g in term.factors if g not in (f, self.p.operand)]
        after = self.levels[self.levels.index(loop) + 1:]
        if len(others) != 1 or term.over or self.ring != PLUS_TIMES or not all(isinstance(x, Let) for x in after):
            return None
        (g,) = others
        if len(g.indices) != 2 or g.indices[1] != f.indices[1] or g.indices[0] in self.p.rows:
            return None
        row = self.p.index.get(g.indices[0])
        return g if row is not None and loop.var not in names(self.traced(row)) else None

    def together(self, f: Tensor, g: Tensor, loop: For) -> None:
        """The loop over entries, several at a time: where fewer are left, the last is taken again, and stored once."""
        w, v, k, value = self.w, loop.var, f.indices[1], self.types.c_value
        high = self.s.c(loop.high)
        row = self.s.c(self.traced(self.p.index[g.indices[0]]))
        w.line(f"const {value} *const tw_x = &{g.name}[(int64_t)({row}) * n_{k}];")
        w.open(f"for (int64_t {v} = {self.s.c(loop.low)}; {v} < {high}; {v} += {TOGETHER})")
        w.line(f"{value} tw_dot[{TOGETHER}];")
        w.line(f"const {value} *tw_y[{TOGETHER}];")
        w.open(f"for (int64_t tw_m = 0; tw_m < {TOGETHER}; tw_m++)")
        w.line(f"const int64_t tw_e = {v} + tw_m < {high} ? {v} + tw_m : {high} - 1;")
        own = self.s.c(subst(self.traced(self.p.index[f.indices[0]]), {v: var("tw_e")}))
        w.line(f"tw_y[tw_m] = &{f.name}[(int64_t){own} * n_{k}];")
        self.ask_ahead(f, loop, "tw_e")
        w.close()
        w.line(f"tw_dots(tw_dot, tw_x, tw_y, n_{k});")
        w.open(f"for (int64_t tw_m = 0; tw_m < {TOGETHER} && {v} + tw_m < {high}; tw_m++)")
        moved = replace(self.p, scan=replace(self.p.scan, value=subst(self.p.scan.value, {v: var(v) + var("tw_m")})))
        product = self.scaled(self.ring.product([self.element(self.p.operand, moved), "tw_dot[tw_m]"]))
        place = self.target(moved)
        w.line(self.ring.add(place, product) if self.p.kernel.adds else f"{place} = {product};")
        w.close()
        w.close()

    def ask_ahead(self, f: Tensor, loop: For, at: str) -> None:
        """Before the product of the entry at a position: the row of a later one."""
        w, k = self.w, f.indices[1]
        later = self.s.c(subst(self.traced(self.p.index[f.indices[0]]), {loop.var: var("tw_ahead")}))
        w.open("if (tw_apart)")
        pos = self.p.lay.position(loop.var)
        assert pos is not None
        w.line(f"const int64_t tw_ahead = {at} + {AHEAD} < {pos.size} ? {at} + {AHEAD} : {at};")
        w.line(f"const {self.types.c_value} *tw_row = &{f.name}[(int64_t){later} * n_{k}];")
        w.line("__builtin_prefetch(tw_row);")
        w.line(f"__builtin_prefetch((const void *)((uintptr_t)tw_row + {LINE}));")
        w.close()
