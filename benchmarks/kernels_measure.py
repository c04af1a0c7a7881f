"""Runs of all programs of a kernel in turn, and the best of each."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.kernels_build import Shop
from benchmarks.kernels_cases import Case
from benchmarks.tensor_build import Failed
from benchmarks.tensor_kernels import difference

# Checksums are sums of all elements; what they may differ by leaves room for reassociated sums (Polly's fast math) in
# the factorizations, and is far below what one wrong element changes.
ALLOWED = 1e-7
RUNS, SECONDS = 9, 12.0  # best of so many runs; a program stops after so many seconds, not before its second run
QUICK_RUNS, QUICK_SECONDS = 3, 3.0
SLOW = 10.0  # one run of a program that takes longer counts for two


@dataclass
class Best:
    """Best seconds by program and threads."""

    case: Case
    plan: str
    seconds: dict[tuple[str, int], float] = field(default_factory=dict)
    wrong: dict[tuple[str, int], str] = field(default_factory=dict)

    def of(self, side: str, threads: int) -> float | None:
        """What gives wrong results is no peer."""
        return None if (side, threads) in self.wrong else self.seconds.get((side, threads))

    def peer(self, threads: int) -> float | None:
        """The better of the compiler and Polly at this number of threads."""
        known = [s for s in (self.of("gcc", 1), self.of("polly", threads)) if s]
        return min(known) if known else None


def measure(shop: Shop, case: Case, threads: tuple[int, ...], quick: bool) -> Best:
    """Every program once, then again, until each has its runs or has used its time."""
    best = Best(case, shop.plans.get(case.name, "?"))
    programs = _programs(shop, case, threads)
    runs, budget = (QUICK_RUNS, QUICK_SECONDS) if quick else (RUNS, SECONDS)
    spent = dict.fromkeys(programs, 0.0)
    results: dict[tuple[str, int], str] = {}
    for _ in range(runs):
        for key, program in programs.items():
            if key in best.wrong or spent[key] >= budget:
                continue
            try:
                seconds, results[key] = shop.run(program, case, key[1])
            except Failed as failure:
                best.wrong[key] = str(failure)
                continue
            best.seconds[key] = min(best.seconds.get(key, seconds), seconds)
            spent[key] += seconds * (2 if seconds > SLOW else 1)
            right = results.get(("gcc", 1), "")
            if right and (told := difference(results[key], right, ALLOWED)):
                best.wrong[key] = told
    return best


def _programs(shop: Shop, case: Case, threads: tuple[int, ...]) -> dict[tuple[str, int], str]:
    """(side, threads): the program; the compiler's first, for its checksums."""
    out = {("gcc", 1): "gcc"}
    for t in threads:
        out["ours", t] = "ours"
        if shop.without and f"before-{case.name}" not in shop.failed:
            out["before", t] = "before"
        if shop.clang:
            out["polly", t] = "polly-threads" if t > 1 else "polly"
        if case.by_hand and t > 1:
            out["hand", t] = "hand"
    return out
