"""Tuning one region: searches, then a confirming run of the best against the tool's own plan and the original."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from codegen.children.worker import Died
from codegen.diagnostics import InputError, TilewrightError
from codegen.machine.detect import detect
from codegen.options import effective_options
from codegen.tune.build import EXACT, Failed, built, compiler_version, open_region_compiler, original_text
from codegen.tune.children import TimedOut, alone
from codegen.tune.plans.bench import Bench, TooBusy, open_bench
from codegen.tune.plans.contractions import sole_product
from codegen.tune.plans.search import BEST, METHODS
from codegen.tune.plans.search.trees import BEST as TREES
from codegen.tune.plans.search.trees import NoTrees, by_trees
from codegen.tune.plans.settings import Say, SearchRun, Settings, TunedRegion
from codegen.tune.plans.sizes import Sizes, spelled
from codegen.tune.plans.space import Space, space_of
from codegen.tune.plans.study import BUILD_SECONDS, Over, Study, TriedPlan
from codegen.tune.records import CONFIRMED, MeasurementSetting, PlanRecord, Records
from codegen.tune.region import Subject
from codegen.tune.timing import Runs, Timing, seconds_text

FINALISTS = 3  # plans of a search that meet in the confirming run
NEAR = 1.1  # of the default's time: a plan that was slower in the search does not get there
SMALL = 100_000_000  # operations of a product for which loop trees are tried: later on, blocks for the caches matter
BASES = 0.25  # of what is left of the budget, for making plans to start from
CONFIRM = 0.1  # of the budget at most, for the confirming run
LEAST = 0.25  # of the budget at least, for the searches
EACH = 0.01  # of a search at most, for the runs of one candidate
PATIENCE = 0.05  # of a search: a candidate whose runs took longer is not measured again
TURNS = 6  # runs of each that the confirming run makes at least
AFTER = 0.05  # of the budget, for comparing the winner's bits and writing it down
GAIN = 0.99  # of the default's time, by best and by median: what it takes to be chosen instead


@contextmanager
def _folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="tilewright-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def tune_region(subject: Subject, settings: Settings, say: Say) -> TunedRegion:
    """The best plan that was found and confirmed; the tool's own where nothing can be measured."""
    own = subject.outcome.plan
    left = TunedRegion(subject.index, subject.title, subject.model.digest, own, own)
    begun = time.monotonic()
    with _folder() as folder:
        compiler = open_region_compiler(subject, folder, settings.flags)
        try:
            bench, original = open_bench(subject, compiler, _sizes(subject, settings), settings.threads, settings.busy)
        except (Failed, TilewrightError) as error:
            if settings.alone and isinstance(error, InputError) and error.id == "bad-sizes":
                raise
            why = error.message if isinstance(error, TilewrightError) else str(error)
            return replace(left, note=f"not tuned: {why}")
        sizes = spelled(subject, bench.vector)
        records = Records(settings.records)
        setting = _setting(subject, bench, settings, sizes)
        left = replace(left, sizes=sizes, original=original)
        known = records.known(setting)
        earlier = known.confirmed()
        if earlier is not None and not settings.again:
            return _reused(left, subject, earlier)
        opened = time.monotonic() - begun
        space = space_of(subject, settings.threads, BASES * max(0.0, settings.budget - 2 * opened))
        left = replace(left, space=space.size)
        settings = _within(settings, time.monotonic() - begun, opened)
        done = _Tuning(subject, bench, space, (records, setting), settings, say)
        return done.run(left, {} if settings.again else known.timings())


def _within(settings: Settings, spent: float, opened: float) -> Settings:
    """What is left for each search: the budget is for all that is done for a region, with the confirming run and what
    is compiled for it, which takes about as long as opening the bench did."""
    budget, methods = settings.budget, max(1, len(settings.methods))
    confirm = min(settings.confirm, CONFIRM * budget)
    rest = budget - (spent + opened + confirm + AFTER * budget) / methods
    return replace(settings, budget=max(LEAST * budget, rest), confirm=confirm)


def _sizes(subject: Subject, settings: Settings) -> Sizes:
    mine = {i.text for i in subject.harness.memory.ints}
    given = {k: v for k, v in settings.sizes.items() if k in mine}
    if subject.tuning is not None:
        return Sizes(given, subject.tuning.work, subject.tuning.bytes)
    return Sizes(given, settings.work)


