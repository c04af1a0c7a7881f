"""The charts of a search. Speed is that of the default plan, 1, unless said otherwise; methods keep their colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log, sqrt

from codegen.report.html.draw import dot, line, number, path, rect, text
from codegen.report.html.model import Picture, SvgElement
from codegen.report.tuning.axes import BOTTOM, LEFT, RIGHT, TOP, Chart, linear, logarithmic
from codegen.tune.plans.settings import SearchRun, TunedRegion
from codegen.tune.timing import seconds_text

SIZE = (436.0, 262.0)
COLOURS = 6
GRID = 48  # points at which a density is drawn


def colour(method: str, methods: Sequence[str]) -> str:
    return f"m{list(methods).index(method) % COLOURS}" if method in methods else "m0"


def base_of(region: TunedRegion) -> float:
    """The default plan's time, that all speeds are relative to."""
    return region.default.best if region.default is not None else 1.0


def _best_so_far(run: SearchRun, base: float) -> list[tuple[int, float, float]]:
    """(step, seconds, best speed) after each step that had a figure."""
    out: list[tuple[int, float, float]] = []
    best = 0.0
    for s in run.history:
        if s.timing is not None:
            best = max(best, base / s.timing.best)
            out.append((s.number, s.at, best))
    return out


def _stairs(points: Sequence[tuple[float, float]]) -> str:
    d = f"M{number(points[0][0])} {number(points[0][1])}"
    for x, y in points[1:]:
        d += f"H{number(x)}V{number(y)}"
    return d


def speed_per_step(region: TunedRegion, methods: Sequence[str]) -> Picture | None:
    """Every candidate, and the best so far."""
    base = base_of(region)
    steps = [(run, s) for run in region.runs for s in run.history]
    speeds = [base / s.timing.best for _, s in steps if s.timing is not None]
    if not speeds:
        return None
    original = base / region.original.best if region.original is not None else 1.0
    chart = Chart(*SIZE, linear([float(s.number) for _, s in steps], 2.0), logarithmic([*speeds, 1.0, original]))
    shapes = chart.frame("step", "speed, default plan = 1")
    shapes += [chart.level("default", 1.0, "default plan"), chart.level("original", original, "original")]
    for run, s in steps:
        cls = colour(run.method, methods)
        if s.timing is None:
            x, y = chart.place(s.number, chart.y.low)
            shapes.append(path(f"failed {cls}", f"M{number(x - 3)} {number(y - 9)}l6 6m0 -6l-6 6",
                               f"{run.method} {s.number}: {s.what}: {s.why[:160]}"))  # fmt: skip
        else:
            x, y = chart.place(s.number, base / s.timing.best)
            shapes.append(dot(f"spot {cls}", x, y, 2.6, f"{run.method} {s.number}: {s.what}: "
                              f"{seconds_text(s.timing.best)}, {base / s.timing.best:.3g}"))  # fmt: skip
    for run in region.runs:
        found = _best_so_far(run, base)
        if found:
            cls = colour(run.method, methods)
            shapes.append(path(f"best {cls}", _stairs([chart.place(n, v) for n, _, v in found]), run.method))
    shapes += [chart.label(1.0, "default plan"), chart.label(original, "original")]
    return Picture(*SIZE, "Speed of every candidate", tuple(shapes),
                   "Each dot is a candidate, the line the best so far; crosses are candidates that were refused, did "
                   "not compile, or failed")  # fmt: skip


def best_over_time(region: TunedRegion, methods: Sequence[str]) -> Picture | None:
    base = base_of(region)
    runs = [(run, _best_so_far(run, base)) for run in region.runs]
    runs = [(run, found) for run, found in runs if found]
    if not runs:
        return None
    ends = [run.seconds for run, _ in runs]
    speeds = [v for _, found in runs for _, _, v in found]
    chart = Chart(*SIZE, linear(ends), logarithmic([*speeds, 1.0]))
    shapes = chart.frame("seconds since the search began", "best speed so far, default plan = 1")
    shapes.append(chart.level("default", 1.0, "default plan"))
    for run, found in runs:
        points = [chart.place(at, v) for _, at, v in found]
        points.append((chart.place(run.seconds, chart.y.low)[0], points[-1][1]))
        shapes.append(path(f"best {colour(run.method, methods)}", _stairs(points), run.method))
    shapes.append(chart.label(1.0, "default plan"))
    return Picture(*SIZE, "Best speed over time", tuple(shapes), "What each method had found after so many seconds")


def seconds_per_step(region: TunedRegion, methods: Sequence[str]) -> Picture | None:
    """How long each step took: generation, proofs, compiler and runs."""
    rows: list[tuple[SearchRun, int, float]] = []
    for run in region.runs:
        before = 0.0
        for s in run.history:
            if not s.known:
                rows.append((run, s.number, max(s.at - before, 1e-3)))
            before = s.at
    if not rows:
        return None
    chart = Chart(*SIZE, linear([float(n) for _, n, _ in rows], 2.0), logarithmic([t for _, _, t in rows]))
    shapes = chart.frame("step", "seconds since the step before")
    for run, n, took in rows:
        x, y = chart.place(n, took)
        _, floor = chart.place(n, chart.y.low)
        cls = colour(run.method, methods)
        shapes.append(line(f"stem {cls}", x, floor, x, y))
        shapes.append(dot(f"spot {cls}", x, y, 2.4, f"{run.method} {n}: {took:.3g} s"))
    return Picture(*SIZE, "Seconds per step", tuple(shapes),
                   "Generating, proving, compiling and running a candidate; several are built at a time and then run "
                   "one after the other")  # fmt: skip


