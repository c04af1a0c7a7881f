"""Prints elements and loops of an executor as C (base class of its printers), and decides what its nest allows: is each
result stored once, is the outermost loop parallel, where does a sum end."""

from __future__ import annotations

from dataclasses import replace

from codegen.sparse.algebra.expr import Call, Exp, Name, as_call, as_name, div, num, single, var
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.algebra.terms import coefficient, functions, names, subst
from codegen.sparse.emit.stmts import StmtPrinter
from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.ir.nest import For, Guard, Let, Level
from codegen.sparse.ir.passes.prune import used_levels
from codegen.sparse.ir.read_write_sets import reads
from codegen.sparse.ir.walk import expressions
from codegen.sparse.kernels.notation import Tensor
from codegen.sparse.kernels.plan import KernelPlan
from codegen.sparse.kernels.semiring import PLUS_TIMES
from codegen.sparse.synth.pair import sizes


class Pieces:
    """Prints into a writer. `levels`: the operand's nest; `need`: the loops that the place of the result depends on."""

    def __init__(self, p: KernelPlan, formats: dict[str, Descriptor], types: Types) -> None:
        self.p, self.types, self.formats = p, types, formats
        self.w = Writer()
        self.s = StmtPrinter(self.w, sizes(p.lay), types)
        assert p.kernel.out is not None
        self.out = p.kernel.out
        self.ring = p.kernel.semiring
        # Divided by 0 perhaps, or not the zero of the semiring, so that a stored zero is not nothing.
        counts = bool(p.kernel.terms[0].over) or self.ring.times != "*" or self.ring.reals
        levels = tuple(x if counts else self.without_values(x) for x in p.scan.nest
                       if counts or not self.only_values(x))
        self.levels = list(used_levels(levels, self.used()))
        need = frozenset().union(*(names(p.index[x]) for x in self.out.indices if x in p.index)) if not p.same else \
            frozenset(p.scan.loops)
        self.need = self.loops_of(need)
        self.once = self.stores_once()

    def used(self) -> frozenset[str]:
        """Names that the product and its place need."""
        p = self.p
        tensors = [f for f in p.kernel.terms[0].tensors if f != p.operand] + [self.out] * (not p.same)
        return names(p.scan.value).union(*(names(p.index[x]) for t in tensors for x in t.indices if x in p.index))

    @staticmethod
    def only_values(x: Level) -> bool:
        return isinstance(x, Guard) and not x.cons

    @staticmethod
    def without_values(x: Level) -> Level:
        """A stored zero adds nothing to a product, so it need not be told from an entry."""
        return replace(x, nonzero=None) if isinstance(x, Guard) else x

    def loops_of(self, need: frozenset[str]) -> frozenset[str]:
        """Loop variables that names depend on."""
        lets = {x.var: names(x.value) for x in self.levels if isinstance(x, Let)}
        while any(n in lets for n in need):
            need = frozenset().union(*(lets.get(n, frozenset({n})) for n in need))
        return need & frozenset(self.p.scan.loops)

    # --- elements ----------------------------------------------------------------------------------------------

    def element(self, t: Tensor, moved: KernelPlan | None = None) -> str:
        """An element of a dense tensor, or the value of the sparse operand; `moved`: at another iteration."""
        p = moved or self.p
        if t == p.operand:
            return self.s.c(p.scan.value)
        at = ""
        for x in t.indices:
            e = self.s.c(p.index[x]) if x in p.index else x
            e = f"{p.rows[x]}[{e}]" if x in p.rows else e
            at = f"({at}) * {p.extent[x]} + {e}" if at else e
        return f"{t.name}[{at or '0'}]"

    def target(self, moved: KernelPlan | None = None) -> str:
        p = moved or self.p
        if p.same:
            call = single(p.scan.value)
            assert isinstance(call, Call)
            return f"{self.out.name}[{self.s.c(call.args[0])}]"
        return self.element(self.out, p)

    def factors(self, skip_sparse: bool = False, moved: KernelPlan | None = None) -> str:
        term = self.p.kernel.terms[0]
        factors = [self.element(f, moved) for f in term.factors if not (skip_sparse and f == self.p.operand)]
        return " / ".join([self.ring.product(factors or ["1"]), *(self.element(f, moved) for f in term.over)])

    def scaled(self, product: str) -> str:
        """A product or its sum, multiplied by what stands before it."""
        term = self.p.kernel.terms[0]
        if self.ring == PLUS_TIMES:
            return f"{term.scale} * {product}" if term.scale else product
        return self.ring.product([*term.scalars, product])

    def whole_index(self, name: str) -> bool:
        """Is a function that is never negative only used as it is, to find elements of dense operands? As a part of an
        index it gains nothing: SpMV of 4x4 blocks takes 5.0 ms with unsigned columns, 3.8 with signed ones (N1)."""
        f = self.p.lay.desc.function(name)
        assert f is not None
        y = var(f.range.ins[0])
        low = [y - c.exp for c in f.range.cons if not c.equal]
        if not any(not e.terms and e.const >= 0 for e in low):
            return False
        lets = {x.var: x.value for x in self.levels if isinstance(x, Let)}
        index = list(self.p.index.values())
        for _ in lets:
            index = [subst(e, lets) for e in index]
        plain = [e for e in (*lets.values(), *index) if name in functions(e)]
        others = expressions(tuple(x for x in self.levels if not isinstance(x, Let)))
        return bool(plain) and all(as_call(e) for e in plain) and not any(name in functions(e) for e in others)

    # --- loops -------------------------------------------------------------------------------------------------

    def open(self, levels: list[Level]) -> int:
        opened = 0
        for x in levels:
            if isinstance(x, For):
                low, high = self.s.c(x.low), self.s.c(x.high)
                self.w.open(f"for (int64_t {x.var} = {low}; {x.var} < {high}; {x.var}++)")
                opened += 1
            elif isinstance(x, Guard):
                self.s.guard(x)
            elif isinstance(x, Let):
                self.w.line(f"const int64_t {x.var} = {self.s.c(x.value)};")
        return opened

    def close(self, count: int) -> None:
        for _ in range(count):
            self.w.close()

    # --- the place of the result -------------------------------------------------------------------------------

    def stores_once(self) -> bool:
        """Every element of the result is stored exactly once, after its sum."""
        if self.p.free or self.p.same or len(self.out.indices) != 1:
            return False
        if not self.summing():
            return False
        e = self.p.index.get(self.out.indices[0])
        first = next(x for x in self.levels if isinstance(x, For))
        extent = var(self.p.extent[self.out.indices[0]])
        if e is None or first.low != num(0) or self.left_out(Constraint(extent - e - 1)):
            return False
        if e == var(first.var):
            return first.high == extent
        size = owned_block(e, first.var, self.levels)
        return size > 0 and dict(self.p.lay.desc.lets).get(as_name(first.high) or "") == div(extent + (size - 1), size)

    def left_out(self, within: Constraint) -> bool:
        """Is there a place of the result that guards keep the nest from, though it lies within the extent?"""
        tests = [c for x in self.levels if isinstance(x, Guard) for c in x.cons]
        return any(c != within and self.loops_of(names(c.exp)) <= self.need for c in tests)

    def fixed(self) -> int:
        """How many levels, from outside, must be run before the place of the result is known but for small loops."""
        small = self.small()
        at = [n for n, x in enumerate(self.levels) if isinstance(x, For) and x.var in self.need - small]
        return max(at, default=-1) + 1

    def settled(self) -> int:
        """How many levels, from outside, are run once for each place of the result but for small loops."""
        at = self.fixed()
        while at < len(self.levels) and isinstance(self.levels[at], (Let, Guard)) and self.early(self.levels[at]):
            at += 1
        return at

    def small(self) -> frozenset[str]:
        """Loops of literal length."""
        return frozenset(x.var for x in self.levels
                         if isinstance(x, For) and not x.high.terms and not x.low.terms and x.low.const >= 0)

    def summing(self) -> bool:
        """Do loops run inside that leave the place of the result alone?"""
        inner = [x for x in self.levels[self.fixed():] if isinstance(x, For) and x.var not in self.need]
        return bool(inner) and not self.p.free and not self.p.same

    def early(self, x: Level) -> bool:
        return not any(isinstance(y, For) and y.var in reads(x) for y in self.levels[self.fixed():])

    def parallel(self) -> bool:
        """Different iterations of the outermost loop touch different elements of the result."""
        first = next(x for x in self.levels if isinstance(x, For))
        if self.p.same:
            return True
        return any(self.p.index[x] == var(first.var) or owned_block(self.p.index[x], first.var, self.levels)
                   for x in self.out.indices if x in self.p.index)

    def indexed(self) -> tuple[For, str] | None:
        """The outermost loop and the array that gives an index of the result at each of its iterations, where that is
        how they differ: rows that have entries, with the number of each."""
        first, *inner = (x for x in self.levels if isinstance(x, For))
        lets = {x.var: x.value for x in self.levels if isinstance(x, Let)}
        for x in (x for x in self.out.indices if x in self.p.index and not self.p.same):
            e = self.p.index[x]
            for _ in lets:
                e = subst(e, lets)
            k = as_call(e)
            if k and inner and k.args == (var(first.var),) and self.levels[0] == first:
                return first, k.id
        return None


def owned_block(e: Exp, v: str, levels: list[Level]) -> int:
    """B for B*v + r with r of a loop of length B: blocks of the result that no other iteration touches; else 0."""
    full = e
    for x in reversed(levels):
        if isinstance(x, Let):
            full = subst(full, {x.var: x.value})
    c = coefficient(full, Name(v))
    rest = full - var(v) * c
    span = 0
    for a, k in rest.terms:
        loop = next((x for x in levels if isinstance(x, For) and a == Name(x.var) and not x.high.terms), None)
        if loop is None or k < 0 or loop.low.terms or loop.low.const < 0:
            return 0
        span += k * (loop.high.const - 1)
    return c if c > 0 and rest.const == 0 and span < c else 0