def _setting(subject: Subject, bench: Bench, settings: Settings, sizes: Mapping[str, int]) -> MeasurementSetting:
    host, device = detect().machine, subject.tuning
    machine, compiler = f"{host.name}: {host.description}", compiler_version(bench.compiler.words)
    clock = "processor time of a thread" if settings.busy else "time"
    if device is not None:
        machine, compiler, clock = f"{device.title}; {machine}", f"{device.compiler}; {compiler}", "time of the device"
    arrays = ", ".join(
        f"{a.elem.kind}{a.elem.bits} {a.name}{''.join(f'[{n}]' for n in a.extents)}"
        for a in subject.model.program.scop.arrays.values()
    )
    options = replace(subject.options, plan_text=None, cpp=replace(subject.options.cpp, args=()))
    return MeasurementSetting(
        subject.source.name, subject.index, str(subject.harness.site.function.decl.name), subject.model.digest,
        effective_options(options), machine, compiler, settings.flags, settings.threads, sizes, clock, arrays,
    )  # fmt: skip


def _reused(left: TunedRegion, subject: Subject, earlier: PlanRecord) -> TunedRegion:
    """A plan of the records, if it can still be carried out."""
    try:
        subject.carried_out(earlier.plan)
    except TilewrightError as error:
        return replace(left, note=f"the plan of the records is refused: {error.message}")
    default, original = (Timing(t, t, 0.0, 0) if t else None for t in (earlier.base, earlier.original))
    return replace(left, plan=earlier.plan, tuned=earlier.timing, default=default, original=original or left.original,
                   method=earlier.method, note="taken from the records; --again searches anew")  # fmt: skip


def _effort(budget: float) -> Runs:
    """Of the runs of one candidate."""
    usual = Runs()
    return replace(usual, seconds=min(usual.seconds, EACH * budget), patience=min(usual.patience, PATIENCE * budget))


def finalists(runs: Sequence[SearchRun], own: str) -> list[tuple[str, str]]:
    """The fastest plans besides the tool's own, each with the method that found it first."""
    found: dict[str, tuple[float, str]] = {}
    for run in runs:
        for s in run.history:
            if s.timing is not None and s.plan not in found:
                found[s.plan] = (s.timing.best, run.method)
    limit = NEAR * found[own][0] if own in found else float("inf")
    ranked = sorted((t, plan, method) for plan, (t, method) in found.items() if plan != own and t <= limit)
    return [(plan, method) for _, plan, method in ranked[:FINALISTS]]


