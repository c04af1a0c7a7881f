"""Executors: a product with one sparse operand, scanned in the order of its format.

The nest of the sparse operand is the outside; indices it does not have become loops inside. Sums that stay in place
while inner loops run are kept in variables, several at a time so that additions need not wait for one another. Guards
against padding are tested once for a whole inner loop where the extreme of the loop decides them.
"""
from __future__ import annotations

from dataclasses import replace

from codegen.record import record
from codegen.sparse.algebra.expr import Call, Exp, Name, calls, coefficient, names, num, single, subst, var
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.emit.cexpr import condition
from codegen.sparse.emit.file import CFunction
from codegen.sparse.emit.formats import type_name
from codegen.sparse.emit.stmts import StmtPrinter
from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.ir.model import For, Guard, Let, Level
from codegen.sparse.ir.passes.prune import used_levels
from codegen.sparse.ir.walk import reads
from codegen.sparse.kernels.notation import Kernel, Tensor, bad_kernel
from codegen.sparse.synth.layout import Layout, layout
from codegen.sparse.synth.pair import apart, sizes
from codegen.sparse.synth.source import Scan, prefixed, scan

LANES = 4  # sums in flight: a fused multiply-add takes 4 cycles where loads allow one a cycle


@record
class Plan:
    """The sparse operand, its scan, and every index as an expression."""

    kernel: Kernel
    operand: Tensor
    lay: Layout
    scan: Scan
    index: dict[str, Exp]
    extent: dict[str, str]
    free: tuple[str, ...]
    summed: tuple[str, ...]
    same: bool


def plan(k: Kernel, formats: dict[str, Descriptor]) -> Plan:
    """Raises for notations that are no product with one sparse operand."""
    if len(k.terms) != 1 or k.out is None:
        raise bad_kernel("a kernel is one product, or a sum of sparse tensors of the same indices")
    term = k.terms[0]
    sparse = [f for f in term.factors if f.name in formats]
    if len(sparse) != 1 or term.sign < 0:
        raise bad_kernel("exactly one operand must be sparse", hint="name its format with --format A=CSR")
    (a,) = sparse
    d = formats[a.name]
    if d.rank != len(a.indices):
        raise bad_kernel(f"{a} has {len(a.indices)} indices and {d.name} {d.rank} dimensions")
    taken = frozenset({x for t in k.tensors for x in (t.name, *t.indices) if x not in a.indices})
    lay = layout(apart(prefixed(d, f"{a.name}_", tuple(f"{a.name}_{s}" for s in d.shape)), taken))
    s = scan(lay)
    index = dict(zip(a.indices, s.coords, strict=True))
    dense = tuple(dict.fromkeys(x for f in term.factors for x in f.indices if x not in index))
    extent = dict(zip(a.indices, lay.desc.shape, strict=True)) | {x: f"n_{x}" for x in dense}
    free = tuple(x for x in dense if x in k.out.indices)
    same = k.out.name in formats
    if same and (formats[k.out.name] != d or k.out.indices != a.indices):
        raise bad_kernel(f"a sparse result must have the format and the indices of {a.name}")
    return Plan(k, a, lay, s, index, extent, free, tuple(x for x in dense if x not in free), same)


def executor(k: Kernel, formats: dict[str, Descriptor], name: str, types: Types) -> CFunction:
    """The function NAME(out, operands..., extents of indices the sparse operand does not have)."""
    p = plan(k, formats)
    return _Printer(p, formats, types).function(name)


