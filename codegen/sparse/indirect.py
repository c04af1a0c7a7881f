"""Synthesises conversions of formats whose map describes another matrix than the one they hold: a triangle that stands
for both, or rows in the order of their lengths. Entries go through coordinates (COO), which are changed on the way."""
from __future__ import annotations

from dataclasses import replace

from codegen.sparse.direct import Conversion, Options, convert_direct, key_functions
from codegen.sparse.emit.file import CFunction, c_file
from codegen.sparse.emit.formats import struct, type_name
from codegen.sparse.emit.types import Writer
from codegen.sparse.formats.load import load, sorted_rows
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.prove.proof import proven, triangle
from codegen.sparse.synth.layout import layout
from codegen.sparse.synth.pair import REJECT, SUM

ARRAYS = ("row", "col", "val")


def plain(d: Descriptor) -> Descriptor:
    """What the map describes."""
    return replace(d, mirror=0, permutation=None, ordered=d.falling)


def formats_inside() -> tuple[Descriptor, ...]:
    """Formats that conversions speak of inside: coordinates, sorted rows and columns."""
    return load("COO"), *(sorted_rows(load(f), outer) for outer, f in enumerate(("CSR", "CSC")))


def convert_indirect(source: Descriptor, target: Descriptor, o: Options, header: str) -> Conversion:
    """Source to coordinates, coordinates to target, and between them what the two formats mean beside their maps."""
    for d in (source, target):
        proven(d)
    name = o.name or f"{source.name.lower()}_to_{target.name.lower()}"
    coo = load("COO")
    keep = replace(o, duplicates=None)
    parts = [convert_direct(plain(source), coo, replace(keep, name=f"{name}_entries"))]
    middle: tuple[Descriptor, ...] = ()
    if target.mirror:
        middle = formats_inside()[1:]
        policy = "reject" if o.duplicates == "reject" else "sum"
    elif jagged(target) and o.duplicates in (SUM, REJECT) and not layout(plain(source)).unique:
        middle, policy = formats_inside()[1:2], o.duplicates
    if middle:
        parts += [convert_direct(coo, d, replace(o, name=f"{name}_{d.name.lower()}", duplicates=policy, check=False))
                  for d in middle]
    rest = None if jagged(target) else o.duplicates
    last = convert_direct(coo, plain(target), replace(o, name=f"{name}_stored", check=False, duplicates=rest))
    static = tuple(replace(f, prototype=f"static {f.prototype}") for p in (*parts, last) for f in p.functions)
    functions = tuple(_Wrapper(source, target, o, bool(middle)).function(name, suffix)
                      for suffix in ("", *(("_omp",) if o.parallel else ())))
    used = (source, target, coo, *middle)
    file = c_file(f"{source.name} to {target.name}", tuple(struct(layout(d), o.types) for d in used),
                  (*static, *functions), o.types, header, key_functions(source, target))
    return Conversion(last.pair, last.chain, functions[0], file, functions, static)


def jagged(d: Descriptor) -> bool:
    """Must entries of equal coordinates meet before rows are sorted by their lengths? Jagged diagonals have no gaps
    only where the rows that are stored have these lengths."""
    return any(p.stair for p in layout(plain(d)).positions)


