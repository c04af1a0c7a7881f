"""The tables of the kernel benchmark, and what was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.kernels_cases import FACTORIZATIONS, MORE, POLYBENCH
from benchmarks.kernels_measure import Best
from benchmarks.tensor_report import geometric_mean, threads_text

MEAN, EACH, LEAST, HAND, HALF = 4.0, 1.5, 0.97, 1.5, 0.5
HEADS = ("gcc s", "polly s", "ours s", "/gcc", "/better")


@dataclass(frozen=True)
class Asked:
    """One line of the summary."""

    what: str
    found: str
    met: bool


def ratio(theirs: float | None, ours: float | None) -> float | None:
    return theirs / ours if theirs and ours else None


def table(found: Sequence[Best], threads: Sequence[int], product: Best | None = None) -> str:
    """One row per kernel; thread counts side by side. Below the factorizations what they are judged by."""
    lines = []
    for group in dict.fromkeys(b.case.group for b in found):
        part = [b for b in found if b.case.group == group]
        hand = any(b.case.by_hand for b in part) and max(threads) > 1
        heads = {t: [*HEADS, *(["/hand"] if hand and t > 1 else [])] for t in threads}
        block = {t: 9 * len(heads[t]) - 1 for t in threads}
        lines += ["", group, f"{'':20}" + "".join(f" | {threads_text(t):^{block[t]}}" for t in threads) + " | plan"]
        lines.append(f"{'':20}" + "".join(" | " + " ".join(f"{h:>8}" for h in heads[t]) for t in threads) + " |")
        for b in part:
            cells = "".join(f" | {_cells(b, t, len(heads[t])):{block[t]}}" for t in threads)
            lines.append(f"{b.case.name:20}{cells} | {b.plan}")
        shares = [_share_text(b, product, threads) for b in part if product and b.case.name in FACTORIZATIONS]
        lines += [f"of the matrix product's speed: {'; '.join(shares)}"] if shares else []
    return "\n".join(lines)


def _cells(b: Best, t: int, columns: int) -> str:
    if ("ours", t) in b.wrong:
        return f"WRONG: {b.wrong['ours', t]}".splitlines()[0][: 9 * columns - 1]
    gcc, polly, ours = b.of("gcc", 1), b.of("polly", t), b.of("ours", t)
    values = [gcc, polly, ours, ratio(gcc, ours), ratio(b.peer(t), ours), ratio(b.of("hand", t), ours)]
    return " ".join(f"{_number(v):>8}" for v in values[:columns])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}" if value < 1 else f"{value:.2f}"


def in_any_order(found: Sequence[Best], threads: Sequence[int]) -> str:
    """Ours with the freedom that Polly has, where it changes the code."""
    lines = []
    for b in found:
        cells = []
        for t in threads:
            s = b.of("free", t)
            speeds = [ratio(b.of("ours", t), s), ratio(b.of("gcc", 1), s), ratio(b.peer(t), s)]
            cells.append(" ".join(f"{_number(v):>8}" for v in (s, *speeds)))
        if any(side == "free" for side, _ in b.seconds):
            lines.append(f"{b.case.name:20} | {' | '.join(cells)}")
    if not lines:
        return ""
    heads = " | ".join(" ".join(f"{h:>8}" for h in ("s", "/ours", "/gcc", "/better")) for _ in threads)
    what = f"ours with sums and extremes in any order (--reassociate), {' and '.join(map(threads_text, threads))}"
    return "\n".join([what, f"{'':20} | {heads}", *lines]) + "\n"


def asked(found: Sequence[Best], threads: Sequence[int], product: Best | None) -> list[Asked]:
    """The figures asked for, over what was measured."""
    out = []
    polybench = [b for b in found if b.case.group in POLYBENCH]
    for part, name in ((polybench, f"{len(polybench)} of PolyBench"), (_more(found), "the other kernels")):
        if not part:
            continue
        for t in threads:
            speeds = _ratios(part, lambda b, t=t: ratio(b.of("gcc", 1), b.of("ours", t)))  # type: ignore[misc]
            mean = geometric_mean(speeds.values())
            judged = t == 1 and part is polybench
            goal = f" (asked {MEAN:g})" if judged else ""
            what = f"{name}, {threads_text(t)}: geometric mean / gcc{goal}"
            out.append(Asked(what, f"{mean:.2f}", mean >= MEAN or not judged))
            out.append(_each(speeds, LEAST, f"{name}, {threads_text(t)}: none below {LEAST} of gcc"))
            peers = _ratios(part, lambda b, t=t: ratio(b.peer(t), b.of("ours", t)))  # type: ignore[misc]
            better = geometric_mean(peers.values())
            what = f"{name}, {threads_text(t)}: geometric mean / the better of gcc and Polly (asked {EACH})"
            out.append(Asked(what, f"{better:.2f}, least {_least(peers)}", better >= EACH))
    for t in threads:
        gained = _ratios(found, lambda b, t=t: ratio(b.of("before", t), b.of("ours", t)))  # type: ignore[misc]
        if gained:
            out.append(_each(gained, LEAST, f"gained by what was left out, {threads_text(t)}: none below {LEAST}"))
    most = max(threads)
    hand = _ratios(found, lambda b: ratio(b.of("hand", most), b.of("ours", most)))
    if hand:
        out.append(_each(hand, HAND, f"stencils, {threads_text(most)}: each >= {HAND} of OpenMP by hand"))
    return out + _factorizations(found, threads, product)


def _more(found: Sequence[Best]) -> list[Best]:
    return [b for b in found if b.case.group == MORE]


def _ratios(part: Sequence[Best], of: Callable[[Best], float | None]) -> dict[str, float]:
    return {b.case.name: r for b in part if (r := of(b)) is not None}


def _least(ratios: dict[str, float], count: int = 5) -> str:
    return ", ".join(f"{n} {r:.2f}" for r, n in sorted((r, n) for n, r in ratios.items())[:count])


def _each(ratios: dict[str, float], least: float, what: str) -> Asked:
    below = sorted((r, n) for n, r in ratios.items() if r < least)
    names = ": " + ", ".join(f"{n} {r:.2f}" for r, n in below) if below else ""
    mean = geometric_mean(ratios.values())
    return Asked(what, f"{len(below)} of {len(ratios)} below, geometric mean {mean:.2f}{names}", not below)


def _factorizations(found: Sequence[Best], threads: Sequence[int], product: Best | None) -> list[Asked]:
    """Speed in operations per second beside that of the matrix product of the same order."""
    out = []
    for b in found:
        for t in threads:
            if product and (speeds := _speeds(b, product, t)):
                what = f"{b.case.name}, {threads_text(t)}: >= {HALF} of the matrix product of order {b.case.sizes[0]}"
                text = f"{speeds[0] * 1e-9:.2f} of {speeds[1] * 1e-9:.2f} GFlop/s: {speeds[0] / speeds[1]:.2f}"
                out.append(Asked(what, text, speeds[0] >= HALF * speeds[1]))
    return out


def _speeds(b: Best, product: Best, t: int) -> tuple[float, float] | None:
    """Operations per second of a factorization and of the product."""
    ours, whole = b.of("ours", t), product.of("ours", t)
    if b.case.name not in FACTORIZATIONS or not ours or not whole:
        return None
    return FACTORIZATIONS[b.case.name](b.case.sizes[0]) / ours, 2.0 * product.case.sizes[0] ** 3 / whole


def _share_text(b: Best, product: Best, threads: Sequence[int]) -> str:
    found = [(t, _speeds(b, product, t)) for t in threads]
    return f"{b.case.name} " + ", ".join(f"{s[0] / s[1]:.2f} at {threads_text(t)}" for t, s in found if s)


def summary(lines: Sequence[Asked], found: Sequence[Best]) -> str:
    out = [f"{'met   ' if a.met else 'MISSED'} {a.what}: {a.found}" for a in lines]
    out += [
        f"WRONG OR FAILED: {b.case.name}, {side}, {threads_text(t)}: {text}"
        for b in found
        for (side, t), text in b.wrong.items()
    ]
    bits = [b.case.name for b in found if any(side == "ours" and not same for (side, _), same in b.bits.items())]
    out += [f"other bits than gcc's, which fuses other multiply-adds: {', '.join(bits)}"] if bits else []
    return "\n".join(out)


def as_data(found: Sequence[Best], lines: Sequence[Asked]) -> dict[str, object]:
    """For the JSON file."""
    rows = [
        {
            "kernel": b.case.name,
            "group": b.case.group,
            "sizes": b.case.sizes,
            "plan": b.plan,
            "brought": b.brought,
            "seconds": [
                {"side": s, "threads": t, "best": v, "runs": b.runs[s, t], "bits": b.bits.get((s, t))}
                for (s, t), v in b.seconds.items()
            ],
            "wrong": [{"side": s, "threads": t, "what": v} for (s, t), v in b.wrong.items()],
        }
        for b in found
    ]
    return {"rows": rows, "asked": [{"what": a.what, "found": a.found, "met": a.met} for a in lines]}
