"""Prints the C that merges rows, for sums and elementwise products of two sparse matrices whose columns ascend within
rows, which is tested at run time. Also the records `Operand` and `Path` of row-wise kernels.

Several threads count the columns of the result first, so that each knows where its rows begin.
"""
from __future__ import annotations

from collections.abc import Callable

from codegen.record import record
from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.kernels.notation import Kernel
from codegen.sparse.kernels.semiring import PLUS_TIMES

ROWS, COLUMNS = "CSR", "CSC"  # a matrix by rows, and its transpose by rows


@record
class Operand:
    """A matrix as it is gone through: `turned`, by its columns. `made`: it is converted first."""

    tensor: str
    turned: bool
    made: bool

    @property
    def name(self) -> str:
        return f"{self.tensor}_{'columns' if self.turned else 'rows'}"

    @property
    def format(self) -> str:
        return COLUMNS if self.turned else ROWS

    @property
    def fields(self) -> tuple[str, str]:
        return ("colptr", "row") if self.turned else ("rowptr", "col")

    @property
    def extents(self) -> tuple[str, str]:
        return ("NC", "NR") if self.turned else ("NR", "NC")


@record
class Path:
    """How a term is gone through: a matrix, or two of which the second's rows are the first's columns; and the masks
    that its columns must be in, by whose values it is multiplied."""

    steps: tuple[Operand, ...]
    masks: tuple[Operand, ...] = ()

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (*self.steps, *self.masks)


def streams(k: Kernel, found: tuple[Path, ...]) -> tuple[Operand, Operand] | None:
    """The two matrices that are merged: the terms of a sum, or the factors of a product; None for other kernels."""
    if len(found) == 2 and all(len(p.operands) == 1 for p in found):
        return found[0].steps[0], found[1].steps[0]
    if len(found) == 1 and len(found[0].steps) == len(found[0].masks) == 1:
        return found[0].steps[0], found[0].masks[0]
    return None


def prefix_sum(w: Writer, leave: Callable[[str, str], None], index: str) -> None:
    """Pointers from counts, and the sizes of the result."""
    w.line("int64_t total = 0;")
    w.open("for (int64_t i = 0; i < rows; i++)")
    w.line("total += made.rowptr[i + 1];")
    if index == "32":
        leave("total > INT32_MAX", "RANGE")
    w.line("made.rowptr[i + 1] = total;")
    w.close()
    w.line("made.NR = rows;")
    w.line("made.NC = columns;")
    w.line("made.NNZ = total;")


def merged(w: Writer, k: Kernel, pair: tuple[Operand, Operand], leave: Callable[[str, str], None],
           types: Types) -> None:
    """Fills the result where columns ascend; `ascending` says whether they do."""
    a, b = (o.name for o in pair)
    adds = len(k.terms) == 2
    most = f"{a}_ptr[rows] + {b}_ptr[rows]" if adds else f"({a}_ptr[rows] < {b}_ptr[rows] ? {a}_ptr : {b}_ptr)[rows]"
    w.line(f"const int ascending = tw_ascending({a}_ptr, {a}_index, rows) && tw_ascending({b}_ptr, {b}_index, rows);")
    w.line("int threads = 1;")
    for line in ("#ifdef _OPENMP", "threads = omp_get_max_threads();", "#endif"):
        w.line(line)
    leave("!(made.rowptr = tw_new(rows + 1, sizeof *made.rowptr, 1))", "NO_MEMORY")
    w.open("if (ascending && threads > 1)")
    _counted(w, adds, a, b)
    prefix_sum(w, leave, types.index)
    _room(w, leave, "total")
    w.pragma("parallel for schedule(dynamic, 256)")
    w.open("for (int64_t i = 0; i < rows; i++)")
    w.line("int64_t at = made.rowptr[i];")
    _filled(w, k, a, b, types.c_value)
    w.close()
    w.close("} else if (ascending) {")
    w.depth += 1
    w.comment("on one thread, into as much memory as there can be columns, of which the rest goes back")
    _room(w, leave, most)
    w.line("int64_t at = 0;")
    w.open("for (int64_t i = 0; i < rows; i++)")
    _filled(w, k, a, b, types.c_value)
    if types.index == "32":
        leave("at > INT32_MAX", "RANGE")
    w.line("made.rowptr[i + 1] = at;")
    w.close()
    for line in ("made.NR = rows;", "made.NC = columns;", "made.NNZ = at;"):
        w.line(line)
    for x in ("col", "val"):
        w.line(f"void *less_{x} = realloc(made.{x}, (size_t)(at ? at : 1) * sizeof *made.{x});")
        w.line(f"made.{x} = less_{x} ? less_{x} : made.{x};")
    w.close()


