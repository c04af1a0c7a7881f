"""Prints the C that divides iterations of a conversion among threads (`SharePrinter`): part t of `parts` of the
outermost loop, from `low` to `high` - 1; parallel.py prints the steps inside."""
from __future__ import annotations

from collections.abc import Callable

from codegen.sparse.algebra.expr import Exp, num, var
from codegen.sparse.algebra.terms import names, subst
from codegen.sparse.emit.steps import StepPrinter
from codegen.sparse.ir.nest import For, Let, Nest
from codegen.sparse.ir.passes.overrun_fill import pointers

REGION = "#pragma omp parallel num_threads(threads)"
FOR = "#pragma omp parallel for num_threads(threads)"
SHARE = ("low", "high")


class SharePrinter(StepPrinter):
    """What the parallel printer needs to open regions and loops over parts."""

    def region(self) -> None:
        """Open a parallel region with the thread's number and how many there are."""
        self.w.line(REGION)
        self.w.open("")
        self.w.line("const int64_t t = omp_get_thread_num(), parts = omp_get_num_threads(); "
                    "/* perhaps fewer than asked */")

    def each_part(self) -> None:
        """Open a loop over as many parts as threads were asked for: the same parts in every such loop."""
        self.w.line(f"{FOR} schedule(static, 1)")
        self.w.open("for (int64_t t = 0; t < threads; t++)")
        self.w.line("const int64_t parts = threads;")

    def share(self, nest: Nest) -> None:
        """Define low and high."""
        bounds = self.bounds(nest)
        self.w.line(f"const int64_t low = {bounds[0]}, high = {bounds[1]};")

    def bounds(self, nest: Nest) -> list[str]:
        first = nest[0]
        assert isinstance(first, For)
        segments = pointers(nest)
        if not segments:
            return self.equal_parts(first)
        size = self.c(first.high)  # as many elements for each thread, not as many segments
        return [f"tw_share({segments[0]}, {size}, {t}, parts)" for t in ("t", "t + 1")]

    def equal_parts(self, loop: For) -> list[str]:
        low, count = self.c(loop.low), self.c(loop.high - loop.low)
        base = "" if low == "0" else f"{low} + "
        count = count if count.isidentifier() else f"({count})"
        return [f"{base}{count} * {t} / parts" for t in ("t", "(t + 1)")]

    def dealt(self, nest: Nest, key: Exp) -> bool:
        """Can parts of the outermost loop be cut where the key changes, and is it known how many entries come before
        each part? Entries are in order of the key."""
        first = nest[0]
        loops = {x.var for x in nest if isinstance(x, For)}
        if not isinstance(first, For) or first.low != num(0) or not all(isinstance(x, (For, Let)) for x in nest):
            return False
        return names(_inlined(nest, key)) & loops == {first.var} and (len(loops) == 1 or bool(pointers(nest)))

    def share_between(self, nest: Nest, key: Exp) -> Callable[[Exp], str]:
        """Define low and high such that iterations of equal keys, which follow one another, fall into one part. The
        result prints the key at an iteration of the outermost loop."""
        first = nest[0]
        assert isinstance(first, For)
        value = _inlined(nest, key)

        def at(place: Exp) -> str:
            return self.c(subst(value, {first.var: place}))

        start, end = self.c(first.low), self.c(first.high)
        w, bounds = self.w, self.bounds(nest)
        w.line(f"int64_t low = {bounds[0]}, high = {bounds[1]};")
        for bound in SHARE:
            w.line(f"while ({bound} > {start} && {bound} < {end} && {at(var(bound))} == {at(var(bound) - 1)})")
            w.line(f"    {bound}++;")
        return at

    def look(self, nest: Nest, keys: tuple[Exp, ...]) -> None:
        first = nest[0]
        if not isinstance(first, For) or sum(isinstance(x, For) for x in nest) != 1:
            super().look(nest, keys)
            return
        self.region()
        self.share(nest)
        for n in range(len(keys)):
            self.w.line(f"int64_t last{n} = INT64_MIN;")
        before = f"low > {self.c(first.low)} ? low - 1 : low"  # the last one of the part before is looked at too
        self.nest(nest, lambda: self.in_order(keys, "#pragma omp atomic write", "in_order = 0;"), (before, "high"))
        self.w.close()


def _inlined(nest: Nest, e: Exp) -> Exp:
    """An expression in loop variables and arrays alone."""
    values = {x.var: x.value for x in nest if isinstance(x, Let)}
    for _ in values:
        e = subst(e, values)
    return e
