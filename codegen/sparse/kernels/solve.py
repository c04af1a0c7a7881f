"""Prints the C that solves triangular systems, with one right side or several: an inspector that puts rows into levels,
and an executor that solves one level after the other.

A row's level is one more than the highest level of the rows it needs, so rows of one level are independent. Where a
format keeps columns together, there are no levels: each unknown, once known, is taken out of the rows that need it.
"""
from __future__ import annotations

import re

from codegen.sparse.algebra.expr import Exp, var
from codegen.sparse.algebra.terms import subst
from codegen.sparse.emit.codes import code_tables
from codegen.sparse.emit.file import CFunction
from codegen.sparse.emit.formats import type_name
from codegen.sparse.emit.stmts import StmtPrinter
from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.ir.nest import For, Guard, Let, Level
from codegen.sparse.kernels.notation import Kernel, bad_kernel
from codegen.sparse.synth.layout import layout
from codegen.sparse.synth.pair import apart, sizes
from codegen.sparse.synth.prefix import prefixed
from codegen.sparse.synth.scan import scan

WIDE = 512  # rows of a level that are worth several threads


def solver(k: Kernel, formats: dict[str, Descriptor], name: str, types: Types) -> tuple[CFunction, ...]:
    """NAME_levels(L, levels) once for a matrix, then NAME(x, L, b, levels) for every right side; NAME(x, L, b) alone
    where columns are kept together. Several right sides at once are as many columns, n_k."""
    assert k.solve is not None
    matrix, x, b = k.solve
    if matrix.name not in formats or formats[matrix.name].rank != 2:
        raise bad_kernel(f"{matrix.name} must be a sparse matrix", hint=f"--format {matrix.name}=CSR")
    d = formats[matrix.name]
    if d.indirect:
        raise bad_kernel(f"{d.name} does not hold the matrix as it is, so a system cannot be solved over it",
                         hint=f"let it be converted: --convert {matrix.name}=CSR")
    taken = frozenset({matrix.name, x.name, b.name, *x.indices[1:], *(f"n_{k}" for k in x.indices[1:])})
    lay = layout(apart(prefixed(d, f"{matrix.name}_", tuple(f"{matrix.name}_{s}" for s in d.shape)), taken))
    s = scan(lay)
    loops = [n for n, y in enumerate(s.nest) if isinstance(y, For)]
    first = s.nest[loops[0]]
    assert isinstance(first, For)
    if var(first.var) not in s.coords or len(loops) < 2:
        raise bad_kernel(f"{d.name} keeps neither rows nor columns together, so a system cannot be solved over it",
                         hint=f"let it be converted: --convert {matrix.name}=CSR")
    inner = [y for y in s.nest[loops[0] + 1:] if not (isinstance(y, Guard) and not y.cons)]
    common = _Common(k, d, types, (s.coords[0], s.coords[1]), tuple(inner), s.value)
    inspector, executor = (StmtPrinter(Writer(), sizes(lay), types) for _ in range(2))
    if s.coords[0] != var(first.var):
        return (common.by_columns(name, executor, lay.desc),)
    return common.levels(name, inspector, lay.desc), common.solve(name, executor, lay.desc)