class _Printer:
    def __init__(self, p: Plan, formats: dict[str, Descriptor], types: Types) -> None:
        self.p, self.types, self.formats = p, types, formats
        self.w = Writer()
        self.s = StmtPrinter(self.w, sizes(p.lay), types)
        self.levels = [self.without_values(x) for x in p.scan.nest if not self.only_values(x)]
        assert p.kernel.out is not None
        self.out = p.kernel.out
        need = frozenset().union(*(names(p.index[x]) for x in self.out.indices if x in p.index)) if not p.same else \
            frozenset(p.scan.loops)
        self.need = self.loops_of(need)

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

    # --- pieces of C -------------------------------------------------------------------------------------------

    def element(self, t: Tensor) -> str:
        """An element of a dense tensor, or the value of the sparse operand."""
        if t == self.p.operand:
            return self.s.c(self.p.scan.value)
        at = ""
        for x in t.indices:
            e = self.s.c(self.p.index[x]) if x in self.p.index else x
            at = f"({at}) * {self.p.extent[x]} + {e}" if at else e
        return f"{t.name}[{at or '0'}]"

    def target(self) -> str:
        if self.p.same:
            call = single(self.p.scan.value)
            assert isinstance(call, Call)
            return f"{self.out.name}[{self.s.c(call.args[0])}]"
        return self.element(self.out)

    def factors(self, skip_sparse: bool = False) -> str:
        term = self.p.kernel.terms[0]
        return " * ".join(self.element(f) for f in term.factors if not (skip_sparse and f == self.p.operand))

    # --- the function ------------------------------------------------------------------------------------------

    def function(self, name: str) -> CFunction:
        self.clear()
        self.nest()
        params = ", ".join(self.parameters())
        comment = f"/* {self.p.kernel.text}, {self.p.operand.name} in {self.formats[self.p.operand.name].name}. */"
        return CFunction(comment, f"int {name}({params})", self.declarations(), self.w.text, "")

    def parameters(self) -> list[str]:
        v = self.types.c_value
        out = [f"{v} *restrict {self.out.name}"]
        for f in self.p.kernel.terms[0].factors:
            sparse = f == self.p.operand
            kind = type_name(self.formats[f.name], self.types) if sparse else v
            out.append(f"const {kind} *{'' if sparse else 'restrict '}{f.name}")
        return [*dict.fromkeys(out), *(f"int64_t n_{x}" for x in (*self.p.free, *self.p.summed))]

    def declarations(self) -> str:
        w = Writer()
        w.line("int status = TW_SPARSE_OK;")
        a, d = self.p.operand.name, self.p.lay.desc
        used = frozenset().union(*(reads(x) for x in self.levels)) | {self.p.extent[x] for x in self.out.indices}
        used |= {self.p.extent[x] for f in self.p.kernel.terms[0].factors for x in f.indices[1:]}
        used |= names(self.p.scan.value)
        used |= frozenset().union(*(names(e) for n, e in d.lets))
        for n in (*d.shape, *dict.fromkeys(q.size for q in self.p.lay.positions)):
            if n in used or f"{n}" in self.w.text:
                w.line(f"const int64_t {n} = {a}->{n.removeprefix(a + '_')};")
        for n, e in d.lets:
            if n in used:
                w.line(f"const int64_t {n} = {self.s.c(e)};")
        for f in d.functions:
            w.line(f"const {self.types.c_index} *restrict const {f.name} = {a}->{f.name.removeprefix(a + '_')};")
        w.line(f"const {self.types.c_value} *restrict const {d.data} = {a}->{d.data.removeprefix(a + '_')};")
        for n, t in sorted(self.s.scalars.items()):
            w.line(f"{t} {n} = 0;")
        return self.trimmed(w.text)

    def trimmed(self, text: str) -> str:
        """Without what the body does not mention."""
        import re

        kept, body = [], self.w.text
        for line in reversed(text.splitlines()):
            m = re.search(r"(\w+) = ", line)
            if not m or m[1] == "status" or re.search(rf"\b{m[1]}\b", body):
                kept.append(line)
                body += line
        return "".join(f"{x}\n" for x in reversed(kept))

    def clear(self) -> None:
        if self.p.kernel.adds or self.p.same or self.stores_once():
            return
        size = " * ".join(self.p.extent[x] for x in self.out.indices) or "1"
        self.w.line(f"for (int64_t tw_x = 0; tw_x < {size}; tw_x++)")
        self.w.line(f"    {self.out.name}[tw_x] = 0;")

    def stores_once(self) -> bool:
        """Every element of the result is stored exactly once, after its sum."""
        if self.p.free or self.p.same or len(self.out.indices) != 1:
            return False
        if not self.summing():
            return False
        e = self.p.index.get(self.out.indices[0])
        first = next(x for x in self.levels if isinstance(x, For))
        whole = first.high == var(self.p.extent[self.out.indices[0]])
        return e is not None and e == var(first.var) and whole

    def fixed(self) -> int:
        """How many levels, from outside, must be run before the place of the result is known but for small loops."""
        small = self.small()
        at = [n for n, x in enumerate(self.levels) if isinstance(x, For) and x.var in self.need - small]
        return max(at, default=-1) + 1

    def small(self) -> frozenset[str]:
        """Loops of literal length."""
        return frozenset(x.var for x in self.levels if isinstance(x, For) and not x.high.terms and not x.low.terms)

    def summing(self) -> bool:
        """Do loops run inside that leave the place of the result alone?"""
        inner = [x for x in self.levels[self.fixed():] if isinstance(x, For) and x.var not in self.need]
        return bool(inner) and not self.p.free and not self.p.same

    def nest(self) -> None:
        at = self.fixed()
        while at < len(self.levels) and isinstance(self.levels[at], (Let, Guard)) and self.early(self.levels[at]):
            at += 1
        head, tail = self.levels[:at], self.levels[at:]
        if self.parallel():
            self.w.line("#pragma omp parallel for schedule(dynamic, 256)")
        opened = self.open(head)
        if self.summing():
            self.sums(tail)
        else:
            inner = self.open(tail)
            self.innermost()
            self.close(inner)
        self.close(opened)

    def early(self, x: Level) -> bool:
        return not any(isinstance(y, For) and y.var in names_of(x) for y in self.levels[self.fixed():])

    def parallel(self) -> bool:
        """Different iterations of the outermost loop touch different elements of the result."""
        first = next(x for x in self.levels if isinstance(x, For))
        if self.p.same:
            return True
        return any(self.p.index[x] == var(first.var) or _owned(self.p.index[x], first.var, self)
                   for x in self.out.indices if x in self.p.index)

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

    # --- sums --------------------------------------------------------------------------------------------------

    def sums(self, tail: list[Level]) -> None:
        """Sums in variables, one for each iteration of the small loops that the place of the result depends on."""
        v = self.types.c_value
        held = [x for x in tail if isinstance(x, For) and x.var in self.need]
        size = 1
        for x in held:
            size *= x.high.const
        lanes = LANES if not held and len([x for x in tail if isinstance(x, For)]) == 1 else 1
        count = size * lanes
        self.w.line(f"{v} sum[{count}] = {{0}};" if count > 1 else f"{v} sum = 0;")
        slot = num(0)
        for x in held:
            slot = slot * x.high.const + var(x.var)
        place = f"sum[{self.s.c(slot)}]" if held and size > 1 else "sum"
        self.unswitched(tail, place, lanes)
        total = " + ".join(f"sum[{n}]" for n in range(lanes)) if lanes > 1 else place
        inner = self.open([x for x in tail if self.for_result(x, held)])
        once = self.stores_once() and not self.p.kernel.adds
        self.w.line(f"{self.target()} {'=' if once else '+='} {f'({total})' if lanes > 1 else total};")
        self.close(inner)

    def for_result(self, x: Level, held: list[For]) -> bool:
        """Levels needed again to find the place of the result."""
        if x in held:
            return True
        if isinstance(x, Guard):
            free = frozenset().union(*(self.loops_of(names(c.exp)) for c in x.cons))
            return free <= self.need
        return isinstance(x, Let) and self.loops_of(frozenset({x.var})) <= self.need and any(
            x.var in names(self.p.index[i]) for i in self.out.indices if i in self.p.index)

    def unswitched(self, tail: list[Level], place: str, lanes: int) -> None:
        """The loops without guards where the extremes allow it, else with them."""
        for first in (n for n, x in enumerate(tail) if isinstance(x, For)):
            tests = [self.extreme(c, tail[first:]) for x in tail[first:] if isinstance(x, Guard) for c in x.cons]
            if tests and None not in tests:
                break
        else:
            self.accumulate(tail, place, lanes)
            return
        outer = self.open(tail[:first])
        conds = [condition(t, self.s.extents) for t in tests if t is not None]
        self.w.open(f"if ({' && '.join(conds)})")
        plain = tuple(x for x in tail[first:] if not isinstance(x, Guard))
        self.accumulate(list(used_levels(plain, self.used())), place, lanes)
        self.w.close("} else {")
        self.w.depth += 1
        self.accumulate(tail[first:], "sum[0]" if lanes > 1 else place, 1)
        self.w.close()
        self.close(outer)

    def used(self) -> frozenset[str]:
        """Names that the product needs, and the slot of its sum."""
        inside = (self.p.index[x] for f in self.p.kernel.terms[0].factors for x in f.indices
                  if f != self.p.operand and x in self.p.index)
        return frozenset().union(self.need, names(self.p.scan.value), *(names(e) for e in inside))

    def extreme(self, c: Constraint, tail: list[Level]) -> Constraint | None:
        """A guard with inner loop variables at the value that is worst for it; None when that is not known."""
        e = c.exp
        for x in reversed(tail):
            if isinstance(x, Let):
                e = subst(e, {x.var: x.value})
            elif isinstance(x, For):
                worst = self.worst(e, x)
                if worst is None:
                    return None
                e = worst
        return Constraint(e)

    def worst(self, e: Exp, x: For) -> Exp | None:
        c = coefficient(e, Name(x.var))
        rest = e - var(x.var) * c
        if x.var in names(rest):
            found = [k for k in calls(rest) if k.args == (var(x.var),) and coefficient(rest, k)]
            if len(found) != 1 or c or not self.rises(found[0]):
                return None
            c = coefficient(rest, found[0])
            rest = rest - Exp(((found[0], c),))
            if x.var in names(rest):
                return None
            return rest + Exp(((Call(found[0].id, ((x.low if c > 0 else x.high - 1),)), c),))
        if not c:
            return e
        return rest + (x.low if c > 0 else x.high - 1) * c

    def rises(self, k: Call) -> bool:
        return any(single(q.key) == k and not q.down for q in self.p.lay.desc.quantifiers)

    def accumulate(self, levels: list[Level], place: str, lanes: int) -> None:
        loops = [x for x in levels if isinstance(x, For)]
        if lanes == 1 or len(loops) != 1 or self.p.summed:
            opened = self.open(levels)
            self.dot("sum[0]" if lanes > 1 else place)
            self.close(opened)
            return
        (loop,) = loops
        body = levels[levels.index(loop) + 1:]
        opened = self.open(levels[:levels.index(loop)])
        high = self.s.c(loop.high)
        self.w.line(f"int64_t {loop.var} = {self.s.c(loop.low)};")
        self.w.open(f"for (; {loop.var} < {high} - {lanes - 1}; {loop.var} += {lanes})")
        for n in range(lanes):
            self.lane(body, loop.var, n, n)
        self.w.close()
        self.w.open(f"for (; {loop.var} < {high}; {loop.var}++)")
        self.lane(body, loop.var, 0, 0)
        self.w.close()
        self.close(opened)

    def lane(self, body: list[Level], v: str, ahead: int, slot: int) -> None:
        """One product, some iterations ahead, into one of the sums."""
        values: dict[str, Exp] = {v: var(v) + ahead}
        for x in body:
            if isinstance(x, Let):
                values[x.var] = subst(x.value, values)
            elif isinstance(x, Guard):
                conds = [condition(Constraint(subst(c.exp, values)), self.s.extents) for c in x.cons]
                self.w.line(f"if ({' && '.join(conds)})")
        p = self.p
        moved = replace(p, index={i: subst(e, values) for i, e in p.index.items()},
                        scan=replace(p.scan, value=subst(p.scan.value, values)))
        other = _Printer.__new__(_Printer)
        other.__dict__.update(self.__dict__, p=moved)
        guarded = any(isinstance(x, Guard) for x in body)
        self.w.line(f"{'    ' if guarded else ''}sum[{slot}] += {other.factors()};")

    def dot(self, place: str) -> None:
        """place += product, summed over the dense indices that the result does not have."""
        if not self.p.summed:
            self.w.line(f"{place} += {self.factors()};")
            return
        self.w.line(f"{self.types.c_value} dot = 0;")
        for x in self.p.summed:
            self.w.open(f"for (int64_t {x} = 0; {x} < n_{x}; {x}++)")
        self.w.line(f"dot += {self.factors(skip_sparse=True)};")
        self.close(len(self.p.summed))
        self.w.line(f"{place} += {self.element(self.p.operand)} * dot;")

    def innermost(self) -> None:
        if self.p.same:
            self.same()
            return
        if self.p.free:
            self.w.line(f"const {self.types.c_value} a = {self.element(self.p.operand)};")
        for n, x in enumerate(self.p.free):
            if n == len(self.p.free) - 1 and not self.p.summed:
                self.w.line("#pragma omp simd")
            self.w.open(f"for (int64_t {x} = 0; {x} < n_{x}; {x}++)")
        if self.p.free and not self.p.summed:
            self.w.line(f"{self.target()} += a * {self.factors(skip_sparse=True)};")
        else:
            self.dot(self.target())
        self.close(len(self.p.free))

    def same(self) -> None:
        """A result with the places of the operand: one value for each of its entries."""
        if not self.p.summed:
            self.w.line(f"{self.target()} = {self.factors()};")
            return
        self.w.line(f"{self.types.c_value} dot = 0;")
        for x in self.p.summed:
            self.w.open(f"for (int64_t {x} = 0; {x} < n_{x}; {x}++)")
        self.w.line(f"dot += {self.factors(skip_sparse=True)};")
        self.close(len(self.p.summed))
        self.w.line(f"{self.target()} = {self.element(self.p.operand)} * dot;")


def names_of(x: Level) -> frozenset[str]:
    return reads(x)


def _owned(e: Exp, v: str, p: _Printer) -> bool:
    """B*v + r with r of a loop of length B: blocks of the result that no other iteration touches."""
    full = e
    for x in reversed(p.levels):
        if isinstance(x, Let):
            full = subst(full, {x.var: x.value})
    c = coefficient(full, Name(v))
    rest = full - var(v) * c
    span = 0
    for a, k in rest.terms:
        loop = next((x for x in p.levels if isinstance(x, For) and a == Name(x.var) and not x.high.terms), None)
        if loop is None or k < 0:
            return False
        span += k * (loop.high.const - 1)
    return c > 0 and rest.const == 0 and span < c
