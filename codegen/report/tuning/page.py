"""The HTML page about a tuning run: what was tuned, how the searches went, and the plans they ended with."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from statistics import geometric_mean, mean, median

from codegen import __version__
from codegen.children.worker import Died, run_limited
from codegen.limits import LimitPassed, analysis
from codegen.options import GenOptions
from codegen.plan_reader.parse import parse
from codegen.print.templates import environment
from codegen.region_model import model_region
from codegen.report.html.model import Picture, TableView, TreeRow
from codegen.report.html.trees import marked, rows_of
from codegen.report.tuning.charts import (
    base_of,
    best_over_time,
    colour,
    distribution,
    legend,
    profile,
    seconds_per_step,
    speed_per_step,
)
from codegen.report.tuning.model import PlanLine, TuningPage, TuningView
from codegen.report.tuning.nest import nest_picture
from codegen.scop.tree import Node
from codegen.source_file import open_source
from codegen.transform.apply import apply_plan
from codegen.tune.file import sentence
from codegen.tune.plans.settings import Settings, TunedFile, TunedRegion
from codegen.tune.timing import Timing, seconds_text

Tuned = tuple[TunedFile, str, GenOptions]  # a file, its text, and the options it was tuned with
SHOWN = 8  # candidates in the tables


def describe_tuning(files: Sequence[Tuned], settings: Settings) -> str:
    """One HTML page that needs nothing else."""
    return environment().get_template("tuning.html.j2").render(page=page(files, settings))


def page(files: Sequence[Tuned], settings: Settings) -> TuningPage:
    regions = [(f, text, options, r) for f, text, options in files for r in f.regions]
    found = [r for _, _, _, r in regions]
    named = [(r.title if len(files) == 1 else f"{f.name}, {r.title}", r) for f, _, _, r in regions]
    searched = list(dict.fromkeys(run.method for r in found for run in r.runs))
    methods = [*searched, *(m for m in ("original", "default plan") if m not in searched)]
    first = files[0][0]
    title = first.name if len(files) == 1 else f"{len(files)} files"
    views = tuple(_region(k, f, text, options, r, methods) for k, (f, text, options, r) in enumerate(regions))
    clock = "processor time of one thread" if settings.busy else f"{first.threads} thread{'s' * (first.threads > 1)}"
    conditions = f"{first.compiler}, {first.flags}; {clock}; {settings.budget:g} s for each method and file"
    pictures = [p for p in (profile(_times(found, searched), methods), _spread(found, methods)) if p is not None]
    return TuningPage(title, __version__, first.machine, conditions, tuple(methods), _overview(named),
                _comparison(found, searched), (legend(methods), *pictures) if pictures else (), views,
                tuple(f"{f.name}: {d.message}" for f, _, _ in files for d in f.diagnostics if d.id != "tuned"
                      and d.severity.value in ("warning", "error")))  # fmt: skip


# -- all regions ---------------------------------------------------------------------------------------


def _times(regions: Sequence[TunedRegion], methods: Sequence[str]) -> dict[str, list[float | None]]:
    """The best time of every method for each region that was measured; the original and the default are two more.
    Nothing where there is one method: it is as good as itself."""
    if len(methods) < 2:
        return {}
    done = [r for r in regions if r.default is not None and r.original is not None and r.runs]
    out: dict[str, list[float | None]] = {}
    for m in methods:
        out[m] = [next((run.best for run in r.runs if run.method == m), None) for r in done]
    if done:
        out["default plan"] = [r.default.best if r.default else None for r in done]
        out["original"] = [r.original.best if r.original else None for r in done]
    return out


def _spread(regions: Sequence[TunedRegion], methods: Sequence[str]) -> Picture | None:
    rows = []
    for r in regions:
        base = base_of(r)
        speeds = [base / s.timing.best for run in r.runs for s in run.history if s.timing is not None]
        chosen = base / r.tuned.best if r.tuned is not None else 1.0
        rows.append((r.title.partition("(")[2].partition(",")[0] or r.title, "m0", speeds, chosen))
    if len(rows) < 2:
        return None
    return distribution(rows, "Speed of candidates by region", "All candidates that ran; the stroke is the one chosen")


def _overview(regions: Sequence[tuple[str, TunedRegion]]) -> TableView:
    def cell(t: Timing | None) -> str:
        return seconds_text(t.best) if t is not None else "—"

    rows = []
    for title, r in regions:
        sizes = ", ".join(f"{k} = {v}" for k, v in r.sizes.items())
        over_original = f"{r.original.best / r.tuned.best:.2f}" if r.original and r.tuned else "—"
        over_default = f"{r.default.best / r.tuned.best:.2f}" if r.default and r.tuned else "—"
        rows.append((title, sizes, cell(r.original), cell(r.default), cell(r.tuned), over_original, over_default,
                     r.method or r.note))  # fmt: skip
    head = ("region", "sizes", "original", "default plan", "chosen plan", "over original", "over default", "found by")
    return TableView("Times are the best of the confirming run, in which all three take turns", head, tuple(rows))


def _comparison(regions: Sequence[TunedRegion], methods: Sequence[str]) -> TableView | None:
    """Speed over the default plan, by method."""
    rows = []
    for m in methods:
        pairs = [(base_of(r) / run.best, run) for r in regions for run in r.runs if run.method == m and run.best]
        if pairs:
            speeds, seconds = [s for s, _ in pairs], [run.seconds for _, run in pairs]
            counts = [len(run.history) for _, run in pairs]
            failed = sum(s.timing is None for _, run in pairs for s in run.history)
            figures = (mean(speeds), geometric_mean(speeds), median(speeds), min(speeds), max(speeds))
            words = (f"{mean(seconds):.3g} s", f"{mean(counts):.3g}", str(failed))
            rows.append((m, *(f"{x:.3f}" for x in figures), *words))
    head = ("method", "mean", "geometric mean", "median", "least", "most", "time", "candidates", "failed")
    return TableView("Speed of the best candidate over the default plan", head, tuple(rows)) if rows else None


# -- one region ----------------------------------------------------------------------------------------


def _region(
    k: int, f: TunedFile, text: str, options: GenOptions, r: TunedRegion, methods: Sequence[str]
) -> TuningView:
    made = (speed_per_step(r, methods), best_over_time(r, methods), seconds_per_step(r, methods), _violins(r, methods))
    nest, before, after = _trees(f, text, options, r)
    improved = r.plan != r.default_plan
    return TuningView(f"region-{k + 1}", f"{f.name}, {r.title}", sentence(r), improved, tuple(_facts(r)),
                      tuple(p for p in made if p is not None), nest, before, after,
                      _plan(r.default_plan, r.plan), _best(r), _failures(r))  # fmt: skip


def _facts(r: TunedRegion) -> list[tuple[str, str]]:
    facts = [("Candidates", f"a space of about {r.space:.2g} plans" if r.space else "not searched")]
    for name, t in (("Original", r.original), ("Default plan", r.default), ("Chosen plan", r.tuned)):
        if t is not None:
            more = f", median {seconds_text(t.median)}, middle half within {100 * t.spread:.2g} %" if t.runs else ""
            facts.append((name, f"{seconds_text(t.best)} at best of {t.runs or 'earlier'} runs{more}"))
    return facts


def _violins(r: TunedRegion, methods: Sequence[str]) -> Picture | None:
    base, rows = base_of(r), []
    for run in r.runs:
        speeds = [base / s.timing.best for s in run.history if s.timing is not None]
        rows.append((run.method, colour(run.method, methods), speeds, max(speeds, default=1.0)))
    return distribution(rows, "Speed of candidates by method", "All candidates that ran; the stroke is the fastest")


def _trees(
    f: TunedFile, text: str, options: GenOptions, r: TunedRegion
) -> tuple[Picture | None, tuple[TreeRow, ...], tuple[TreeRow, ...]]:
    def work() -> tuple[Picture, tuple[TreeRow, ...], tuple[TreeRow, ...]] | None:
        s = next(s for s in open_source(f.name, text, options).slices if s.region.index == r.index)
        model = model_region(s, options)
        if model is None:
            return None
        trees: list[Node] = []
        for plan in (r.default_plan, r.plan):
            scop = model.program.scop
            trees.append(apply_plan(model.program, parse(plan, "<plan>", {scop.region: scop})[0]).tree)
        rows = [rows_of(t) for t in trees]
        before, after = marked(*rows) if r.plan != r.default_plan else (rows[0], rows[1])
        return nest_picture(trees[1]), before, after

    try:
        found = run_limited(work, analysis(options.timeout))
    except (LimitPassed, Died):
        found = None
    return found if found is not None else (None, (), ())


def _plan(before: str, after: str) -> tuple[PlanLine, ...]:
    """The chosen plan, with what is other than in the default."""
    old, new = before.splitlines(), after.splitlines()
    out: list[PlanLine] = []
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            out += [PlanLine(x) for x in new[b1:b2]]
        else:
            out += [PlanLine(x, "gone") for x in old[a1:a2]] + [PlanLine(x, "new") for x in new[b1:b2]]
    return tuple(out)


def _best(r: TunedRegion) -> TableView | None:
    base = base_of(r)
    done = {s.plan: (s.timing, run.method, s) for run in r.runs for s in run.history if s.timing is not None}
    ranked = sorted(done.values(), key=lambda x: x[0].best)[:SHOWN]
    rows = tuple(
        (f"{base / t.best:.3f}", seconds_text(t.best), seconds_text(t.median), f"{100 * t.spread:.2g} %", m, s.what)
        for t, m, s in ranked
    )
    head = ("speed", "best", "median", "spread", "method", "what it is")
    return TableView("The fastest candidates of the search", head, rows) if rows else None


def _failures(r: TunedRegion) -> TableView | None:
    rows = {(s.what, s.why) for run in r.runs for s in run.history if s.timing is None}
    head = ("candidate", "why there is no figure")
    return TableView(f"{len(rows)} candidates failed", head, tuple(sorted(rows)[:40])) if rows else None
