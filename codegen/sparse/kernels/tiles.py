"""Register tiles of executors: where a row of the result has an index of its own (`Y(i,k) = A(i,j)*X(j,k)`), some of
its elements are added up in variables over all entries of the row, so that the result is written once."""
from __future__ import annotations

from dataclasses import replace

from codegen.sparse.algebra.expr import num, var
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.ir.nest import For, Level
from codegen.sparse.kernels.strips import StripPrinter

# SpMM of a band with 16 columns on a Neoverse N1, which has 32 vector registers of two doubles.
TILES = (16, 4, 1)
LANE = "tw_l"


class TilePrinter(StripPrinter):
    """Prints the loops over the entries of a row, once for each tile of columns of the result."""

    def tiled(self) -> bool:
        """Is the result's last index the one that the sparse operand lacks, and its place known before the row's
        entries are gone through?"""
        p, at = self.p, self.settled()
        inner = [x for x in self.levels[at:] if isinstance(x, For)]
        return p.free == self.out.indices[-1:] and not p.summed and not p.same and bool(inner) \
            and not any(x.var in self.need for x in inner)

    def whole_rows(self) -> bool:
        """Is every row of the result gone through once, so that its elements are stored and not added to?"""
        first = next(x for x in self.levels if isinstance(x, For))
        if not self.tiled() or self.p.kernel.adds or self.p.starts or len(self.out.indices) != 2:
            return False
        row = self.out.indices[0]
        extent = var(self.p.extent[row])
        return self.p.index.get(row) == var(first.var) and first.low == num(0) and first.high == extent \
            and not self.left_out(Constraint(extent - var(first.var) - 1))

    def tiles(self, tail: list[Level]) -> None:
        (k,) = self.p.free
        self.w.line(f"int64_t {k} = 0;")
        for width in TILES:
            self.w.open(f"for (; {k} <= n_{k} - {width}; {k} += {width})")
            self.tile(tail, k, width)
            self.w.close()

    def tile(self, tail: list[Level], k: str, width: int) -> None:
        w, value = self.w, self.types.c_value
        moved = replace(self.p, index={**self.p.index, k: var(k) + var(LANE)}) if width > 1 else self.p
        place, loop = "sum", ""
        if width > 1:
            place, loop = f"sum[{LANE}]", f"for (int64_t {LANE} = 0; {LANE} < {width}; {LANE}++)"
        w.line(f"{value} sum[{width}] = {self.ring.zeros(width)};" if loop else f"{value} sum = {self.ring.zero};")
        opened = self.open(tail)
        w.line(f"const {value} a = {self.scaled(self.element(self.p.operand))};")
        self.each(loop, self.ring.add(place, self.ring.product(["a", self.factors(skip_sparse=True, moved=moved)])))
        self.close(opened)
        target = self.element(self.out, moved)
        self.each(loop, f"{target} = {place};" if self.whole_rows() else self.ring.add(target, place))

    def each(self, loop: str, line: str) -> None:
        if loop:
            self.w.line(loop)
        self.w.line(f"    {line}" if loop else line)
