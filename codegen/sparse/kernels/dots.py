"""Prints dot products along dense indices inside executors: `C(i,j) = A(i,j)*X(i,k)*Y(j,k)`. Several sums are in flight
along the index, and rows of dense operands that lie far apart are prefetched."""
from __future__ import annotations

from dataclasses import replace

from codegen.sparse.algebra.expr import Exp, var
from codegen.sparse.algebra.terms import functions, subst
from codegen.sparse.ir.nest import For, Let
from codegen.sparse.kernels.notation import Tensor
from codegen.sparse.kernels.pieces import Pieces

# Sums in flight along a dense index: two vectors of two. Variables, since compilers keep an array in memory around the
# loop that becomes vectors: SDDMM of a band with 16 columns on a Neoverse N1 10.1 ms with an array, 7.6 without.
DOTS = 4
# SDDMM with 16 columns on a Neoverse N1, entries ahead 0 / 4 / 8 / 16: columns anywhere 184 / 87 / 84 / 91 ms, a band,
# where caches have all rows, 15.5 / 18.3 / 17.4 / 16.5. So only where a row's columns span more than a cache.
AHEAD = 8
SPAN = 65536  # elements of the dense operand between the first and the last column of a row
LINE = 64  # bytes of a cache line


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

    def ask_ahead(self, f: Tensor, loop: For) -> None:
        """Before the product: the row of a later entry."""
        w, v, k = self.w, loop.var, f.indices[1]
        later = self.s.c(subst(self.traced(self.p.index[f.indices[0]]), {v: var("tw_ahead")}))
        w.open("if (tw_apart)")
        pos = self.p.lay.position(v)
        assert pos is not None
        w.line(f"const int64_t tw_ahead = {v} + {AHEAD} < {pos.size} ? {v} + {AHEAD} : {v};")
        w.line(f"const {self.types.c_value} *tw_row = &{f.name}[(int64_t){later} * n_{k}];")
        w.line("__builtin_prefetch(tw_row);")
        w.line(f"__builtin_prefetch((const void *)((uintptr_t)tw_row + {LINE}));")
        w.close()
