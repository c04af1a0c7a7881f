"""Prints what row-wise kernels do with chunks of rows: where these begin, and how threads that made one each put them
into the result, one behind the other.

A thread makes a chunk's rows in memory of its own, small enough to stay in its caches; where they go is known as soon
as all chunks before it are made, since threads take chunks in order. One thread makes all rows in the result itself.
"""
from __future__ import annotations

from collections.abc import Callable

from codegen.sparse.emit.types import Types, Writer

Leave = Callable[[str, str], None]


def allotted(w: Writer, leave: Leave, entries: str) -> None:
    """`chunks`: one where there is one thread; arrays for the first row of each, and how many columns rows before it
    have at most."""
    w.line("int64_t chunks = 1;")
    for line in ("#ifdef _OPENMP", "if (omp_get_max_threads() > 1)", f"    chunks = {entries} / TW_CHUNK + 1;",
                 "#endif"):
        w.line(line)
    w.line("from = tw_new(2 * (chunks + 1), sizeof *from, 1);")
    leave("!from", "NO_MEMORY")
    w.line("int64_t *const base = from + chunks + 1;")


def opened(w: Writer, types: Types) -> None:
    """The threads, and what each has for the columns and values of a chunk. Behind it: the kernel's own tables, of
    which `ready` tells."""
    w.line("int64_t total = 0, room = 0;")
    w.line("for (int64_t tw_t = 0; tw_t < chunks; tw_t++)")
    w.line("    room = base[tw_t + 1] - base[tw_t] > room ? base[tw_t + 1] - base[tw_t] : room;")
    w.pragma("parallel reduction(|:failed) if(chunks > 1)")
    w.open("")
    for kind, x in ((types.c_index, "col"), (types.c_value, "val")):
        w.line(f"{kind} *{x} = chunks > 1 ? tw_new(room, sizeof *{x}, 0) : made.{x};")


def loop(w: Writer) -> None:
    """Over the chunks, in order; columns go to `at` on."""
    w.line("failed |= !ready;")
    w.pragma("for ordered schedule(dynamic, 1)")
    w.open("for (int64_t tw_t = 0; tw_t < chunks; tw_t++)")
    w.line("int64_t at = 0, here = 0;")


def placed(w: Writer) -> None:
    """The end of that loop: the chunk goes behind those before it."""
    w.pragma("ordered")
    w.open("")
    w.line("here = total;")
    w.line("total += at;")
    w.close()
    w.open("if (chunks > 1 && ready)")
    for x in ("col", "val"):
        w.line(f"memcpy(made.{x} + here, {x}, (size_t)at * sizeof *{x});")
    w.line("for (int64_t i = from[tw_t]; i < from[tw_t + 1]; i++)")
    w.line("    made.rowptr[i + 1] += here;")
    w.close()
    w.close()


def closed(w: Writer, leave: Leave, index: str) -> None:
    """The end of the threads; what memory is left over goes back."""
    w.open("if (chunks > 1)")
    w.line("free(col);")
    w.line("free(val);")
    w.close()
    w.close()
    leave("failed", "NO_MEMORY")
    if index == "32":
        leave("total > INT32_MAX", "RANGE")
    for line in ("made.NR = rows;", "made.NC = columns;", "made.NNZ = total;"):
        w.line(line)
    for x in ("col", "val"):
        w.line(f"void *less_{x} = realloc(made.{x}, (size_t)(total ? total : 1) * sizeof *made.{x});")
        w.line(f"made.{x} = less_{x} ? less_{x} : made.{x};")
