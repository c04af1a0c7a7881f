"""Prints the C that solves triangular systems kept by rows, with one right side or several: an inspector that finds
what rows wait for, and an executor.

Threads take blocks of rows in turn, in the order in which one thread would go through them, and a row waits until all
rows up to the last one that it needs outside of its block are known, which each thread tells every few rows. So
matrices are read in the order in which they lie, and what a thread needs mostly is long known. Blocks are of about as
much work and begin where a row does not need the row before it. The inspector goes through the rows as threads would,
by a count of entries; where that promises little there is one block.
"""
from __future__ import annotations

from codegen.sparse.algebra.expr import Exp, var
from codegen.sparse.algebra.terms import subst
from codegen.sparse.emit.file import CFunction
from codegen.sparse.emit.formats import type_name
from codegen.sparse.emit.stmts import StmtPrinter
from codegen.sparse.emit.types import Writer
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.ir.nest import For, Let
from codegen.sparse.kernels.systems.system import System

OWN = 4  # what a row costs beside its entries
DELAY = 64  # until other threads know of a row; all in entries
# Two threads with AVX-512: rows of 6 entries 1.4 times as fast as one, of 13 1.2 times, of hardly more than one 0.6.
SHORT = 3  # entries of a row below which it is read faster than threads can take turns
TOLD = 16  # rows after which others are told
TEAM = 64  # threads at most
APART = 16  # numbers between what two threads tell: lines of caches that are fetched together