class _Tuning:
    """The searches of one region and their end."""

    def __init__(self, subject: Subject, bench: Bench, space: Space, memory: tuple[Records, MeasurementSetting],
                 settings: Settings, say: Say) -> None:  # fmt: skip
        self.subject, self.bench, self.space, self.say = subject, bench, space, say
        (self.records, self.setting), self.settings = memory, settings
        self.reference: Timing | None = None

    def run(self, left: TunedRegion, cache: Mapping[str, PlanRecord]) -> TunedRegion:
        runs: list[SearchRun] = []
        interrupted = False
        self.reference = left.original
        shared, libraries = dict(cache), dict[str, Path]()
        for name, budget in self._methods():
            study = self._study(name, budget, shared, libraries)
            try:
                self._search(name, study)
            except Over:
                pass
            except NoTrees as error:
                left = replace(left, note=str(error))
            except KeyboardInterrupt:
                interrupted = True
            best = study.best
            seconds = time.monotonic() - study.start
            runs.append(
                SearchRun(name, seconds, tuple(study.history), best.timing.best if best and best.timing else None)
            )
            if interrupted:
                break
        left = replace(left, runs=tuple(runs), interrupted=interrupted)
        return self._at_once(left) if interrupted else self._confirmed(left, libraries)

    def _search(self, name: str, study: Study) -> None:
        if name in METHODS:
            METHODS[name](study)
        else:
            by_trees(study, name)

    def _methods(self) -> list[tuple[str, float]]:
        """Methods with their budgets. `auto` tries loop trees first where the region is one small product."""
        out: dict[str, float] = {}
        for method in self.settings.methods:
            budget = self.settings.budget
            if method != "auto":
                out[method] = budget
                continue
            if self._for_trees():
                out[TREES] = budget = budget / 2
            out[BEST] = budget
        return list(out.items())

    def _for_trees(self) -> bool:
        """Is the region one small product?"""
        if self.subject.tuning is not None:
            return False
        sole = sole_product(self.space.bases[0], spelled(self.subject, self.bench.vector))
        return sole is not None and sole.problem.flops <= SMALL

    def _study(self, method: str, budget: float, cache: dict[str, PlanRecord], libraries: dict[str, Path]) -> Study:
        s = self.settings
        return Study(self.bench, self.space, self.records, self.setting, method, budget, s.jobs, self._progress,
                     self._say, cache, libraries, effort=_effort(budget),
                     learned=s.learned, seed=s.seed)  # fmt: skip

    def _say(self, words: str) -> None:
        self.say(f"{self.subject.title}: {words}")

    def _progress(self, step: TriedPlan, study: Study) -> None:
        best = study.best
        fastest = f"best {seconds_text(best.timing.best)}" if best and best.timing else "nothing runs yet"
        now = seconds_text(step.timing.best) if step.timing else f"failed ({step.why.partition(':')[0]})"
        self.say(f"{self.subject.title}: {study.method} {step.number}, {study.left:.0f} s left, {fastest}; "
                 f"{step.what}: {now}")  # fmt: skip

    # -- the end ---------------------------------------------------------------------------------------

    def _at_once(self, left: TunedRegion) -> TunedRegion:
        """After an interrupt: the best by the search's own figures, without a confirming run. Like every candidate it
        is proven, and its result was compared with the original's."""
        own = self.space.text(self.space.start())
        taken = {s.plan: s.timing for run in left.runs for s in run.history if s.timing is not None}
        default = taken.get(own)
        if default is None:
            return replace(left, note="not tuned: interrupted")
        left = replace(left, default=default, tuned=default, method="default", note="not confirmed")
        for plan, method in finalists(left.runs, own)[:1]:
            if taken[plan].best <= GAIN * default.best and taken[plan].median <= GAIN * default.median:
                left = replace(left, plan=plan, tuned=taken[plan], method=method)
        return left

    def _confirmed(self, left: TunedRegion, libraries: Mapping[str, Path]) -> TunedRegion:
        """Original, default and the best few in turns; the default stays unless another is faster for sure."""
        own = self.space.text(self.space.start())
        failed = next((s.why for run in left.runs for s in run.history if s.plan == own and s.timing is None), "")
        if failed:
            return replace(left, note=f"not tuned: the default plan's result {failed}")
        faster = finalists(left.runs, own)
        self.say(f"{self.subject.title}: confirming")
        try:
            plans = (own, *(plan for plan, _ in faster))
            paths = [libraries.get(p) or self._built(p, f"final{k}") for k, p in enumerate(plans)]
            original, default, *others = self._in_turns(paths)
        except TooBusy as error:
            return replace(left, note=f"not tuned: {error}")
        except (Failed, TimedOut, Died) as error:
            return replace(left, note=f"not tuned: the confirming run failed: the result {error}")
        left = replace(left, original=original, default=default, tuned=default, method="default")
        ranked = sorted(zip(others, faster, strict=True), key=lambda x: x[0].median)
        for took, (plan, method) in ranked:
            if took.best > GAIN * default.best or took.median > GAIN * default.median:
                break
            problem = self._exact(plan, paths[plans.index(plan)])
            if not problem:
                left = replace(left, plan=plan, tuned=took, method=method)
                break
            left = replace(left, note=f"a faster plan was dropped: {problem}")
        assert left.tuned is not None
        entry = PlanRecord(
            left.plan, CONFIRMED, left.tuned, method=left.method, base=default.best, original=original.best
        )
        self.records.add(self.setting, entry)
        return left

    def _in_turns(self, paths: Sequence[Path]) -> tuple[Timing, ...]:
        """The original first; where it would take most of the time, its figure is there."""
        known = self.reference
        if known is None or (self.subject.tuning is None and TURNS * known.best < self.settings.confirm):
            return self.bench.compete([self.bench.original, *paths], self.settings.confirm)
        return (known, *self.bench.compete(paths, self.settings.confirm))

    def _built(self, plan: str, name: str) -> Path:
        """In a child, as everything that may take long."""
        return alone(lambda: built(self.subject, self.bench.compiler, plan, name), BUILD_SECONDS)

    def _exact(self, plan: str, library: Path) -> str:
        """The first difference from the original, to the bit where the order of operations is the source's. What was
        compiled to `library` is compiled once more; for devices there is more to it than one text."""
        compiler = self.bench.compiler
        try:
            original = compiler.compile("exact-original", original_text(self.subject), EXACT)
            if compiler.device is None:
                result = compiler.compile("exact-result", compiler.source_of(library), EXACT)
            else:
                result = built(self.subject, compiler, plan, "exact-result", EXACT)
            return self.bench.exact(original, result, self.subject.model.program.reassociate)
        except Failed as error:
            return str(error)
