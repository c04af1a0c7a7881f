"""Prints steps of the sparse IR as C, for one thread."""
from __future__ import annotations

from codegen.sparse.algebra.expr import Exp, call, var
from codegen.sparse.algebra.terms import names
from codegen.sparse.emit.cexpr import condition, false_condition, size_exp
from codegen.sparse.emit.distinct import distinct
from codegen.sparse.emit.overrun_fill import fill_ahead
from codegen.sparse.emit.packets import count_packets, place_packets
from codegen.sparse.emit.radix import radix
from codegen.sparse.emit.stmts import StmtPrinter
from codegen.sparse.ir.counting import Count, Distinct, Gather, Max, Number, Prefix, Scatter
from codegen.sparse.ir.model import Alloc, Branch, Copy, Define, Either, Free, Loop, Require, Shrink, Step, Sweep
from codegen.sparse.ir.nest import For, Guard, Let, Nest
from codegen.sparse.ir.sorting import NewList, Radix, SortList, SortSegments
from codegen.sparse.ir.statement import Stmt


class StepPrinter(StmtPrinter):
    """One method for each kind of step."""

    def step(self, s: Step) -> None:
        getattr(self, f"print_{type(s).__name__.lower()}")(s)

    def fail(self, cond: str, status: str) -> None:
        self.w.open(f"if ({cond})")
        self.w.line(f"status = TW_SPARSE_{status};")
        self.w.line("goto done;")
        self.w.close()

    def print_alloc(self, s: Alloc) -> None:
        zero = int(s.fill == 0)
        self.fail(f"!({s.array} = tw_new({size_exp(s.size, self.extents)}, sizeof *{s.array}, {zero}))", "NO_MEMORY")
        if s.fill == -1:
            self.w.line(f"memset({s.array}, -1, (size_t)({self.c(s.size)}) * sizeof *{s.array});")
        elif s.fill:
            self.w.line(f"for (int64_t x = 0; x < {self.c(s.size)}; x++)")
            self.w.line(f"    {s.array}[x] = {s.fill};")

    def print_free(self, s: Free) -> None:
        self.w.line(f"free({s.array});")
        self.w.line(f"{s.array} = NULL;")

    def print_shrink(self, s: Shrink) -> None:
        size = self.c(s.size)
        self.w.open("")
        self.w.line(f"void *less = realloc({s.array}, (size_t)({size} > 0 ? {size} : 1) * sizeof *{s.array});")
        self.w.line("if (less)")
        self.w.line(f"    {s.array} = less;")
        self.w.close()

    def print_define(self, s: Define) -> None:
        self.scalars[s.name] = "int64_t"
        if s.value != var(s.name):  # else only its size is looked at
            self.w.line(f"{s.name} = {size_exp(s.value, self.extents)};")
        if self.types.index == "32" and s.value.terms:
            self.fail(f"{s.name} > {self.types.index_max}", "RANGE")

    def print_loop(self, s: Loop) -> None:
        self.w.comment(s.note)
        self.prepare(s.nest, s.body)
        if s.ahead:
            self.w.open("")
            fill_ahead(self, s)
            self.w.close()
        else:
            self.nest(s.nest, lambda: self.body(s.body))

    def print_count(self, s: Count) -> None:
        self.w.comment(f"count: {s.note}")
        if s.packet is not None:
            count_packets(self, s)
            return
        self.count_plainly(s)

    def count_plainly(self, s: Count) -> None:
        short = closed_form(s)
        if short is None:
            self.nest(s.nest, lambda: self.w.line(f"{s.counter}[{self.c(s.index + 2)}]++;"))
            return
        nest, many = short
        self.nest(nest, lambda: self.w.line(f"{s.counter}[{self.c(s.index + 2)}] += {self.c(many)};"))

    def print_distinct(self, s: Distinct) -> None:
        self.reset(s.name or "distinct", "0")
        self.w.comment(s.note)
        distinct(self, s, s.seen, s.name or "distinct")

    def print_prefix(self, s: Prefix) -> None:
        self.w.line(f"for (int64_t x = 2; x < {self.c(s.size + 2)}; x++)")
        self.w.line(f"    {s.array}[x] += {s.array}[x - 1];")

    def print_scatter(self, s: Scatter) -> None:
        self.w.comment(s.note)
        if s.local:
            self.w.line(f"memset({s.counter}, 0, (size_t)({self.c(s.size + 2)}) * sizeof *{s.counter});")
        if s.packet is not None:
            place_packets(self, s)
        else:
            self.place_plainly(s)

    def place_plainly(self, s: Scatter) -> None:
        self.prepare(s.nest, s.body)
        self.nest(s.nest, lambda: self.place(s, s.body))

    def place(self, s: Scatter, body: tuple[Stmt, ...]) -> None:
        index = self.c(s.index if s.local else s.index + 1)
        self.w.line(f"const int64_t {s.var} = {s.counter}[{index}]++;")
        self.body(body)

    def print_branch(self, s: Branch) -> None:
        self.w.comment(s.note)
        self.scalars["in_order"] = "int64_t"
        self.w.line("in_order = 1;")
        self.look(s.nest, s.keys)
        self.one_of("in_order", s.then, s.other)

    def print_either(self, s: Either) -> None:
        self.w.comment(s.note)
        self.one_of(condition(s.condition, self.extents), s.then, s.other)

    def one_of(self, test: str, then: tuple[Step, ...], other: tuple[Step, ...]) -> None:
        self.w.open(f"if ({test})")
        for x in then:
            self.step(x)
        self.w.close("} else {")
        self.w.depth += 1
        for x in other:
            self.step(x)
        self.w.close()

    def look(self, nest: Nest, keys: tuple[Exp, ...]) -> None:
        """Set in_order to 0 where keys get smaller."""
        for n in range(len(keys)):
            self.reset(f"last{n}", "INT64_MIN")
        self.nest(nest, lambda: self.in_order(keys, "in_order = 0;"))

    def in_order(self, keys: tuple[Exp, ...], *wrong: str) -> None:
        now, held = [self.c(k) for k in keys], [f"last{n}" for n in range(len(keys))]
        less = ""
        for n in range(len(now) - 1, -1, -1):
            rest = f" || ({now[n]} == {held[n]} && ({less}))" if less else ""
            less = f"{now[n]} < {held[n]}{rest}"
        self.w.open(f"if ({less})")
        for line in (*wrong, "break;"):
            self.w.line(line)
        self.w.close()
        for value, h in zip(now, held, strict=True):
            self.w.line(f"{h} = {value};")

    def print_sweep(self, s: Sweep) -> None:
        sign, change = {"<=": ("<", ""), "<": ("<=", " + 1"), ">=": (">", ""), ">": (">=", " - 1")}[s.sign]
        self.w.comment(f"keep {s.array} monotonic, also where nothing was stored")
        self.w.line(f"for (int64_t x = 0; x < {self.c(s.size)}; x++)")
        self.w.line(f"    if ({s.array}[x + 1] {sign} {s.array}[x])")
        self.w.line(f"        {s.array}[x + 1] = {s.array}[x]{change};")

    def print_max(self, s: Max) -> None:
        self.scalars[s.name] = "int64_t"
        self.w.line(f"{s.name} = 0;")
        self.w.line(f"for (int64_t x = 2; x < {self.c(s.size + 2)}; x++)")
        self.w.line(f"    if ({s.array}[x] > {s.name})")
        self.w.line(f"        {s.name} = {s.array}[x];")

    def print_number(self, s: Number) -> None:
        self.scalars[s.name] = "int64_t"
        self.w.line(f"{s.name} = 0;")
        size = self.c(s.size)
        loop = f"for (int64_t x = {size} - 1; x >= 0; x--)" if s.down else f"for (int64_t x = 0; x < {size}; x++)"
        self.w.line(loop)
        self.w.line(f"    {s.table}[x] = {s.table}[x] ? {s.name}++ : -1;")

    def print_gather(self, s: Gather) -> None:
        self.w.line(f"for (int64_t x = 0; x < {self.c(s.size)}; x++)")
        self.w.line(f"    if ({s.table}[x] >= 0)")
        self.w.line(f"        {s.values}[{s.table}[x]] = {self.c(var('x') + s.low)};")

    def print_copy(self, s: Copy) -> None:
        self.w.line(f"memcpy({s.target}, {s.source}, (size_t)({self.c(s.size)}) * sizeof *{s.target});")

    def print_newlist(self, s: NewList) -> None:
        self.w.line(f"{s.list}.width = {sum(len(self.word(e)) for e in s.words)};")

    def print_sortlist(self, s: SortList) -> None:
        self.fail(f"!tw_list_sort(&{s.list}, {int(s.unique)}, {s.free})", "NO_MEMORY")
        if s.name:
            self.print_define(Define(s.name, var(f"{s.list}.size")))

    threaded = False

    def print_sortsegments(self, s: SortSegments) -> None:
        self.segments(s, "")

    def segments(self, s: SortSegments, pragma: str) -> None:
        self.w.open("")
        size = self.c(call(s.ptr, s.size))
        self.w.line(f"{self.types.c_index} *spare = tw_new({size}, sizeof *spare, 0);")
        self.fail("!spare", "NO_MEMORY")
        if pragma:
            self.w.line(pragma)
        self.w.line(f"for (int64_t x = 0; x < {self.c(s.size)}; x++)")
        first = f"{s.ptr}[x]"
        self.w.line(f"    tw_sort_index({s.array} + {first}, {s.ptr}[x + 1] - {first}, spare + {first});")
        self.w.line("free(spare);")
        self.w.close()

    def print_require(self, s: Require) -> None:
        self.fail(false_condition(s.condition, self.extents), s.status)

    def print_radix(self, s: Radix) -> None:
        self.w.comment(s.note)
        radix(self, s)


def closed_form(s: Count) -> tuple[tuple[For | Let | Guard, ...], Exp] | None:
    """Where the innermost loop does not change the bucket: the nest without it, and how often it runs."""
    loops = [n for n, level in enumerate(s.nest) if isinstance(level, For)]
    last = s.nest[loops[-1]]
    assert isinstance(last, For)
    inside = {last.var, *(x.var for x in s.nest[loops[-1]:] if isinstance(x, Let))}
    if len(loops) < 2 or names(s.index) & inside or any(isinstance(x, Guard) for x in s.nest[loops[-1]:]):
        return None
    return s.nest[:loops[-1]], last.high - last.low  # type: ignore[return-value]