class Rows(System):
    """A system whose rows are kept together."""

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
            w.open("if (ends)")
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

    def inspector(self, name: str, p: StmtPrinter, desc: Descriptor) -> CFunction:
        """NAME_waits: blocks of rows, and for each row the last one outside of its block that it needs."""
        w, n, i, j = p.w, desc.shape[0], p.c(self.i), p.c(self.j)
        index, up, found = self.types.c_index, self.k.upper, self.segment()
        w.open(f"if ({n} != {desc.shape[1]})")
        w.line("return TW_SPARSE_RANGE;")
        w.close()
        w.line(f"{index} *need = tw_new({n}, sizeof *need, 0);")
        w.line(f"{index} *start = tw_new({n} + 2, sizeof *start, 1);")
        w.line(f"int64_t *known = tw_new({n}, sizeof *known, 0); /* when all rows up to one would be known */")
        w.line("int64_t count = 0, first = 0, full = 0, total = 0, end = 0;")
        w.line(f"int64_t clock[{TEAM}] = {{0}}; /* when each thread would be ready */")
        w.line("int threads = 1, mine = 0;")
        self.team(p)
        if found:
            w.line(f"int ends = 1; /* is each row's {'first' if up else 'last'} entry its diagonal, and no other? */")
        w.open("if (!need || !start || !known)")
        w.line("status = TW_SPARSE_NO_MEMORY;")
        w.line("goto done;")
        w.close()
        w.open(f"for (int64_t at = 0; at < {n}; at++)")
        w.line(f"const int64_t {i} = {self.turned('at', n)};")
        w.line(f"int64_t near = -1, far = -1, many = {OWN}{', last = -1' if found else ''};")
        opened = self.entries(p)
        w.line(f"const int64_t other = {self.other_side(j, i)} ? {self.turned(j, n)} : -1;")
        w.line("near = other > near ? other : near;")
        w.line("far = other < first && other > far ? other : far;")
        w.line("many++;")
        if found:
            v = found[0].var
            w.line(f"ends &= {self.other_side(j, i)} || ({j} == {i} && "
                   f"{f'{v} == {p.c(found[0].low)}' if up else f'{v} + 1 == {p.c(found[0].high)}'});")
            w.line(f"last = {j} == {i} ? {j} : last;")
        for _ in range(opened):
            w.close()
        if found:
            w.line(f"ends &= last == {i};")
        w.open("if (at == 0 || (total >= full && near < at - 1))")
        w.comment("a new block, for the next thread")
        w.line("mine = (int)(count % threads);")
        w.line("start[count++] = first = at;")
        w.line("full = total + TW_TURN;")
        w.line("far = near;")
        w.close()
        w.line("need[at] = far;")
        w.line(f"const int64_t ready = far < 0 ? 0 : known[far] + {DELAY};")
        w.line("clock[mine] = (clock[mine] > ready ? clock[mine] : ready) + many;")
        w.line("end = clock[mine] > end ? clock[mine] : end;")
        w.line("known[at] = end;")
        w.line("total += many;")
        w.close()
        w.comment("threads that mostly wait are not worth it, nor are they for little work or short rows")
        w.line(f"if (total < end + end / 3 || total < TW_WORTH || total < {OWN + SHORT} * {n})")
        w.line("    count = 1;")
        w.line(f"start[count] = {n};")
        for field in ("count", "start", "need"):
            w.line(f"waits->{field} = {field};")
        w.line(f"waits->ends = {'ends' if found else '0'};")
        ending = Writer()
        ending.line("free(known);")
        ending.open("if (status != TW_SPARSE_OK)")
        ending.line("free(need);")
        ending.line("free(start);")
        ending.close()
        kind = type_name(self.d, self.types)
        return CFunction(f"/* What the rows of a triangular matrix wait for. {'Upper' if up else 'Lower'}. */",
                         f"int {name}_waits(const {kind} *{self.matrix}, tw_waits_i{self.types.index} *waits)",
                         self.declare(desc, w.text, p), w.text, ending.text)

    def team(self, p: StmtPrinter) -> None:
        """How many threads there may be: one where they cannot tell one another what they have done."""
        for line in ("#ifdef TW_TELLS", f"threads = omp_get_max_threads() < {TEAM} ? omp_get_max_threads() : {TEAM};",
                     "#endif"):
            p.w.line(line)

    def turned(self, row: str, n: str) -> str:
        """The place of a row in the order in which rows are solved, and the row at a place."""
        return f"{n} - 1 - {row}" if self.k.upper else row

    def executor(self, name: str, p: StmtPrinter, desc: Descriptor) -> CFunction:
        w, n, i, j, v = p.w, desc.shape[0], p.c(self.i), p.c(self.j), self.types.c_value
        w.line("int singular = 0, threads = 1;")
        w.line(f"int64_t done[{TEAM}][{APART}] = {{{{0}}}}; /* each thread: it has no row before this one to do */")
        self.team(p)
        w.line("threads = waits->count > 1 ? threads : 1;")
        w.pragma("parallel num_threads(threads) reduction(|:singular) if(threads > 1)")
        w.open("")
        w.line("int me = 0, team = 1;")
        for line in ("#ifdef TW_TELLS", "me = omp_get_thread_num();", "team = omp_get_num_threads();", "#endif"):
            w.line(line)
        w.line(f"const int64_t count = waits->count{', ends = waits->ends' if self.segment() else ''};")
        w.line(f"const {self.types.c_index} *const start = waits->start, *const need = waits->need;")
        w.line("int64_t known = 0; /* rows before it are */")
        w.line("tw_tell(done[me], me < count ? start[me] : INT64_MAX);")
        w.open("for (int64_t own = me; own < count; own += team)")
        w.line("const int64_t first = start[own], last = start[own + 1];")
        w.open("for (int64_t at = first; at < last; at++)")
        w.line("if (team > 1 && need[at] >= known)")
        w.line("    known = tw_await(done, team, me, at, need[at]);")
        w.line(f"const int64_t {i} = {self.turned('at', n)};")
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
        w.line(f"if (team > 1 && (at - first) % {TOLD} == {TOLD - 1})")
        w.line("    tw_tell(done[me], at + 1);")
        w.close()
        w.line("tw_tell(done[me], own + team < count ? start[own + team] : INT64_MAX);")
        w.close()
        w.close()
        return self.function(name, p, desc, "row after row", f", const tw_waits_i{self.types.index} *waits")
