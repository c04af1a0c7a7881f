"""The sparse benchmark's clock: contestants take turns, the best of several counts."""
from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import sparse_taco
from benchmarks.sparse_kernels import Reader, spmv
from benchmarks.sparse_matrices import Matrix, make, tensor
from benchmarks.sparse_pairs import SAME_MCOO3, Pair, coo, csr, peer_mcoo3
from benchmarks.sparse_products import Product
from codegen.sparse.python.arrays import from_struct, to_struct
from codegen.sparse.python.call import Converter

Row = dict[str, Any]
PEERS = ("peer", "scipy", "plain", "taco")
STABLE = 0.02  # where a whole round betters no best time by more than this, another would not tell more


class Bench:
    """Times in seconds, a row for each measurement."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.clock = time.thread_time if given.busy else time.perf_counter
        self.rows: list[Row] = []
        self.made: dict[tuple[str, str, int], Converter] = {}
        self.taco: dict[str, Any] = {}
        self.reader: Reader | None = None

    @property
    def threads(self) -> int:
        return 1 if self.given.busy else self.given.threads

    def converter(self, source: str, target: str, threads: int) -> Converter:
        key = source, target, threads
        if key not in self.made:
            self.made[key] = Converter(source, target, threads=threads, check=False)
        return self.made[key]

    def ours(self, source: str, target: str, values: dict[str, Any], threads: int = 1) -> Callable[[], Any]:
        """The C call with its allocations; views of the result free it, outside the clock's reach for the peer too."""
        c = self.converter(source, target, threads)
        src, keep = to_struct(c._ffi, c._source, c._from, values)

        def run() -> Any:
            dst = c._ffi.new(f"{c._to.type} *")
            status = c._run(src, dst)
            assert status == 0 and keep
            return dst, c

        return run

    def release(self, made: Any) -> dict[str, Any]:
        dst, c = made
        return from_struct(c._ffi, c._library, c._target, c._to, dst)

    def interleaved(self, runs: dict[str, Callable[[], Any]], repeat: int) -> dict[str, float]:
        times = dict.fromkeys(runs, math.inf)
        for _ in rounds(repeat, times):
            for name, run in runs.items():
                start = self.clock()
                result = run()
                times[name] = min(times[name], self.clock() - start)
                if name in ("ours", "threads") and result is not None:
                    self.release(result)
                elif name == "taco":
                    result[0].release(*result[1:])
                del result
        return times

    def pair(self, p: Pair, m: Matrix, size: int, repeat: int) -> None:
        values = coo(m) if p.source == "COO" else csr(m)
        one = self.ours(p.source, p.target, values)
        expected = p.peer(m, values)
        same = p.same(self.release(one()), expected)
        runs: dict[str, Callable[[], Any]] = {"peer": lambda: p.peer(m, values), "ours": one}
        taco = self.taco_run(p, values)
        if taco is not None:
            kernel, *made = taco()
            same &= p.same(kernel.arrays(*made, values), expected)
            kernel.release(*made)
            runs["taco"] = taco
        if self.threads > 1:
            runs["threads"] = self.ours(p.source, p.target, values, self.threads)
        self.row(p.name, m.name, m.nnz, size, self.interleaved(runs, repeat), same)

    def taco_run(self, p: Pair, values: dict[str, Any]) -> Callable[[], Any] | None:
        if p.name not in self.taco:
            self.taco[p.name] = sparse_taco.kernel(p.source, p.target)
        prepare = self.taco[p.name]
        return prepare(values) if prepare and sparse_taco.readable(p.source, values) else None

    def row(self, name: str, kind: str, nnz: int, size: int, times: dict[str, float], same: bool, **more: Any) -> None:
        best = min(times[k] for k in PEERS if k in times)
        row = {"pair": name, "kind": kind, "nnz": nnz, "size": size, **times, "ratio": best / times["ours"],
               "same": same, "taco installed": sparse_taco.installed(), **more}
        self.rows.append(row)
        threads = f"  {self.threads} threads {times['ours'] / times['threads']:4.2f}x" if "threads" in times else ""
        peers = "".join(f"  {k} {times[k] * 1e3:8.2f} ms" for k in PEERS if k in times)
        bound = f"  bound {more['bound'] * 1e3:7.2f} ms" if "bound" in more else ""
        print(f"{name:15} {kind:12} {nnz:10,}  ours {times['ours'] * 1e3:8.2f} ms{peers}"
              f"  {row['ratio']:5.2f}{threads}{bound}{'' if same else '  WRONG'}", flush=True)

    def spmv(self, fmt: str, kind: str, size: int) -> None:
        """Ours and the peer's on one thread, ours on several, and passes over memory on as many."""
        case = spmv(fmt, make(kind, size))
        right = case.same()
        if self.reader is None:
            self.reader = Reader()
        runs: dict[str, Callable[[], Any]] = {"peer": case.peer, "ours": case.ours, "read": self.reader.run(1)}
        if self.threads > 1:
            runs |= {"threads": case.threaded(self.threads), "read threads": self.reader.run(self.threads)}
        times = self.interleaved({k: _silent(r) for k, r in runs.items()}, 2 * self.given.repeat)
        speed = {k: self.reader.size / times.pop(k) for k in ("read", "read threads") if k in times}
        more = {"bound": case.once / speed["read"], "gathered": case.gathered / speed["read"]}
        if "read threads" in speed:
            more["bound threads"] = case.once / speed["read threads"]
            right &= case.same_threaded(self.threads)
        self.row(f"SpMV {fmt}", kind, case.nnz, size, times, right, **more)

    def product(self, name: str, kind: str, case: Product, size: int) -> None:
        """A kernel: ours on one thread and on several, and its peers."""
        right = case.same()
        runs = {"ours": _timed(case.ours, case.taken)}
        runs |= {k: _timed(r, lambda made: None) for k, r in case.peers.items()}
        if self.threads > 1:
            runs["threads"] = _timed(case.threaded(self.threads), case.taken)
        times = dict.fromkeys(runs, math.inf)
        for _ in rounds(self.given.repeat, times):
            for k, run in runs.items():
                times[k] = min(times[k], run(self.clock))
        self.row(name, kind, case.nnz, size, times, right, kernel=True)

    def mcoo3(self, nnz: int) -> None:
        """Against a comparison sort of the same keys, with the coordinates gathered afterwards."""
        t = tensor(nnz)
        one = self.ours("COO3", "MCOO3", t)
        same = SAME_MCOO3(self.release(one()), peer_mcoo3(t))
        runs: dict[str, Callable[[], Any]] = {"peer": lambda: peer_mcoo3(t), "ours": one}
        if self.threads > 1:
            runs["threads"] = self.ours("COO3", "MCOO3", t, self.threads)
        self.row("COO3->MCOO3", "uniform", nnz, nnz, self.interleaved(runs, min(3, self.given.repeat)), same)


def rounds(most: int, times: dict[str, float]) -> Iterator[int]:
    """Rounds of measurements, until one does not better the best times any more."""
    for n in range(most):
        before = dict(times)
        yield n
        if n > 0 and all(times[k] > (1 - STABLE) * before[k] for k in times):
            return


def _silent(run: Callable[[], Any]) -> Callable[[], None]:
    def quiet() -> None:
        run()

    return quiet


def _timed(run: Callable[[], Any], taken: Callable[[Any], Any]) -> Callable[[Callable[[], float]], float]:
    """Seconds of a call; what it made is freed when the clock has stopped."""
    def measure(clock: Callable[[], float]) -> float:
        start = clock()
        made = run()
        seconds = clock() - start
        taken(made)
        return seconds

    return measure
