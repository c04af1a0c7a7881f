"""Generated sparse conversions and kernels against SciPy's C++, interleaved in one run: make bench-sparse."""
from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.sparse_kernels import SPMV, reader, spmv
from benchmarks.sparse_matrices import KINDS, Matrix, make, tensor
from benchmarks.sparse_pairs import PAIRS, Pair, coo, csr
from benchmarks.sparse_report import plot, verdicts
from codegen.sparse.python.arrays import from_struct, to_struct
from codegen.sparse.python.call import Converter

Row = dict[str, Any]


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--nnz", default="1e6,2e6,5e6", help="sizes, in nonzeros (up to 2e7)")
    p.add_argument("--kinds", default=",".join(KINDS))
    p.add_argument("--only", default="", help="pairs such as COO->CSR,CSR->CSC; spmv; mcoo3")
    p.add_argument("--threads", type=int, default=2, help="also with this many threads; 1: only one")
    p.add_argument("--repeat", type=int, default=5)
    p.add_argument("--busy", action="store_true", help="for a machine with other work: one thread, in processor time")
    p.add_argument("--out", type=Path, default=Path("build/bench"))
    return p.parse_args()


class Bench:
    """Times in seconds, best of several, the contestants taking turns."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.clock = time.thread_time if given.busy else time.perf_counter
        self.rows: list[Row] = []
        self.made: dict[tuple[str, str, int], Converter] = {}

    def best(self, *runs: Callable[[], Any]) -> list[float]:
        times = [math.inf] * len(runs)
        for _ in range(self.given.repeat):
            for n, run in enumerate(runs):
                start = self.clock()
                result = run()
                times[n] = min(times[n], self.clock() - start)
                del result
        return times

    def converter(self, source: str, target: str, threads: int) -> Converter:
        key = source, target, threads
        if key not in self.made:
            self.made[key] = Converter(source, target, threads=threads)
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

    def interleaved(self, runs: dict[str, Callable[[], Any]]) -> dict[str, float]:
        times = dict.fromkeys(runs, math.inf)
        for _ in range(self.given.repeat):
            for name, run in runs.items():
                start = self.clock()
                result = run()
                times[name] = min(times[name], self.clock() - start)
                if name != "peer":
                    self.release(result)
                del result
        return times

    def pair(self, p: Pair, m: Matrix) -> None:
        values = coo(m) if p.source == "COO" else csr(m)
        one = self.ours(p.source, p.target, values)
        same = p.same(self.release(one()), p.peer(m, values))
        runs: dict[str, Callable[[], Any]] = {"peer": lambda: p.peer(m, values), "ours": one}
        if self.given.threads > 1 and not self.given.busy:
            runs["threads"] = self.ours(p.source, p.target, values, self.given.threads)
        self.row(p.name, m.name, m.nnz, self.interleaved(runs), same)

    def row(self, name: str, kind: str, nnz: int, times: dict[str, float], same: bool, **more: Any) -> None:
        row = {"pair": name, "kind": kind, "nnz": nnz, **times, "ratio": times["peer"] / times["ours"], "same": same,
               **more}
        self.rows.append(row)
        more_threads = times["ours"] / times.get("threads", math.inf)
        threads = f"  {self.given.threads} threads {more_threads:4.2f}x" if "threads" in times else ""
        bound = f"  bound {more['bound'] * 1e3:7.2f} ms" if "bound" in more else ""
        print(f"{name:15} {kind:12} {nnz:9,}  ours {times['ours'] * 1e3:8.2f} ms  peer {times['peer'] * 1e3:8.2f} ms"
              f"  {row['ratio']:5.2f}{threads}{bound}{'' if same else '  WRONG'}", flush=True)

    def keep(self) -> str:
        """Figures and plot so far, so that a run that is broken off leaves what it has."""
        out = self.given.out
        out.mkdir(parents=True, exist_ok=True)
        (out / "sparse.json").write_text(json.dumps(self.rows, indent=1), encoding="utf-8")
        return plot(self.rows, out)

    def spmv(self, fmt: str, kind: str, nnz: int) -> None:
        ours, peer, size, same = spmv(fmt, make(kind, nnz))
        read, read_bytes = reader()
        right = same()
        a, b, c = self.best(peer, ours, read)
        self.row(f"SpMV {fmt}", kind, nnz, {"peer": a, "ours": b}, right, bound=c / read_bytes * size)

    def mcoo3(self, nnz: int) -> None:
        """Against a comparison sort of the same keys, with the coordinates gathered afterwards."""
        t = tensor(nnz)

        def spread(x: Any) -> Any:
            x = x.astype(np.uint64) & np.uint64(0x1fffff)
            for shift, mask in ((32, 0x001f00000000ffff), (16, 0x001f0000ff0000ff), (8, 0x100f00f00f00f00f),
                                (4, 0x10c30c30c30c30c3), (2, 0x1249249249249249)):
                x = (x | x << np.uint64(shift)) & np.uint64(mask)
            return x

        def peer() -> Any:
            key = spread(t["row"]) << np.uint64(2) | spread(t["col"]) << np.uint64(1) | spread(t["lay"])
            order = np.argsort(key, kind="stable")
            return tuple(t[k][order] for k in ("row", "col", "lay", "val"))

        one = self.ours("COO3", "MCOO3", t)
        made, expected = self.release(one()), peer()
        same = all(np.array_equal(made[k], e) for k, e in zip(("row", "col", "lay", "val"), expected, strict=True))
        self.row("COO3->MCOO3", "uniform", nnz, self.interleaved({"peer": peer, "ours": one}), same)


def main() -> int:
    given = arguments()
    bench = Bench(given)
    if os.getloadavg()[0] > 1.5 and not given.busy:
        print(f"other programs run here (load {os.getloadavg()[0]:.1f}): see --busy")
    wanted = given.only.split(",") if given.only else []
    for size in (int(float(x)) for x in given.nnz.split(",")):
        for kind in given.kinds.split(","):
            m = make(kind, size)
            for p in PAIRS:
                if (not wanted or p.name in wanted) and p.only(m):
                    bench.pair(p, m)
        if not wanted or "mcoo3" in wanted:
            bench.mcoo3(size)
        bench.keep()
    largest = int(float(given.nnz.split(",")[-1]))
    for fmt, kind in SPMV.items() if not wanted or "spmv" in wanted else ():
        bench.spmv(fmt, kind, largest)
    kept = bench.keep()
    for line in verdicts(bench.rows):
        print(line)
    print(kept)
    return 0 if all(r["same"] for r in bench.rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
