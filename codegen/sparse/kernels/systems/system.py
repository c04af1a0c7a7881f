"""What the printers of triangular systems share: a row (or column), and the loops over its entries."""
from __future__ import annotations

import re

from codegen.sparse.algebra.expr import Exp
from codegen.sparse.emit.codes import code_tables
from codegen.sparse.emit.file import CFunction
from codegen.sparse.emit.formats import type_name
from codegen.sparse.emit.stmts import StmtPrinter
from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.ir.nest import For, Guard, Let, Level
from codegen.sparse.kernels.notation import Kernel
from codegen.sparse.synth.layout import layout


class System:
    """A system `L(i,j)*x(j) = b(i)`, or one with several right sides."""

    def __init__(self, k: Kernel, d: Descriptor, types: Types, at: tuple[Exp, Exp], inner: tuple[Level, ...],
                 value: Exp) -> None:
        assert k.solve is not None
        self.k, self.d, self.types, (self.i, self.j), self.inner, self.value = k, d, types, at, inner, value
        self.matrix, self.x, self.b = (t.name for t in k.solve)
        self.sides = k.solve[1].indices[1:]  # the index of the right sides, where there are several

    def declare(self, desc: Descriptor, body: str, printer: StmtPrinter) -> str:
        w = Writer()
        w.line("int status = TW_SPARSE_OK;")
        m = self.matrix
        lines = [f"const int64_t {n} = {m}->{n.removeprefix(m + '_')};" for n in
                 (*desc.shape, *layout(desc).counted)]
        lines += [f"const int64_t {n} = {printer.c(e)};" for n, e in desc.lets]
        lines += [f"const {self.types.c_index} *const {f.name} = {m}->{f.name.removeprefix(m + '_')};"
                  for f in desc.functions]
        lines.append(f"const {self.types.c_value} *const {desc.data} = {m}->{desc.data.removeprefix(m + '_')};")
        tables = code_tables((desc,), body, self.types)
        for line in lines:
            found = re.search(r"(\w+) = ", line)
            if found and re.search(rf"\b{found[1]}\b", "".join((body, *tables))):
                w.line(line)
        for line in tables:
            w.line(line)
        return w.text

    def entries(self, p: StmtPrinter, peeled: bool = False) -> int:
        """Open the loops over the entries of a row (or column); `peeled`: without the one that was looked at."""
        opened = 0
        for y in self.inner:
            if isinstance(y, For):
                low, high = ("tw_low", "tw_high") if peeled else (p.c(y.low), p.c(y.high))
                p.w.open(f"for (int64_t {y.var} = {low}; {y.var} < {high}; {y.var}++)")
                opened += 1
            elif isinstance(y, Let):
                p.w.line(f"const int64_t {y.var} = {p.c(y.value)};")
            elif isinstance(y, Guard):
                p.guard(y)
        return opened

    def other_side(self, j: str, i: str) -> str:
        """Is this an entry beside the diagonal, in the triangle that counts?"""
        return f"{j} {'>' if self.k.upper else '<'} {i}"

    def at(self, tensor: str, row: str) -> str:
        return f"{tensor}[({row}) * n_{self.sides[0]} + {self.sides[0]}]" if self.sides else f"{tensor}[{row}]"

    def each(self, w: Writer, line: str) -> None:
        """A line for every right side."""
        for k in self.sides:
            w.line(f"for (int64_t {k} = 0; {k} < n_{k}; {k}++)")
        w.line("    " * len(self.sides) + line)

    def function(self, name: str, p: StmtPrinter, desc: Descriptor, how: str, last: str) -> CFunction:
        w, v, kind = p.w, self.types.c_value, type_name(self.d, self.types)
        w.line("status = singular ? TW_SPARSE_SINGULAR : TW_SPARSE_OK;")
        last += "".join(f", int64_t n_{k}" for k in self.sides)
        return CFunction(f"/* {self.k.text}, {how}; entries of the other triangle are left out. */",
                         f"int {name}({v} *{self.x}, const {kind} *{self.matrix}, const {v} *{self.b}{last})",
                         self.declare(desc, w.text, p), w.text, "")
