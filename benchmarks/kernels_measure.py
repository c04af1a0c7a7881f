"""Runs of all programs of a kernel in turn, and the best of each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.kernels_build import Shop
from benchmarks.kernels_cases import Case
from benchmarks.tensor_build import Failed
from benchmarks.tensor_kernels import difference

# Checksums are sums of all elements; what they may differ by leaves room for reassociated sums (Polly's fast math) in
# the factorizations, and is far below what one wrong element changes.
ALLOWED = {"": 1e-7, "f64": 1e-7, "f32": 1e-4}
ALL_CLOSE, CLOSE = 3, 1.2  # programs whose times differ by less than this factor run so many times, whatever it takes
RUNS, SECONDS = 7, 1.0  # others: best of so many runs; a program stops after so many seconds, starting it included
QUICK_RUNS, QUICK_SECONDS = 3, 0.3
LOST = 2.0  # a peer that takes longer than the compiler's code by this factor, and START seconds, is not waited for
START = 20.0
SLOW = 2.0  # programs that take less run twice at least; of longer runs one says enough, unless it is a close call


@dataclass
class Best:
    """Best seconds by program and threads."""

    case: Case
    plan: str
    seconds: dict[tuple[str, int], float] = field(default_factory=dict)
    runs: dict[tuple[str, int], int] = field(default_factory=dict)
    wrong: dict[tuple[str, int], str] = field(default_factory=dict)
    bits: dict[tuple[str, int], bool] = field(default_factory=dict)  # are all results the compiler's, bit for bit?
    brought: str = ""  # what the program called `before` does not have

    def of(self, side: str, threads: int) -> float | None:
        """What gives wrong results is no peer."""
        return None if (side, threads) in self.wrong else self.seconds.get((side, threads))

    def peer(self, threads: int) -> float | None:
        """The better of the compiler and Polly at this number of threads."""
        known = [s for s in (self.of("gcc", 1), self.of("polly", threads)) if s]
        return min(known) if known else None

    def behind(self, threads: Sequence[int]) -> bool:
        """Is Polly, which may reorder sums, ahead of ours, which may not?"""
        pairs = [(self.of("polly", t), self.of("ours", t)) for t in threads]
        return any(polly and ours and polly < ours for polly, ours in pairs)


def measure(shop: Shop, case: Case, threads: tuple[int, ...], quick: bool) -> Best:
    """Every program once, then again those that are worth it, in turn."""
    best = Best(case, shop.plans.get(case.name, "?"), brought=shop.brought.get(case.name, ""))
    programs = _programs(shop, case, threads)
    runs, budget = (QUICK_RUNS, QUICK_SECONDS) if quick else (RUNS, SECONDS)
    spent = dict.fromkeys(programs, 0.0)
    results: dict[tuple[str, int], str] = {}
    for turn in range(runs):
        wanted = [k for k in programs if k not in best.wrong and (not turn or _again(best, k, turn, spent[k], budget))]
        for key in wanted:
            start = time.perf_counter()
            try:
                seconds, results[key] = shop.run(programs[key], case, key[1], **_patience(best, key[0]))
            except Failed as failure:
                best.wrong[key] = str(failure)
                continue
            spent[key] += time.perf_counter() - start
            best.seconds[key] = min(best.seconds.get(key, seconds), seconds)
            best.runs[key] = turn + 1
            best.bits[key] = results[key] == results.get(("gcc", 1))
            right = results.get(("gcc", 1), "")
            if right and (told := unlike(results[key], right, case)):
                best.wrong[key] = told
    return best


def unlike(found: str, right: str, case: Case) -> str:
    """What is wrong with checksums; integers leave no room, bits count."""
    if case.whole:
        return "" if found == right else "other integers than the original"
    return difference(found, right, ALLOWED[case.real])


def _patience(best: Best, side: str) -> dict[str, float]:
    """How long a program may take: Polly needs nine times as long as gcc for floyd-warshall, which is six minutes."""
    gcc = best.seconds.get(("gcc", 1))
    return {"limit": LOST * gcc + START} if side == "polly" and gcc else {}


def _again(best: Best, key: tuple[str, int], turn: int, spent: float, budget: float) -> bool:
    """Is another run of the program worth its time, after so many turns?"""
    mine = best.seconds[key]
    if (turn < 2 and mine < SLOW) or spent < budget:
        return True
    sides = {("ours", t) for _, t in best.seconds} if key[0] != "ours" else set(best.seconds) - {key}
    close = (best.seconds[k] / mine for k in sides if k in best.seconds and (k[1] == key[1] or "gcc" in (k[0], key[0])))
    return turn < ALL_CLOSE and any(1 / CLOSE < r < CLOSE for r in close)


def _programs(shop: Shop, case: Case, threads: tuple[int, ...]) -> dict[tuple[str, int], str]:
    """(side, threads): the program; the compiler's first, for its checksums."""
    out = {("gcc", 1): "gcc"}
    for t in threads:
        out["ours", t] = "ours"
        if shop.without and f"before-{case.name}" not in shop.failed:
            out["before", t] = "before"
        if "free" in shop.sides(case, False) and f"free-{case.name}" not in shop.failed:
            out["free", t] = "free"
        if shop.clang:
            out["polly", t] = "polly-threads" if t > 1 else "polly"
        if t > 1 and "hand" in shop.sides(case, True):
            out["hand", t] = "hand"
    return out
