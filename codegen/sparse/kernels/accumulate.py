"""Prints the C loops that make the rows of a sparse result by adding up products column by column, for the kernels of
rowwise.py; merge.py has the case of two operands with ascending columns.

Where a row's columns lie near one another, or the matrix has few, sums stand in an array over all columns; else in a
table with a hash of the column, so that what is written stays in a first-level cache and nothing is as large as an
extent that the operands do not fill. Columns are put into order by bits that are set for them, few by counting.

Rows are made in one pass, by chunks of rows: first it is found how many products each row has, and there is memory for
as many columns. Where that much cannot be had, columns are counted first.
"""
from __future__ import annotations

from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.kernels.chunks import Leave, allotted, closed, loop, opened, placed
from codegen.sparse.kernels.merge import Operand, Path
from codegen.sparse.kernels.notation import Kernel
from codegen.sparse.kernels.semiring import PLUS_TIMES

FEW = 24  # columns of a row that are sorted by counting


class Accumulators:
    """Prints the loops that fill `made`, a matrix by rows, from the views of the operands."""

    def __init__(self, w: Writer, k: Kernel, found: tuple[Path, ...], types: Types, leave: Leave) -> None:
        self.w, self.k, self.found, self.types, self.leave = w, k, found, types, leave
        self.ring = k.semiring
        self.masks = tuple(dict.fromkeys(o for path in found for o in path.masks))

    def rows(self) -> None:
        """The whole result."""
        self.bounds()
        self.chunks()
        w = self.w
        w.line("made.col = tw_new(bound, sizeof *made.col, 0);")
        w.line("made.val = tw_new(bound, sizeof *made.val, 0);")
        w.open("if (!made.col || !made.val)")
        w.comment("so much memory there is not: columns are counted first")
        for x in ("col", "val"):
            w.line(f"free(made.{x});")
            w.line(f"made.{x} = NULL;")
        self.counted()
        self.leave("failed", "NO_MEMORY")
        for x in ("col", "val"):
            self.leave(f"!(made.{x} = tw_new(bound, sizeof *made.{x}, 0))", "NO_MEMORY")
        w.close()
        self.filled()
        closed(w, self.leave, self.types.index)

    # --- before the rows ---------------------------------------------------------------------------------------

    def bounds(self) -> None:
        """made.rowptr[i + 1]: how many columns row i has at most; `bound`: all rows together."""
        w = self.w
        w.line("free(made.rowptr);")
        self.leave("!(made.rowptr = tw_new(rows + 1, sizeof *made.rowptr, 1))", "NO_MEMORY")
        widest = "".join(f", {o.name}_widest = 0" for o in self.masks)
        w.line(f"int64_t bound = 0, widest = 0{widest};")
        w.comment("how many columns each row has at most")
        w.pragma("parallel for schedule(dynamic, 256) reduction(+:bound) reduction(max:widest"
                 + "".join(f", {o.name}_widest" for o in self.masks) + ")")
        w.open("for (int64_t i = 0; i < rows; i++)")
        w.line("int64_t many = 0;")
        for o in self.masks:
            length = self.length(o, "i")
            w.line(f"{o.name}_widest = {length} > {o.name}_widest ? {length} : {o.name}_widest;")
        for path in self.found:
            self.products(path)
        w.line("many = many < columns ? many : columns;")
        w.line("made.rowptr[i + 1] = many;")
        w.line("bound += many;")
        w.line("widest = many > widest ? many : widest;")
        w.close()
        w.comment("arrays over all columns only where these are not far more than products")
        for prefix in ("", *(f"{o.name}_" for o in self.masks)):
            w.line(f"int64_t {prefix}slots = tw_slots({prefix}widest);")
            w.line(f"if (columns <= TW_DENSE || columns / 8 <= bound || {prefix}slots > columns)")
            w.line(f"    {prefix}slots = columns;")
        w.line("const int64_t words = columns / 64 <= bound ? columns / 64 + 1 : 0;")

    def length(self, o: Operand, row: str) -> str:
        return f"{o.name}_ptr[{row} + 1] - {o.name}_ptr[{row}]"

    def products(self, path: Path) -> None:
        """`many` gets the products of a path in row i, or the columns of its masks, where these are fewer."""
        w, first, last = self.w, path.steps[0], path.steps[-1]
        if len(path.steps) == 1 and not path.masks:
            w.line(f"many += {self.length(first, 'i')};")
            return
        w.open("")
        if len(path.steps) == 1:
            w.line(f"int64_t here = {self.length(first, 'i')};")
        else:
            w.line("int64_t here = 0;")
            w.line(f"for (int64_t p = {first.name}_ptr[i]; p < {first.name}_ptr[i + 1]; p++)")
            w.line(f"    here += {self.length(last, f'{first.name}_index[p]')};")
        for o in path.masks:
            w.line(f"here = here < {self.length(o, 'i')} ? here : {self.length(o, 'i')};")
        w.line("many += here;")
        w.close()

    def chunks(self) -> None:
        """Rows in chunks of about as many products: chunk t begins at row from[t]; rows before it have base[t] columns
        at most."""
        w = self.w
        allotted(w, self.leave, "bound")
        w.open("for (int64_t i = 0, tw_t = 0, before = 0; tw_t <= chunks; i++)")
        share = "bound / chunks * tw_t + bound % chunks * tw_t / chunks"
        w.open(f"while (tw_t <= chunks && (i == rows || before >= {share}))")
        w.line("from[tw_t] = tw_t < chunks ? i : rows;")
        w.line("base[tw_t++] = before;")
        w.close()
        w.line("before += i < rows ? made.rowptr[i + 1] : 0;")
        w.close()

    # --- rows --------------------------------------------------------------------------------------------------

    def filled(self) -> None:
        """Columns and values of each row; each thread has tables of its own."""
        w = self.w
        w.comment("columns and values of each row")
        opened(w, self.types)
        own = self.tables(values=True)
        self.prepared(["col", "val", *own])
        loop(w)
        w.open("for (int64_t i = from[tw_t]; ready && i < from[tw_t + 1]; i++)")
        self.row(values=True)
        w.close()
        placed(w)
        self.released(own)

    def counted(self) -> None:
        """How many columns each row has, and all of them."""
        w = self.w
        w.comment("how many columns each row has")
        w.line("bound = 0;")
        w.pragma("parallel reduction(|:failed) reduction(+:bound)")
        w.open("")
        own = self.tables(values=False)
        self.prepared(own)
        w.line("failed |= !ready;")
        w.pragma("for schedule(dynamic, 256)")
        w.open("for (int64_t i = 0; i < rows; i++)")
        w.line("if (!ready)")
        w.line("    continue;")
        w.line("int64_t at = 0;")
        self.row(values=False)
        w.line("bound += at;")
        w.close()
        self.released(own)
        w.close()
        w.line("int64_t before = 0;")
        w.open("for (int64_t tw_t = 0; tw_t < chunks; tw_t++)")
        w.line("base[tw_t] = before;")
        w.line("for (int64_t i = from[tw_t]; i < from[tw_t + 1]; i++)")
        w.line("    before += made.rowptr[i + 1];")
        w.close()
        w.line("base[chunks] = before;")

    def prepared(self, own: list[str]) -> None:
        """Tables that hold no row yet, where there is memory for them: `ready`."""
        w = self.w
        w.line(f"const int ready = {' && '.join(f'{x} != 0' for x in own)};")
        w.line("for (int64_t c = 0; ready && c < slots; c++)")
        w.line("    mark[c] = -1;")
        for o in self.masks:
            w.line(f"for (int64_t c = 0; ready && c < {o.name}_slots; c++)")
            w.line(f"    {o.name}_in[c] = -1;")

    def released(self, own: list[str]) -> None:
        for x in own:
            self.w.line(f"free({x});")

    def tables(self, values: bool) -> list[str]:
        """The memory that each thread has for itself."""
        w, index, value = self.w, self.types.c_index, self.types.c_value
        own = [(index, "mark", "slots", 0), (index, "key", "slots", 0)]
        for o in self.masks:
            own += [(index, f"{o.name}_{x}", f"{o.name}_slots", 0) for x in ("in", "key")]
            own += [(value, f"{o.name}_at", f"{o.name}_slots", 0)] if values else []
        if values:
            own += [(value, "sum", "slots", 0), (index, "spare", "widest", 0), ("uint64_t", "bits", "words", 1),
                    ("uint64_t", "over", "words / 64 + 1", 1)]
        for kind, name, count, zero in own:
            w.line(f"{kind} *{name} = tw_new({count}, sizeof *{name}, {zero});")
        return [name for _, name, _, _ in own]

    def row(self, values: bool) -> None:
        w = self.w
        w.line(f"const int64_t {'first = at, ' if values else ''}many = made.rowptr[i + 1];")
        for o in self.masks:
            self.spread(o, values)
        w.line("int hashed = slots < columns;")
        self.choice(values)
        w.line("const int64_t fold = hashed ? tw_slots(many) - 1 : 0;")
        if values:
            w.line(f"const int by_bits = words > 0 && many > {FEW};")
            w.line("int64_t least = columns, most = -1;")
            w.line("int ascending = 1;")
            self.visit(True)
            self.ordered()
            w.line("made.rowptr[i + 1] = at;")
        else:
            self.visit(False)
            w.line("made.rowptr[i + 1] = at;")

    def choice(self, values: bool) -> None:
        """A table also where the row's columns seem to lie far apart: by the ends of the rows that are met, which also
        asks for them. That is a guess, right where these are sorted; any choice gives the same result."""
        w = self.w
        w.open("if (!hashed && columns > TW_DENSE && tw_slots(many) <= columns / 4)")
        w.line("int64_t low = columns, high = 0;")
        for path in self.found:
            first, last = path.steps[0], path.steps[-1]
            if len(path.steps) == 1:
                w.line(f"const int64_t {first.name}_0 = {first.name}_ptr[i], {first.name}_1 = {first.name}_ptr[i + 1];")
                w.open(f"if ({first.name}_0 < {first.name}_1)")
                begin, end = f"{first.name}_0", f"{first.name}_1"
            else:
                w.open(f"for (int64_t p = {first.name}_ptr[i]; p < {first.name}_ptr[i + 1]; p++)")
                w.line(f"const int64_t j = {first.name}_index[p];")
                w.line(f"const int64_t q = {last.name}_ptr[j], q_last = {last.name}_ptr[j + 1];")
                w.line("if (q == q_last)")
                w.line("    continue;")
                begin, end = "q", "q_last"
                if values:
                    w.line(f"__builtin_prefetch(&{last.name}_val[q]);")
                    w.line(f"__builtin_prefetch(&{last.name}_val[q_last - 1]);")
            w.line(f"const int64_t left = {last.name}_index[{begin}], right = {last.name}_index[{end} - 1];")
            w.line("low = left < low ? left : low;")
            w.line("high = right > high ? right : high;")
            w.close()
        w.line("hashed = high - low > TW_DENSE;")
        w.close()

    def spread(self, o: Operand, values: bool) -> None:
        """The columns of a mask's row, and their values."""
        w, n = self.w, o.name
        w.line(f"const int {n}_hashed = {n}_slots < columns;")
        w.line(f"const int64_t {n}_fold = {n}_hashed ? tw_slots({self.length(o, 'i')}) - 1 : 0;")
        w.open(f"for (int64_t p = {n}_ptr[i]; p < {n}_ptr[i + 1]; p++)")
        w.line(f"const int64_t c = {n}_index[p];")
        self.slot(n, "c")
        if values:
            here = f"{n}_in[{n}_s] == i ? {n}_at[{n}_s] : {self.ring.zero}"
            w.line(f"{n}_at[{n}_s] = {self.ring.total([f'({here})', f'{n}_val[p]'])};")
        w.line(f"{n}_in[{n}_s] = i;")
        w.line(f"{n}_key[{n}_s] = c;")
        w.close()

    def slot(self, mask: str, column: str) -> None:
        table = f"tw_slot({mask}_in, {mask}_key, i, {column}, {mask}_fold)"
        self.w.line(f"const int64_t {mask}_s = {mask}_hashed ? {table} : {column};")

    def visit(self, values: bool) -> None:
        """All products of row i; a column that is met for the first time is put down, or counted."""
        w = self.w
        for n, path in enumerate(self.found):
            a, last = path.steps[0], path.steps[-1]
            two = len(path.steps) == 2
            w.open(f"for (int64_t p = {a.name}_ptr[i]; p < {a.name}_ptr[i + 1]; p++)")
            if two:
                w.line(f"const int64_t j = {a.name}_index[p];")
                w.open(f"for (int64_t q = {last.name}_ptr[j]; q < {last.name}_ptr[j + 1]; q++)")
            w.line(f"const int64_t c = {last.name}_index[{'q' if two else 'p'}];")
            for o in path.masks:
                self.slot(o.name, "c")
            if path.masks:
                w.line(f"if ({' || '.join(f'{o.name}_in[{o.name}_s] != i' for o in path.masks)})")
                w.line("    continue;")
            if values:
                self.product(n, two)
            w.line("const int64_t tw_s = hashed ? tw_slot(mark, key, i, c, fold) : c;")
            w.open("if (mark[tw_s] != i)")
            w.line("mark[tw_s] = i;")
            w.line("key[tw_s] = c;")
            if values:
                self.put_down()
                w.close("} else {")
                w.depth += 1
                w.line(self.ring.add("sum[tw_s]", "product"))
            else:
                w.line("at++;")
            w.close()
            for _ in path.steps:
                w.close()

    def product(self, n: int, two: bool) -> None:
        term, path = self.k.terms[n], self.found[n]
        scale = ([term.scale] if term.scale else []) if self.ring == PLUS_TIMES else term.scalars
        factors = [*scale, f"{path.steps[0].name}_val[p]", *([f"{path.steps[-1].name}_val[q]"] if two else []),
                   *(f"{o.name}_at[{o.name}_s]" for o in path.masks)]
        self.w.line(f"const {self.types.c_value} product = {self.ring.product(factors)};")

    def put_down(self) -> None:
        w = self.w
        w.line("sum[tw_s] = product;")
        w.line("col[at++] = c;")
        w.line("ascending &= c > most;")
        w.line("least = c < least ? c : least;")
        w.line("most = c > most ? c : most;")
        w.open("if (by_bits)")
        w.line("bits[c >> 6] |= (uint64_t)1 << (c & 63);")
        w.line("over[c >> 12] |= (uint64_t)1 << (c >> 6 & 63);")
        w.close()

    def ordered(self) -> None:
        """Columns in order, then the sums at each."""
        w = self.w
        w.line("if (by_bits && at > first)")
        w.line("    tw_from_bits(bits, over, least, most, col + first);")
        w.line("else if (!ascending)")
        w.line("    tw_sort_index(col + first, at - first, spare);")
        w.open("for (int64_t tw_x = first; tw_x < at; tw_x++)")
        w.line("const int64_t c = col[tw_x];")
        w.line("val[tw_x] = sum[hashed ? tw_slot(mark, key, i, c, fold) : c];")
        w.close()