class _Wrapper:
    def __init__(self, source: Descriptor, target: Descriptor, o: Options, rows: bool) -> None:
        self.source, self.target, self.types, self.checked, self.rows = source, target, o.types, o.check, rows
        self.coo = type_name(load("COO"), o.types)
        self.w = Writer()
        self.freed: list[str] = []
        self.declared: list[str] = []

    def function(self, name: str, suffix: str) -> CFunction:
        self.w, self.freed, self.declared = Writer(), [], []
        self.name, self.suffix = name, suffix
        if self.checked:
            self.w.line("if (!src || !dst)")
            self.w.line("    return TW_SPARSE_RANGE;")
        self.struct(self.coo, "entries")
        self.call("entries", "src", "&entries")
        if self.source.permutation:
            self.read_permuted()
        if self.source.mirror:
            self.read_mirrored()
        if self.rows and not self.target.mirror:
            self.add_up()
        if self.target.permutation:
            self.permute()
        if self.target.mirror:
            self.keep_triangle()
        self.call("stored", "&entries", "dst")
        if self.target.permutation:
            self.w.line(f"dst->{self.target.permutation.array} = order;")
            self.w.line("order = NULL;")
        ending = "".join(f"    {line}\n" for line in self.freed)
        more = ", int threads" if suffix else ""
        prototype = (f"int {name}{suffix}(const {type_name(self.source, self.types)} *src, "
                     f"{type_name(self.target, self.types)} *dst{more})")
        declared = "".join(f"    {line}\n" for line in ("int status = TW_SPARSE_OK;", *self.declared))
        comment = f"/* {self.source.name} to {self.target.name}{', on several threads' if suffix else ''}. */"
        return CFunction(comment, prototype, declared, self.w.text, ending, "_OPENMP" if suffix else "")

    # --- pieces ------------------------------------------------------------------------------------------------

    def struct(self, kind: str, name: str) -> None:
        self.declared.append(f"{kind} {name} = {{0}};")
        self.freed.append(f"{kind}_free(&{name});")

    def array(self, name: str, count: str, zero: int, kind: str = "") -> None:
        kind = kind or self.types.c_index
        self.declared.append(f"{kind} *{name} = NULL;")
        self.freed.append(f"free({name});")
        self.w.line(f"{name} = tw_new({count}, sizeof *{name}, {zero});")
        self.leave(f"!{name}", "NO_MEMORY")

    def call(self, part: str, source: str, target: str) -> None:
        more = ", threads" if self.suffix else ""
        self.w.line(f"status = {self.name}_{part}{self.suffix}({source}, {target}{more});")
        self.w.line("if (status != TW_SPARSE_OK)")
        self.w.line("    goto done;")

    def leave(self, condition: str, status: str) -> None:
        self.w.open(f"if ({condition})")
        self.w.line(f"status = TW_SPARSE_{status};")
        self.w.line("goto done;")
        self.w.close()

    def entries(self, name: str, count: str) -> None:
        """Room for so many entries of the same extents."""
        self.struct(self.coo, name)
        for a in ARRAYS:
            self.w.line(f"{name}.{a} = tw_new({count}, sizeof *{name}.{a}, 0);")
        self.leave(" || ".join(f"!{name}.{a}" for a in ARRAYS), "NO_MEMORY")
        self.w.line(f"{name}.NR = entries.NR;")
        self.w.line(f"{name}.NC = entries.NC;")

    def exchange(self, name: str) -> None:
        """What was made takes the place of the entries."""
        self.w.line(f"{self.coo}_free(&entries);")
        self.w.line(f"entries = {name};")
        self.w.line(f"{name} = ({self.coo}){{0}};")

    def put(self, name: str, row: str, col: str, val: str) -> None:
        for a, e in zip(ARRAYS, (row, col, val), strict=True):
            self.w.line(f"{name}.{a}[{name}.NNZ{'++' if a == 'val' else ''}] = {e};")

    # --- rows in another order ---------------------------------------------------------------------------------

    def read_permuted(self) -> None:
        assert self.source.permutation is not None
        w, own = self.w, self.source.permutation.array
        if self.checked:
            w.comment("the order must have every row once")
            self.leave(f"entries.NR > 0 && !src->{own}", "RANGE")
            self.array("seen", "entries.NR", 1, "unsigned char")
            w.open("for (int64_t p = 0; p < entries.NR; p++)")
            self.leave(f"src->{own}[p] < 0 || src->{own}[p] >= entries.NR || seen[src->{own}[p]]", "RANGE")
            w.line(f"seen[src->{own}[p]] = 1;")
            w.close()
        w.line("for (int64_t n = 0; n < entries.NNZ; n++)")
        w.line(f"    entries.row[n] = src->{own}[entries.row[n]];")

    def permute(self) -> None:
        assert self.target.permutation is not None
        w, window = self.w, self.target.permutation.window
        w.comment("rows with most entries first: counted by length, from the longest")
        self.array("length", "entries.NR", 1)
        w.line("int64_t longest = 0;")
        w.line("for (int64_t n = 0; n < entries.NNZ; n++)")
        w.line("    length[entries.row[n]]++;")
        w.line("for (int64_t i = 0; i < entries.NR; i++)")
        w.line("    longest = length[i] > longest ? length[i] : longest;")
        self.array("start", "longest + 2", 1, "int64_t")
        w.line("for (int64_t i = 0; i < entries.NR; i++)")
        w.line("    start[longest - length[i] + 1]++;")
        w.line("for (int64_t n = 0; n < longest; n++)")
        w.line("    start[n + 1] += start[n];")
        self.array("order", "entries.NR", 0)
        w.line("for (int64_t i = 0; i < entries.NR; i++)")
        w.line("    order[start[longest - length[i]]++] = i;")
        if window:
            w.comment(f"the same within each {window} rows")
            self.array("next", f"entries.NR / {window} + 1", 0, "int64_t")
            self.array("within", "entries.NR", 0)
            w.line(f"for (int64_t n = 0; n <= entries.NR / {window}; n++)")
            w.line(f"    next[n] = n * {window};")
            w.line("for (int64_t p = 0; p < entries.NR; p++)")
            w.line(f"    within[next[order[p] / {window}]++] = order[p];")
            w.line("for (int64_t p = 0; p < entries.NR; p++)")
            w.line("    order[p] = within[p];")
        self.array("place", "entries.NR", 0)
        w.line("for (int64_t p = 0; p < entries.NR; p++)")
        w.line("    place[order[p]] = p;")
        w.line("for (int64_t n = 0; n < entries.NNZ; n++)")
        w.line("    entries.row[n] = place[entries.row[n]];")

    def add_up(self) -> None:
        """Entries of equal coordinates become one."""
        w, rows = self.w, f"sorted_csr_{self.types.suffix}"
        self.struct(rows, "rows")
        self.call("sorted_csr", "&entries", "&rows")
        self.entries("kept", "rows.NNZ")
        w.line("for (int64_t i = 0; i < rows.NR; i++)")
        w.open("    for (int64_t k = rows.rowptr[i]; k < rows.rowptr[i + 1]; k++)")
        self.put("kept", "i", "rows.col[k]", "rows.val[k]")
        w.close()
        self.exchange("kept")

    # --- a triangle that stands for both -------------------------------------------------------------------------

    def read_mirrored(self) -> None:
        w = self.w
        self.leave("entries.NR != entries.NC", "RANGE")
        self.entries("both", "2 * entries.NNZ")
        w.open("for (int64_t n = 0; n < entries.NNZ; n++)")
        self.put("both", "entries.row[n]", "entries.col[n]", "entries.val[n]")
        w.open("if (entries.row[n] != entries.col[n])")
        self.put("both", "entries.col[n]", "entries.row[n]", f"{'-' if self.source.mirror < 0 else ''}entries.val[n]")
        w.close()
        w.close()
        self.exchange("both")

    def keep_triangle(self) -> None:
        """The matrix must be symmetric (skew): its rows and its columns are compared."""
        w, lower = self.w, triangle(proven(plain(self.target))) > 0
        self.leave("entries.NR != entries.NC", "RANGE")
        for name, d in (("rows", "CSR"), ("columns", "CSC")):
            self.struct(f"sorted_{d.lower()}_{self.types.suffix}", name)
            self.call(f"sorted_{d.lower()}", "&entries", f"&{name}")
        self.leave("rows.NNZ != columns.NNZ", "RANGE")
        self.entries("kept", "rows.NNZ")
        w.open("for (int64_t i = 0; i < rows.NR; i++)")
        self.leave("rows.rowptr[i + 1] != columns.colptr[i + 1]", "RANGE")
        w.open("for (int64_t k = rows.rowptr[i]; k < rows.rowptr[i + 1]; k++)")
        w.line("const int64_t j = rows.col[k];")
        sign = "-" if self.target.mirror < 0 else ""
        self.leave(f"j != columns.row[k] || rows.val[k] != {sign}columns.val[k]", "RANGE")
        strict = "" if self.target.mirror > 0 else " && i != j"
        w.open(f"if ({'j <= i' if lower else 'j >= i'}{strict})")
        self.put("kept", "i", "j", "rows.val[k]")
        w.close()
        w.close()
        w.close()
        self.exchange("kept")
