"""Generated sparse conversions and kernels against SciPy's C++, and TACO where it is installed: make bench-sparse.

At the smallest size every pair is measured on every kind of matrix that it suits. At the larger ones each pair is
measured on the kind where it was slowest against its peer, and on the first kind that suits it, which most pairs share;
--all measures every kind. Kernels are measured at the first size that caches do not hold. A measurement ends before its
last repetition where times have settled.
"""
from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

from benchmarks.sparse_kernels import SPMV
from benchmarks.sparse_matrices import KINDS, make
from benchmarks.sparse_measure import Bench
from benchmarks.sparse_pairs import PAIRS, Pair
from benchmarks.sparse_products import PRODUCTS, cases
from benchmarks.sparse_report import kernel_tables, plot, table, verdicts

SIZES, QUICK = "1e6,5e6,2e7", "3e5"
LARGE = 5e6  # SpMV is measured from here on, where matrices do not stay in caches


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--nnz", default="", help=f"sizes, in nonzeros; by default {SIZES}")
    p.add_argument("--quick", action="store_true", help=f"one size ({QUICK}) and two repetitions, to see that all runs")
    p.add_argument("--kinds", default=",".join(KINDS))
    p.add_argument("--all", action="store_true", help="every kind at every size")
    p.add_argument("--only", default="", help="pairs such as COO->CSR,CSR->CSC; spmv; mcoo3; kernels, or some of "
                   + ", ".join(PRODUCTS))
    p.add_argument("--threads", type=int, default=2, help="also with this many threads; 1: only one")
    p.add_argument("--repeat", type=int, default=5, help="at the smallest size; three times at larger ones")
    p.add_argument("--busy", action="store_true", help="for a machine with other work: one thread, in processor time")
    p.add_argument("--out", type=Path, default=Path("build/bench"))
    given = p.parse_args(argv)
    given.nnz = given.nnz or (QUICK if given.quick else SIZES)
    given.repeat = min(given.repeat, 2) if given.quick else given.repeat
    return given


def kinds_of(p: Pair, bench: Bench, first: int, kinds: Sequence[str]) -> set[str]:
    """For a larger size: the kind with the lowest ratio at the first one, and the first kind of all that suits."""
    found = {r["kind"]: r["ratio"] for r in bench.rows if r["pair"] == p.name and r["size"] == first}
    if not found:
        return set()
    return {min(found, key=lambda k: found[k]), next(k for k in kinds if k in found)}


def conversions(bench: Bench, sizes: Sequence[int], kinds: Sequence[str], pairs: Sequence[Pair]) -> None:
    """Every size, the smallest first; a matrix is made once for all pairs that want it."""
    for size in sizes:
        wanted = {p: set(kinds) if size == sizes[0] or bench.given.all else kinds_of(p, bench, sizes[0], kinds)
                  for p in pairs}
        for kind in kinds:
            mine = [p for p in pairs if kind in wanted[p]]
            if not mine:
                continue
            m = make(kind, size)
            for p in mine:
                if p.only(m):
                    bench.pair(p, m, size, bench.given.repeat if size == sizes[0] else min(3, bench.given.repeat))
        keep(bench)


def products(bench: Bench, sizes: Sequence[int], kinds: Sequence[str], wanted: Sequence[str]) -> None:
    """Kernels over compressed rows, at the first size that caches do not hold."""
    names = [n for n in PRODUCTS if not wanted or n in wanted or "kernels" in wanted]
    size = next((s for s in sizes if s >= LARGE), sizes[-1])
    for name, kind, build in cases(size, tuple(kinds)) if names else ():
        if name in names:
            bench.product(name, kind, build(), size)
            keep(bench)


def keep(bench: Bench) -> str:
    """Figures and plot so far, so that a run that is broken off leaves what it has."""
    out = bench.given.out
    out.mkdir(parents=True, exist_ok=True)
    (out / "sparse.json").write_text(json.dumps(bench.rows, indent=1), encoding="utf-8")
    return plot(bench.rows, out)


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments(argv)
    bench = Bench(given)
    if os.getloadavg()[0] > 1.5 and not given.busy:
        print(f"other programs run here (load {os.getloadavg()[0]:.1f}): see --busy")
    wanted = given.only.split(",") if given.only else []
    sizes = sorted(int(float(x)) for x in given.nnz.split(","))
    conversions(bench, sizes, given.kinds.split(","), [p for p in PAIRS if not wanted or p.name in wanted])
    if not wanted or "mcoo3" in wanted:
        for size in sizes:
            bench.mcoo3(size)
    if not wanted or "spmv" in wanted:
        for size in dict.fromkeys((next((s for s in sizes if s >= LARGE), sizes[-1]), sizes[-1])):
            for fmt, kind in SPMV.items():
                bench.spmv(fmt, kind, size)
    products(bench, sizes, given.kinds.split(","), wanted)
    kept = keep(bench)
    for line in (*table(bench.rows), *kernel_tables(bench.rows), *verdicts(bench.rows)):
        print(line)
    print(kept)
    return 0 if all(r["same"] for r in bench.rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
