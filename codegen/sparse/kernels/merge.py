"""Prints the C that merges rows, for sums and elementwise products of two sparse matrices whose columns ascend within
rows, which is tested at run time. Also the records `Operand` and `Path` of row-wise kernels.
"""
from __future__ import annotations

from codegen.record import record
from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.kernels.chunks import Leave, allotted, closed, loop, opened, placed
from codegen.sparse.kernels.notation import Kernel
from codegen.sparse.kernels.semiring import PLUS_TIMES

ROWS, COLUMNS = "CSR", "CSC"  # a matrix by rows, and its transpose by rows
BLOCK = 4  # columns that are compared with as many others at once


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


def merged(w: Writer, k: Kernel, pair: tuple[Operand, Operand], leave: Leave, types: Types) -> None:
    """Fills the result where columns ascend; `ascending` says whether they do."""
    a, b = (o.name for o in pair)
    w.line(f"const int ascending = tw_ascending({a}_ptr, {a}_index, rows) && tw_ascending({b}_ptr, {b}_index, rows);")
    leave("!(made.rowptr = tw_new(rows + 1, sizeof *made.rowptr, 1))", "NO_MEMORY")
    w.open("if (ascending)")
    adds = len(k.terms) == 2
    w.comment("into as much memory as there can be columns; chunks are rows of about as many entries")
    w.line(f"const int64_t entries = {_both(a, b, 'rows')};")
    allotted(w, leave, "entries")
    _shares(w, a, b, adds, types.c_index)
    for x in ("col", "val"):
        leave(f"!(made.{x} = tw_new(base[chunks], sizeof *made.{x}, 0))", "NO_MEMORY")
    opened(w, types)
    w.line("const int ready = col != 0 && val != 0;")
    loop(w)
    if not adds:
        w.line("int rare = 1; /* had the row before few columns in common? */")
    w.open("for (int64_t i = from[tw_t]; ready && i < from[tw_t + 1]; i++)")
    _filled(w, k, a, b, types.c_value)
    w.line("made.rowptr[i + 1] = at;")
    w.close()
    placed(w)
    closed(w, leave, types.index)
    w.close()


def _both(a: str, b: str, row: str) -> str:
    """Entries of all rows before one."""
    return f"(int64_t){a}_ptr[{row}] + {b}_ptr[{row}]"


def _shares(w: Writer, a: str, b: str, adds: bool, index: str) -> None:
    """Chunk t begins at row from[t]; rows before it have base[t] columns at most."""
    if not adds:
        w.line(f"const {index} *const fewer = {a}_ptr[rows] < {b}_ptr[rows] ? {a}_ptr : {b}_ptr;")
    w.open("for (int64_t tw_t = 0; tw_t <= chunks; tw_t++)")
    w.line("const int64_t share = entries / chunks * tw_t;")
    w.line("int64_t low = 0, high = rows;")
    w.open("while (tw_t < chunks && low < high)")
    w.line("const int64_t middle = low + (high - low) / 2;")
    w.line(f"const int before = {_both(a, b, 'middle')} < share;")
    w.line("low = before ? middle + 1 : low;")
    w.line("high = before ? high : middle;")
    w.close()
    w.line("from[tw_t] = tw_t < chunks ? low : rows;")
    w.line(f"base[tw_t] = {_both(a, b, 'from[tw_t]') if adds else 'fewer[from[tw_t]]'};")
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
    """What comes next in each row is read before it is known which of the two goes on, so that no step waits for a
    load; the last one of either has none."""
    left, right = _scaled(k, 0, [f"{a}_val[p]"]), _scaled(k, 1, [f"{b}_val[q]"])
    w.open("if (p < p_last && q < q_last)")
    w.line(f"int64_t left = {a}_index[p], right = {b}_index[q];")
    w.open("while (p < p_last - 1 && q < q_last - 1)")
    w.line(f"const int64_t next_left = {a}_index[p + 1], next_right = {b}_index[q + 1];")
    _step(w, k, left, right, kind)
    w.line("left = of_a ? next_left : left;")
    w.line("right = of_b ? next_right : right;")
    w.close()
    w.close()
    w.open("while (p < p_last && q < q_last)")
    w.line(f"const int64_t left = {a}_index[p], right = {b}_index[q];")
    _step(w, k, left, right, kind)
    w.close()
    for n, p, value in ((a, "p", left), (b, "q", right)):
        w.open(f"for (; {p} < {p}_last; {p}++, at++)")
        w.line(f"col[at] = {n}_index[{p}];")
        w.line(f"val[at] = {value};")
        w.close()


def _step(w: Writer, k: Kernel, left: str, right: str, kind: str) -> None:
    """One column of the sum, of either row or both."""
    w.line("const int of_a = left <= right, of_b = right <= left;")
    w.line(f"const {kind} of_left = {left}, of_right = {right};")
    w.line("col[at] = of_a ? left : right;")
    w.line(f"val[at++] = !of_b ? of_left : !of_a ? of_right : {k.semiring.total(['of_left', 'of_right'])};")
    w.line("p += of_a;")
    w.line("q += of_b;")


def _product(w: Writer, k: Kernel, a: str, b: str) -> None:
    """Where columns in common are rare, each of BLOCK columns is compared with each of BLOCK others, which takes no
    turns that depend on the outcome; from the first one that is found on, one by one."""
    w.line("const int64_t first = at, length = p_last - p;")
    w.open(f"while (rare && p <= p_last - {BLOCK} && q <= q_last - {BLOCK})")
    w.line(f"const int64_t left = {a}_index[p + {BLOCK - 1}], right = {b}_index[q + {BLOCK - 1}];")
    w.line("int common = 0;")
    w.open(f"for (int64_t tw_x = p; tw_x < p + {BLOCK}; tw_x++)")
    w.line(f"for (int64_t tw_y = q; tw_y < q + {BLOCK}; tw_y++)")
    w.line(f"    common |= {a}_index[tw_x] == {b}_index[tw_y];")
    w.close()
    w.line("if (common)")
    w.line("    break;")
    w.line(f"p += left <= right ? {BLOCK} : 0;")
    w.line(f"q += right <= left ? {BLOCK} : 0;")
    w.close()
    w.open("while (p < p_last && q < q_last)")
    w.line(f"const int64_t left = {a}_index[p], right = {b}_index[q];")
    w.open("if (left == right)")
    w.line("col[at] = left;")
    w.line(f"val[at++] = {_scaled(k, 0, [f'{a}_val[p]', f'{b}_val[q]'])};")
    w.close()
    w.line("p += left <= right;")
    w.line("q += right <= left;")
    w.close()
    w.line("rare = 8 * (at - first) <= length;")
