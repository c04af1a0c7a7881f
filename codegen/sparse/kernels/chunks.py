"""Prints what row-wise kernels do with chunks of rows: room for where they begin, and, once each chunk has made its
rows somewhere in the result's memory, the moves that push chunks together."""
from __future__ import annotations

from collections.abc import Callable

from codegen.sparse.emit.types import Writer

Leave = Callable[[str, str], None]


def allotted(w: Writer, leave: Leave, each: int) -> None:
    """`chunks`: one, or `each` for every thread; arrays for the first row of each, where its columns go, and how many
    it made."""
    w.line("int64_t chunks = 1;")
    for line in ("#ifdef _OPENMP", "if (omp_get_max_threads() > 1)",
                 f"    chunks = {f'{each} * ' if each > 1 else ''}omp_get_max_threads();", "#endif"):
        w.line(line)
    w.line("from = tw_new(3 * (chunks + 1), sizeof *from, 1);")
    leave("!from", "NO_MEMORY")
    w.line("int64_t *const base = from + chunks + 1, *const taken = base + chunks + 1;")


def joined(w: Writer, leave: Leave, index: str) -> None:
    """Chunks are pushed together, rows get their starts, and what memory is left over goes back."""
    w.line("int64_t total = 0;")
    w.open("for (int64_t tw_t = 0; tw_t < chunks; tw_t++)")
    w.line("const int64_t here = total;")
    w.open("if (here < base[tw_t] && taken[tw_t] > 0)")
    w.line("memmove(made.col + here, made.col + base[tw_t], (size_t)taken[tw_t] * sizeof *made.col);")
    w.line("memmove(made.val + here, made.val + base[tw_t], (size_t)taken[tw_t] * sizeof *made.val);")
    w.close()
    w.line("total += taken[tw_t];")
    if index == "32":
        leave("total > INT32_MAX", "RANGE")
    w.line("for (int64_t i = from[tw_t]; here > 0 && i < from[tw_t + 1]; i++)")
    w.line("    made.rowptr[i + 1] += here;")
    w.close()
    for line in ("made.NR = rows;", "made.NC = columns;", "made.NNZ = total;"):
        w.line(line)
    for x in ("col", "val"):
        w.line(f"void *less_{x} = realloc(made.{x}, (size_t)(total ? total : 1) * sizeof *made.{x});")
        w.line(f"made.{x} = less_{x} ? less_{x} : made.{x};")