class _Common:
    """What inspector and executor share: the row (or column), and the nest over its entries."""

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

    def segment(self) -> tuple[For, Exp, Exp] | None:
        """Where a row is one segment: its loop, column and value of the entry at its end (its begin, where the matrix
        is upper), which mostly is the diagonal."""
        loops = [y for y in self.inner if isinstance(y, For)]
        if len(loops) != 1 or not loops[0].low.terms or not all(isinstance(y, (For, Let)) for y in self.inner):
            return None
        at = {loops[0].var: var("tw_low") if self.k.upper else var("tw_high") - 1}
        j, value = self.j, self.value
        for y in reversed([y for y in self.inner if isinstance(y, Let)]):
            j, value = (subst(e, {y.var: y.value}) for e in (j, value))
        return loops[0], subst(j, at), subst(value, at)

    def row(self, p: StmtPrinter, i: str, j: str) -> None:
        """Everything of a row: what lies beside the diagonal is taken from the sum, the diagonal is the pivot. Where a
        row is one segment, the diagonal is taken ahead of the others, so that no branch of the loop over them depends
        on where it is; and where the inspector has seen it at the end of each row, nothing is asked of the others."""
        w, found = p.w, self.segment()
        take = f"{self.at(self.x, i) if self.sides else 'sum'} -= {p.c(self.value)} * {self.at(self.x, j)};"
        step = "tw_low++;" if self.k.upper else "tw_high--;"
        if found:
            loop, column, value = found
            w.line(f"int64_t tw_low = {p.c(loop.low)}, tw_high = {p.c(loop.high)};")
            w.open("if (levels->ends)")
            w.line(f"pivot = {p.c(value)};")
            w.line(step)
            opened = self.entries(p, True)
            self.each(w, take)
            for _ in range(opened):
                w.close()
            w.close("} else {")
            w.depth += 1
            w.open(f"if (tw_low < tw_high && {p.c(column)} == {i})")
            w.line(f"pivot = {p.c(value)};")
            w.line(step)
            w.close()
        opened = self.entries(p, found is not None)
        w.open(f"if ({self.other_side(j, i)})")
        self.each(w, take)
        w.close(f"}} else if ({j} == {i}) {{")
        w.depth += 1
        w.line(f"pivot += {p.c(self.value)};")
        w.close()
        for _ in range(opened + (found is not None)):
            w.close()

    def levels(self, name: str, p: StmtPrinter, desc: Descriptor) -> CFunction:
        w, n, i, j = p.w, desc.shape[0], p.c(self.i), p.c(self.j)
        index, up = self.types.c_index, self.k.upper
        w.open(f"if ({n} != {desc.shape[1]})")
        w.line("return TW_SPARSE_RANGE;")
        w.close()
        w.line(f"{index} *level = tw_new({n}, sizeof *level, 0);")
        w.line(f"{index} *row = tw_new({n}, sizeof *row, 0);")
        w.line(f"{index} *start = tw_new({n} + 2, sizeof *start, 1);")
        w.line("int64_t count = 0;")
        if self.segment():
            w.line(f"int ends = 1; /* is each row's {'first' if up else 'last'} entry its diagonal, and no other? */")
        w.open("if (!level || !row || !start)")
        w.line("status = TW_SPARSE_NO_MEMORY;")
        w.line("goto done;")
        w.close()
        w.comment("a row comes one level after the last of the rows it needs")
        w.open(f"for (int64_t {i} = {n} - 1; {i} >= 0; {i}--)" if up else f"for (int64_t {i} = 0; {i} < {n}; {i}++)")
        found = self.segment()
        w.line(f"int64_t own = 0{', last = -1' if found else ''};")
        opened = self.entries(p)
        w.line(f"if ({j} {'>' if up else '<'} {i} && level[{j}] >= own)")
        w.line(f"    own = level[{j}] + 1;")
        if found:
            v = found[0].var
            w.line(f"ends &= {self.other_side(j, i)} || ({j} == {i} && "
                   f"{f'{v} == {p.c(found[0].low)}' if up else f'{v} + 1 == {p.c(found[0].high)}'});")
            w.line(f"last = {j} == {i} ? {j} : last;")
        for _ in range(opened):
            w.close()
        if found:
            w.line(f"ends &= last == {i};")
        w.line(f"level[{i}] = own;")
        w.line("start[own + 1]++;")
        w.line("count = own + 1 > count ? own + 1 : count;")
        w.close()
        w.line("for (int64_t l = 0; l < count; l++)")
        w.line("    start[l + 1] += start[l];")
        w.line(f"for (int64_t {i} = 0; {i} < {n}; {i}++)")
        w.line(f"    row[start[level[{i}]]++] = {i};")
        w.line("for (int64_t l = count; l > 0; l--)")
        w.line("    start[l] = start[l - 1];")
        w.line("start[0] = 0;")
        w.line("levels->count = count;")
        w.line("levels->start = start;")
        w.line("levels->row = row;")
        w.line(f"levels->ends = {'ends' if self.segment() else '0'};")
        ending = Writer()
        ending.line("free(level);")
        ending.open("if (status != TW_SPARSE_OK)")
        ending.line("free(row);")
        ending.line("free(start);")
        ending.close()
        kind = type_name(self.d, self.types)
        return CFunction(f"/* The levels of a triangular matrix: rows of one level do not need one another. "
                         f"{'Upper' if up else 'Lower'}. */",
                         f"int {name}_levels(const {kind} *{self.matrix}, tw_levels_i{self.types.index} *levels)",
                         self.declare(desc, w.text, p), w.text, ending.text)

    def solve(self, name: str, p: StmtPrinter, desc: Descriptor) -> CFunction:
        w, i, j, v = p.w, p.c(self.i), p.c(self.j), self.types.c_value
        w.line("int singular = 0, threads = 1;")
        for line in ("#ifdef _OPENMP", "threads = omp_get_max_threads();", "#endif"):
            w.line(line)
        w.open("for (int64_t l = 0; l < levels->count;)")
        w.line("const int64_t first = levels->start[l];")
        w.line("int64_t last = levels->start[l = threads == 1 ? levels->count : l + 1];")
        many = "".join(f" * n_{k}" for k in self.sides)
        rows, more = "last - first", "levels->start[l + 1] - last"
        if many:
            rows, more = f"({rows}){many}", f"({more}){many}"
        w.line(f"const int wide = threads > 1 && {rows} > {WIDE};")
        w.comment("levels of few rows are solved together, in order, by one thread: starting threads takes longer")
        w.line(f"while (!wide && l < levels->count && {more} <= {WIDE})")
        w.line("    last = levels->start[++l];")
        w.pragma("parallel for schedule(static) reduction(|:singular) if(wide)")
        w.open("for (int64_t at = first; at < last; at++)")
        own = f"{desc.shape[0]} - 1 - at" if self.k.upper else "at"
        w.line(f"const int64_t {i} = threads == 1 ? {own} : levels->row[at]; /* one thread: rows as they come */")
        self.each(w, f"{self.at(self.x, i)} = {self.at(self.b, i)};" if self.sides else f"{v} sum = {self.b}[{i}];")
        w.line(f"{v} pivot = 0;")
        self.row(p, i, j)
        w.open("if (pivot == 0)")
        w.line("singular = 1;")
        self.each(w, f"{self.at(self.x, i)} = 0;")
        w.close("} else {")
        w.depth += 1
        self.each(w, f"{self.at(self.x, i)} = {self.at(self.x, i) if self.sides else 'sum'} / pivot;")
        w.close()
        w.close()
        w.close()
        return self.function(name, p, desc, "level after level", f", const tw_levels_i{self.types.index} *levels")

    def by_columns(self, name: str, p: StmtPrinter, desc: Descriptor) -> CFunction:
        w, n, i, j, v = p.w, desc.shape[0], p.c(self.i), p.c(self.j), self.types.c_value
        w.open(f"if ({n} != {desc.shape[1]})")
        w.line("return TW_SPARSE_RANGE;")
        w.close()
        w.line("int singular = 0;")
        many = "".join(f" * n_{k}" for k in self.sides)
        w.line(f"for (int64_t tw_x = 0; tw_x < {n}{many}; tw_x++)")
        w.line(f"    {self.x}[tw_x] = {self.b}[tw_x];")
        down = f"{j} = {n} - 1; {j} >= 0; {j}--"
        w.open(f"for (int64_t {down if self.k.upper else f'{j} = 0; {j} < {n}; {j}++'})")
        w.line(f"{v} pivot = 0;")
        opened = self.entries(p)
        w.line(f"if ({i} == {j})")
        w.line(f"    pivot += {p.c(self.value)};")
        for _ in range(opened):
            w.close()
        w.line("singular |= pivot == 0;")
        self.each(w, f"{self.at(self.x, j)} = pivot == 0 ? 0 : {self.at(self.x, j)} / pivot;")
        opened = self.entries(p)
        w.open(f"if ({self.other_side(j, i)})")
        self.each(w, f"{self.at(self.x, i)} -= {p.c(self.value)} * {self.at(self.x, j)};")
        w.close()
        for _ in range(opened):
            w.close()
        w.close()
        return self.function(name, p, desc, "column after column", "")

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