def _room(w: Writer, leave: Callable[[str, str], None], count: str) -> None:
    for x in ("col", "val"):
        leave(f"!(made.{x} = tw_new({count}, sizeof *made.{x}, 0))", "NO_MEMORY")


def _counted(w: Writer, adds: bool, a: str, b: str) -> None:
    w.pragma("parallel for schedule(dynamic, 256)")
    w.open("for (int64_t i = 0; i < rows; i++)")
    _row(w, a, b)
    w.line(f"int64_t count = {'p_last - p + q_last - q' if adds else '0'};")
    w.open("while (p < p_last && q < q_last)")
    w.line(f"const int64_t left = {a}_index[p], right = {b}_index[q];")
    w.line(f"count {'-' if adds else '+'}= left == right;")
    w.line("p += left <= right;")
    w.line("q += right <= left;")
    w.close()
    w.line("made.rowptr[i + 1] = count;")
    w.close()


def _filled(w: Writer, k: Kernel, a: str, b: str, kind: str) -> None:
    """One row of the result, from `at` on."""
    _row(w, a, b)
    if len(k.terms) == 2:
        _sum(w, k, a, b, kind)
    else:
        _product(w, k, a, b)


def _row(w: Writer, a: str, b: str) -> None:
    w.line(f"int64_t p = {a}_ptr[i], q = {b}_ptr[i];")
    w.line(f"const int64_t p_last = {a}_ptr[i + 1], q_last = {b}_ptr[i + 1];")


def _scaled(k: Kernel, term: int, values: list[str]) -> str:
    t = k.terms[term]
    if k.semiring == PLUS_TIMES:
        return " * ".join([*([t.scale] if t.scale else []), *values])
    return k.semiring.product([*t.scalars, *values])


def _sum(w: Writer, k: Kernel, a: str, b: str, kind: str) -> None:
    left, right = _scaled(k, 0, [f"{a}_val[p]"]), _scaled(k, 1, [f"{b}_val[q]"])
    w.open("while (p < p_last && q < q_last)")
    w.line(f"const int64_t left = {a}_index[p], right = {b}_index[q];")
    w.line(f"const {kind} of_left = {left}, of_right = {right};")
    w.line("made.col[at] = left <= right ? left : right;")
    both = k.semiring.total(["of_left", "of_right"])
    w.line(f"made.val[at++] = left < right ? of_left : left > right ? of_right : {both};")
    w.line("p += left <= right;")
    w.line("q += right <= left;")
    w.close()
    for n, p, value in ((a, "p", left), (b, "q", right)):
        w.open(f"for (; {p} < {p}_last; {p}++, at++)")
        w.line(f"made.col[at] = {n}_index[{p}];")
        w.line(f"made.val[at] = {value};")
        w.close()


def _product(w: Writer, k: Kernel, a: str, b: str) -> None:
    w.open("while (p < p_last && q < q_last)")
    w.line(f"const int64_t left = {a}_index[p], right = {b}_index[q];")
    w.open("if (left == right)")
    w.line("made.col[at] = left;")
    w.line(f"made.val[at++] = {_scaled(k, 0, [f'{a}_val[p]', f'{b}_val[q]'])};")
    w.close()
    w.line("p += left <= right;")
    w.line("q += right <= left;")
    w.close()