def distribution(rows: Sequence[tuple[str, str, Sequence[float], float]], label: str, caption: str) -> Picture | None:
    """A violin for each row: (name, class, speeds, the one that was chosen)."""
    rows = [r for r in rows if r[2]]
    if not rows:
        return None
    axis = logarithmic([v for _, _, values, chosen in rows for v in (*values, chosen)] + [1.0], 1.35)
    names = 150.0
    height = TOP + 46 * len(rows) + BOTTOM
    chart = Chart(SIZE[0], height, axis, linear([1.0]))

    def at(v: float) -> float:
        return names + axis.at(v) * (SIZE[0] - names - RIGHT)

    shapes: list[SvgElement] = []
    for v in axis.ticks():
        shapes += [line("grid", at(v), TOP, at(v), height - BOTTOM),
                   text("value", at(v), height - BOTTOM + 15, f"{v:.4g}", "middle")]  # fmt: skip
    middle = (names + SIZE[0] - RIGHT) / 2
    shapes.append(text("name", middle, height - BOTTOM + 33, "speed, default plan = 1", "middle"))
    shapes.append(line("default", at(1.0), TOP, at(1.0), height - BOTTOM, "default plan"))
    for k, (name, cls, values, chosen) in enumerate(rows):
        middle = TOP + 46 * k + 23
        shapes.append(text("name", names - 10, middle + 4, _short(name), "end"))
        shapes.append(path(f"violin {cls}", _violin(values, axis.low, axis.high, at, middle), name))
        shapes += [dot(f"spot {cls}", at(v), middle, 1.8) for v in values]
        shapes.append(path("chosen", f"M{number(at(chosen))} {number(middle - 14)}v28", f"{name}: {chosen:.3g}"))
    return Picture(chart.width, height, label, tuple(shapes), caption)


def _short(name: str) -> str:
    return name if len(name) <= 22 else f"{name[:21]}…"


def _violin(values: Sequence[float], low: float, high: float, at: object, middle: float) -> str:
    """The density of the logarithms, drawn on both sides of a line."""
    assert callable(at)
    logs = [log(v) for v in values]
    mean = sum(logs) / len(logs)
    deviation = sqrt(sum((x - mean) ** 2 for x in logs) / len(logs))
    width = max(1.06 * deviation * len(logs) ** -0.2, (log(high) - log(low)) / 40)
    grid = [log(low) + (log(high) - log(low)) * k / GRID for k in range(GRID + 1)]
    density = [sum(exp(-((g - x) ** 2) / (2 * width * width)) for x in logs) for g in grid]
    most = max(density) or 1.0
    upper = [(at(exp(g)), middle - 16 * d / most) for g, d in zip(grid, density, strict=True)]
    lower = [(x, 2 * middle - y) for x, y in reversed(upper)]
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in (*upper, *lower)) + "Z"


PROFILED = 4  # regions, at least


def profile(times: Mapping[str, Sequence[float | None]], methods: Sequence[str]) -> Picture | None:
    """Performance profiles: for how many regions a method's result is within a factor of the best of all. None where
    too few regions would make stairs of chance of them, or there is nothing to compare."""
    count = max((len(v) for v in times.values()), default=0)
    if count < PROFILED or len(times) < 2:
        return None
    best = [min(v[k] or float("inf") for v in times.values()) for k in range(count)]
    ratios = {m: sorted(t / b for t, b in zip(v, best, strict=True) if t) for m, v in times.items()}
    worst = max((r for v in ratios.values() for r in v), default=1.0)
    axis = logarithmic([1.0, max(worst, 1.2)])
    chart = Chart(*SIZE, axis.__class__(1.0, axis.high, True), linear([1.0]))
    shapes = chart.frame("within this factor of the fastest", "part of the regions")
    for m in times:
        points = [chart.place(1.0, 0.0)]
        for k, r in enumerate(ratios[m]):
            points.append(chart.place(r, (k + 1) / count))
        points.append((SIZE[0] - RIGHT, points[-1][1]))
        first = f"{sum(r <= 1.0 + 1e-9 for r in ratios[m])} of {count} fastest"
        shapes.append(path(f"best {colour(m, methods)}", _stairs(points), f"{m}: {first}"))
    return Picture(*SIZE, "Performance profiles", tuple(shapes),
                   "A curve that is higher up on the left is a method that is more often the fastest; further right, "
                   "one that is seldom far from it")  # fmt: skip


def legend(methods: Sequence[str]) -> Picture:
    """Methods and their colours."""
    shapes: list[SvgElement] = []
    x = LEFT
    for m in methods:
        shapes += [rect(f"swatch {colour(m, methods)}", x, 4, 14, 12), text("name", x + 20, 14, m)]
        x += 36 + 7 * len(m)
    return Picture(max(x, 100), 20, "Methods", tuple(shapes))
