"""Prints an executor, the C function of a kernel with one sparse operand: one product with it, scanned in the order of
its format, and dense terms.

The nest of the sparse operand is the outside; indices it does not have become loops inside.
"""
from __future__ import annotations

import re
from dataclasses import replace

from codegen.sparse.algebra.terms import names
from codegen.sparse.emit.codes import code_tables
from codegen.sparse.emit.file import CFunction
from codegen.sparse.emit.formats import type_name
from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.ir.nest import For
from codegen.sparse.ir.read_write_sets import reads
from codegen.sparse.kernels.notation import Kernel, Tensor
from codegen.sparse.kernels.plan import plan
from codegen.sparse.kernels.semiring import PLUS_TIMES
from codegen.sparse.kernels.tiles import TilePrinter


def executor(k: Kernel, formats: dict[str, Descriptor], name: str, types: Types) -> CFunction:
    """The function NAME(out, operands..., extents of indices the sparse operand does not have)."""
    return _Executor(plan(k, formats), formats, types).function(name)


class _Executor(TilePrinter):
    def function(self, name: str) -> CFunction:
        for m, n in self.p.alike:
            self.w.open(f"if ({m} != {n})")
            self.w.line("return TW_SPARSE_RANGE;")
            self.w.close()
        self.clear()
        self.nest()
        params = ", ".join(self.parameters())
        comment = f"/* {self.p.kernel.text}, {self.p.operand.name} in {self.formats[self.p.operand.name].name}. */"
        return CFunction(comment, f"int {name}({params})", self.declarations(), self.w.text, "")

    def parameters(self) -> list[str]:
        v = self.types.c_value
        out = [f"{v} *restrict {self.out.name}"]
        inputs = (f for t in (*self.p.kernel.terms, *self.p.starts) for f in t.tensors if f != self.out)
        for f in inputs:
            sparse = f == self.p.operand
            kind = type_name(self.formats[f.name], self.types) if sparse else v
            out.append(f"const {kind} *{'' if sparse else 'restrict '}{f.name}")
        scalars = replace(self.p.kernel, terms=(*self.p.kernel.terms, *self.p.starts)).scalars
        extents = (f"int64_t n_{x}" for x in (*self.p.free, *self.p.summed))
        return [*dict.fromkeys(out), *(f"{v} {s}" for s in scalars), *extents]

    def declarations(self) -> str:
        w = Writer()
        w.line("int status = TW_SPARSE_OK;")
        a, d = self.p.operand.name, self.p.lay.desc
        used = frozenset().union(*(reads(x) for x in self.levels)) | {self.p.extent[x] for x in self.out.indices}
        used |= {self.p.extent[x] for t in (*self.p.kernel.terms, *self.p.starts)
                 for f in t.tensors for x in f.indices[1:]}
        used |= names(self.p.scan.value)
        used |= frozenset().union(*(names(e) for n, e in d.lets))
        for n in (*d.shape, *self.p.lay.counted):
            if n in used or f"{n}" in self.w.text:
                w.line(f"const int64_t {n} = {a}->{n.removeprefix(a + '_')};")
        for n, e in d.lets:
            if n in used:
                w.line(f"const int64_t {n} = {self.s.c(e)};")
        for f in d.functions:
            w.line(self.index_array(f.name, f"{a}->{f.name.removeprefix(a + '_')}"))
        if d.permutation:
            own = d.permutation.array
            w.line(f"const {self.types.c_index} *restrict const {own} = {a}->{own.removeprefix(a + '_')};")
        w.line(f"const {self.types.c_value} *restrict const {d.data} = {a}->{d.data.removeprefix(a + '_')};")
        for n, t in sorted(self.s.scalars.items()):
            w.line(f"{t} {n} = 0;")
        for line in code_tables((d,), self.w.text, self.types):
            w.line(line)
        return self.trimmed(w.text)

    def index_array(self, name: str, given: str) -> str:
        """The declaration of an index array: as unsigned where that says the same and saves extending signs."""
        kind = self.types.c_index
        if not self.whole_index(name):
            return f"const {kind} *restrict const {name} = {given};"
        return f"const u{kind} *restrict const {name} = (const u{kind} *){given}; /* none is negative */"

    def trimmed(self, text: str) -> str:
        """Without what the body does not mention."""
        kept, body = [], self.w.text
        for line in reversed(text.splitlines()):
            m = re.search(r"(\w+) = ", line)
            if not m or m[1] == "status" or re.search(rf"\b{m[1]}\b", body):
                kept.append(line)
                body += line
        return "".join(f"{x}\n" for x in reversed(kept))

    def clear(self) -> None:
        if self.p.starts:
            self.begin()
            return
        if self.p.kernel.adds or self.p.same or self.once or self.whole_rows():
            return
        size = " * ".join(self.p.extent[x] for x in self.out.indices) or "1"
        self.w.line(f"for (int64_t tw_x = 0; tw_x < {size}; tw_x++)")
        self.w.line(f"    {self.out.name}[tw_x] = {self.ring.zero};")

    def begin(self) -> None:
        """The result with the dense terms in it."""
        for x in self.out.indices:
            self.w.open(f"for (int64_t {x} = 0; {x} < {self.p.extent[x]}; {x}++)")
        if self.ring != PLUS_TIMES:
            products = [self.ring.product([*t.scalars, *(self.plainly(f) for f in t.factors)]) for t in self.p.starts]
            total = self.ring.total(products)
            place = self.plainly(self.out)
            self.w.line(self.ring.add(place, total) if self.p.kernel.adds else f"{place} = {total};")
            self.close(len(self.out.indices))
            return
        text = ""
        for t in self.p.starts:
            product = " * ".join([*t.scalars, *(self.plainly(f) for f in t.factors)]) or "1"
            product = " / ".join([product, *(self.plainly(f) for f in t.over)])
            text += f" {'-' if t.sign < 0 else '+'} {product}" if text else f"{'-' if t.sign < 0 else ''}{product}"
        self.w.line(f"{self.plainly(self.out)} {'+=' if self.p.kernel.adds else '='} {text};")
        self.close(len(self.out.indices))

    def plainly(self, t: Tensor) -> str:
        """An element of a dense tensor where the indices are loop variables."""
        at = ""
        for x in t.indices:
            at = f"({at}) * {self.p.extent[x]} + {x}" if at else x
        return f"{t.name}[{at or '0'}]"

    def nest(self) -> None:
        rows = self.strip()
        if rows:
            self.strips(rows)
            return
        at = self.settled()
        head, tail = self.levels[:at], self.levels[at:]
        rising = self.indexed()
        if self.parallel():
            self.w.pragma("parallel for schedule(dynamic, 256)")
        elif rising:
            self.ascending(*rising)
        far = self.far_rows() if self.p.same and not self.summing() and not self.tiled() else None
        if far:
            self.entries_apart(*far)
            return
        opened = self.open(head)
        if self.summing():
            self.sums(tail)
        elif self.tiled():
            self.tiles(tail)
        else:
            inner = self.open(tail)
            self.innermost()
            self.close(inner)
        self.close(opened)

    def ascending(self, loop: For, array: str) -> None:
        """Threads share a loop whose iterations have different rows of the result, if a look at the rows says so."""
        v, low, high = loop.var, self.s.c(loop.low + 1), self.s.c(loop.high)
        for line in ("#ifdef _OPENMP", "int tw_rises = 1;", f"for (int64_t {v} = {low}; {v} < {high}; {v}++)",
                     f"    tw_rises &= {array}[{v}] > {array}[{v} - 1];",
                     "#pragma omp parallel for schedule(dynamic, 16) if(tw_rises)", "#endif"):
            self.w.line(line)

    def entries_apart(self, f: Tensor, loop: For) -> None:
        """The nest of a result with the places of the operand, one of whose loops chooses rows of a dense operand."""
        before = self.levels.index(loop)
        opened = self.open(self.levels[:before])
        self.apart(f, loop)
        other = self.fixed_row(f, loop)
        if other:
            self.together(f, other, loop)
        else:
            opened += self.open(self.levels[before:])
            self.ask_ahead(f, loop, loop.var)
            self.innermost()
        self.close(opened)

    def innermost(self) -> None:
        if self.p.same:
            self.dot(self.target(), stores=not self.p.kernel.adds, scales=True)
            return
        if self.p.free:
            self.w.line(f"const {self.types.c_value} a = {self.scaled(self.element(self.p.operand))};")
        for n, x in enumerate(self.p.free):
            if n == len(self.p.free) - 1 and not self.p.summed:
                self.w.pragma("simd")
            self.w.open(f"for (int64_t {x} = 0; {x} < n_{x}; {x}++)")
        if self.p.free and not self.p.summed:
            self.w.line(self.ring.add(self.target(), self.ring.product(["a", self.factors(skip_sparse=True)])))
        else:
            self.dot(self.target(), scales=True)
        self.close(len(self.p.free))
