"""Runs the original and candidate builds of a region, for `tune` and `bench`: compares what they compute with the
original's results, and measures how long they take. Raises Failed where a candidate differs, crashes or takes too long.

Everything that runs code of the user's, or code made from it, does so in a child process that may crash or hang.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

from codegen.checking.harness.codes import Op
from codegen.checking.harness.layout import MemoryLayout
from codegen.checking.harness.shared_object import Arena, Library, arena, open_library
from codegen.checking.test_sizes.survey import Survey, TestVector, lookers
from codegen.checking.trials import Trial, compare
from codegen.children.worker import Died
from codegen.limits import PROGRAM, Limits
from codegen.machine.believable import BUSY, TICKS, Work, disturbed, least_seconds, settled
from codegen.recognize.access.instances import updates
from codegen.record import record
from codegen.tune.build import Failed, RegionCompiler, original_text
from codegen.tune.children import TimedOut, alone
from codegen.tune.plans.sizes import Sizes, choose, spelled
from codegen.tune.region import Subject
from codegen.tune.timing import Runs, Timing, TooShort, timing

T = TypeVar("T")
_MEASURE = """
long tw_measure(long, const long *, void **, void **, const long *, long, long, long, double, double, double *);
double tw_pace(void);
void tw_busy(int);
double tw_now(void);
double tw_tick(void);
void tw_on_device(int);
"""
_ALIGNED = 64
REFERENCE_SECONDS = 300.0
LEAST_SECONDS = 5.0  # for a candidate, beyond what filling, comparing and runs may take
SLOWER = 4.0  # how much slower than the best one run may be before a candidate is given up
PACE = 1.1  # how much slower than ever the core may run while something is measured
WARM = 0.05  # seconds of a run that needs no other one to warm up
AGAIN = 3  # how often to try, when it does
LONG = 0.25  # seconds of the original from which on one run of it says enough


class TooBusy(Failed):
    """There are no figures to believe: the fault is not the candidate's."""


@record
class Images:
    """Memory that all children share: the data before a run, after the original, and after it with other last bits."""

    before: mmap.mmap
    want: mmap.mmap
    near: mmap.mmap


@record
class Bench:
    """A region at one vector of sizes. `changed` tells which buffers a run changes; `pace` is the best ever seen."""

    subject: Subject
    compiler: RegionCompiler
    original: Path
    vector: TestVector
    images: Images
    threads: int
    busy: bool = False
    changed: tuple[bool, ...] = ()
    pace: float = 0.0
    took: float = REFERENCE_SECONDS  # seconds of one run of the original
    around: float = 0.0  # seconds that the reference took, with all that is done around its runs
    work: Work = Work(0, 8)  # that a run has to do

    @property
    def least(self) -> float:
        """Seconds that a run takes at least; what is measured below is an error. Nothing is known of devices."""
        return least_seconds(self.work, self.threads) if self.subject.tuning is None else 0.0

    # -- in the parent ---------------------------------------------------------------------------------

    def time_of(self, library: Path, effort: Runs, best: float | None) -> Timing:
        """Check what a candidate computes and measure it; Failed where it does not end well."""
        limit = REFERENCE_SECONDS if best is None else LEAST_SECONDS + 3 * self.around + 50 * best
        return self._child(lambda: self._candidate(library, effort, best), limit)

    def compete(self, libraries: Sequence[Path], seconds: float) -> tuple[Timing, ...]:
        """Measure several in turns, so that whatever else the machine does meets all of them. Raises TooBusy where that
        gives no figures to believe, whenever it is tried."""
        found = settled(lambda: self._child(lambda: self._turns(libraries, seconds), REFERENCE_SECONDS + seconds),
                        lambda times: not any(t.best < self.least or disturbed(t.best, t.median) for t in times))
        if found is None:
            raise TooBusy(BUSY)
        return found

    def exact(self, original: Path, library: Path, reassociate: bool) -> str:
        """The first difference between results that were compiled to agree bit by bit."""
        return self._child(lambda: self._exact(original, library, reassociate), REFERENCE_SECONDS)

    def version(self, library: Path) -> str:
        """With --dispatch, the version of functions that runs here."""
        versions = self.subject.versions
        if versions is None or not versions.has(self.subject.slice.function):
            return ""
        found = self._child(lambda: int(self._open(library).lib.tw_levels()), REFERENCE_SECONDS)
        return versions.levels[found - 1] if found > 0 else "base"

    def _child(self, work: Callable[[], T], seconds: float) -> T:
        """Drivers of devices reserve more addresses than there is memory."""
        reserves = self.subject.tuning is not None and self.subject.tuning.reserves
        return _child(work, seconds, replace(PROGRAM, memory=0) if reserves else PROGRAM)

    # -- in children -----------------------------------------------------------------------------------

    def _candidate(self, path: Path, effort: Runs, best: float | None) -> Timing:
        original, library = self._open(self.original), self._open(path)
        memory = self._fresh(library)
        library.call(self.subject.harness.number, Op.RUN, self.vector.ins, memory.args, library.ffi.NULL)
        self._verify(original, memory, True, self._view(self.images.want), self._view(self.images.near))
        begun = time.monotonic()
        for _ in range(AGAIN):
            limit = max(WARM, self.took if best is None else SLOWER * best)
            found = self._timing(library, memory, effort, limit)
            undisturbed = not self.pace or library.lib.tw_pace() <= PACE * self.pace
            if found.best >= self.least and (undisturbed or time.monotonic() - begun > effort.patience):
                break
        if found.best < self.least:
            raise TooBusy(BUSY)
        return found

    def _timing(self, library: Library, memory: Arena, effort: Runs, limit: float) -> Timing:
        """Figures of some runs, of more where the clock cannot tell those."""
        end, times = time.monotonic() + effort.patience, list[float]()
        while True:
            times += self._runs(library, memory, effort, limit)
            try:
                return timing(times, library.lib.tw_tick())
            except TooShort:
                if time.monotonic() > end:
                    raise

    def _turns(self, paths: Sequence[Path], seconds: float) -> tuple[Timing, ...]:
        libraries = [self._open(p) for p in paths]
        memory = self._fresh(libraries[0])
        begun = time.monotonic()
        once = [min(self._runs(lib, memory, Runs(1, 1, 0.0), REFERENCE_SECONDS)) for lib in libraries]
        # Data is copied between runs, which no figure counts but the budget does.
        turn_seconds = max(sum(max(t, 1e-3) for t in once), (time.monotonic() - begun) / 2)
        tick = libraries[0].lib.tw_tick()
        rounds = max(3, min(60, int(seconds / max(turn_seconds, 1e-6))))
        found: list[list[float]] = [[] for _ in libraries]
        for turn in range(rounds):
            for k in range(len(libraries)):
                k = (k + turn) % len(libraries)
                effort = Runs(1, 1000, min(1e-3, 3 * once[k])) if once[k] < WARM else Runs(0, 0, 0.0)
                times = self._runs(libraries[k], memory, effort, REFERENCE_SECONDS)
                found[k].append(min(times) if min(times) >= TICKS * tick else mean(times))
        return tuple(timing(times, tick) for times in found)

    def _exact(self, first: Path, second: Path, reassociate: bool) -> str:
        original, result = self._open(first), self._open(second)
        want, got = self._fresh(original), self._fresh(result)
        for library, memory in ((original, want), (result, got)):
            library.call(self.subject.harness.number, Op.RUN, self.vector.ins, memory.args, library.ffi.NULL)
        return self._difference(original, got, reassociate, want, None)

    def reference(self) -> tuple[Timing, tuple[bool, ...], float]:
        """Fill, run the original, keep what it computes; its time, what it changes, and the pace of the core."""
        h, library = self.subject.harness, self._open(self.original)
        memory = arena(library.ffi, self.vector.sizes)
        library.call(h.number, Op.FILL, self.vector.ins, memory.args, library.ffi.new("long *", self.vector.seed))
        before, want, near = (self._view(m) for m in (self.images.before, self.images.want, self.images.near))
        self._copy(library, memory, before)
        begun = time.monotonic()
        first = self._once(library, memory)
        long = time.monotonic() - begun > LONG
        self._copy(library, memory, want)
        layout = library.layout(h, self.vector.ins)
        self._copy(library, before, memory)
        for k, have in enumerate(layout.buffers):
            for numbers in have.leaves:
                library.nudge(memory.starts[k], have, numbers)
        second = self._once(library, memory)
        self._copy(library, memory, near)
        changed = tuple(
            library.ffi.buffer(a, n)[:] != library.ffi.buffer(b, n)[:]
            for a, b, n in zip(before.starts, want.starts, self.vector.sizes, strict=True)
        )
        full = replace(self, changed=changed)
        took = timing([first, second]) if long else full._timing(library, memory, Runs(2, 20, 0.5), REFERENCE_SECONDS)
        return took, changed, 0.0 if self.subject.tuning is not None else float(library.lib.tw_pace())

    def _once(self, library: Library, memory: Arena) -> float:
        """Run once, by the clock that all figures are of."""
        start = float(library.lib.tw_now())
        library.call(self.subject.harness.number, Op.RUN, self.vector.ins, memory.args, library.ffi.NULL)
        return float(library.lib.tw_now()) - start

    def _open(self, path: Path) -> Library:
        library = open_library(path, (self.subject.harness.number,), _MEASURE)
        library.lib.tw_threads(self.threads)
        library.lib.tw_busy(self.busy)
        library.lib.tw_on_device(self.subject.tuning is not None and path != self.original)
        return library

    def _view(self, shared: mmap.mmap) -> Arena:
        """Shared memory as the buffers of a run."""
        ffi = _ffi()
        whole = ffi.from_buffer("char[]", shared)
        starts, at = [], 0
        for size in self.vector.sizes:
            starts.append(whole + at)
            at += -(-size // _ALIGNED) * _ALIGNED
        return Arena(ffi, ffi.NULL, tuple(starts), (), (whole,))

    def _copy(self, library: Library, source: Arena, target: Arena) -> None:
        for a, b, n in zip(source.starts, target.starts, self.vector.sizes, strict=True):
            library.ffi.memmove(b, a, n)

    def _fresh(self, library: Library) -> Arena:
        memory = arena(library.ffi, self.vector.sizes)
        self._copy(library, self._view(self.images.before), memory)
        return memory

    def _runs(self, library: Library, memory: Arena, effort: Runs, limit: float) -> list[float]:
        """Seconds of each run; the first is only there to warm up, unless it is too slow already."""
        ffi, before = library.ffi, self._view(self.images.before)
        count = len(self.vector.sizes)
        image = ffi.new("void *[]", count + 1)
        for k in range(count):
            image[k] = ffi.cast("void *", before.starts[k]) if self.changed[k] else ffi.NULL
        out = ffi.new("double[]", effort.most + 1)
        ins = ffi.new("long[]", [*self.vector.ins, 0])
        sizes = ffi.new("long[]", [*self.vector.sizes, 0])
        args = ffi.cast("void **", memory.args)
        runs = library.lib.tw_measure(
            0, ins, args, image, sizes, count, effort.least + 1, effort.most + 1, effort.seconds, limit, out
        )
        times = list(out[0:runs])
        if min(times, default=0.0) < 0:
            raise Failed("runs on the host at these sizes")
        return times[1:] or times

    def _verify(self, original: Library, got: Arena, loose: bool, want: Arena, near: Arena) -> None:
        outside = got.damaged()
        if outside is not None:
            raise Failed(f"writes outside `{self.subject.harness.memory.buffers[outside].base}`")
        message = self._difference(original, got, loose, want, near)
        if message:
            raise Failed(f"computes something else: {message}")

    def _difference(self, original: Library, got: Arena, loose: bool, want: Arena, near: Arena | None) -> str:
        """Candidates are compiled as users compile them, with fused operations where the compiler sees fit, so their
        last bits differ as those of reordered sums do; `exact` compares the winner's bits."""
        h = self.subject.harness
        layout: MemoryLayout = original.layout(h, self.vector.ins)
        scop = self.subject.model.program.scop
        survey = Survey((), *lookers(scop), loose, 0, 0)
        case = Trial(h, original, layout, survey, self.vector)
        message = compare(case, want, got)
        if message and near is not None:
            message = compare(case, want, got, near)
        return message


def _ffi() -> Any:
    from cffi import FFI  # type: ignore[import-untyped]

    return FFI()


def _child(work: Callable[[], T], seconds: float, limits: Limits = PROGRAM) -> T:
    try:
        return alone(work, seconds, limits)
    except TimedOut:
        raise Failed(f"does not end within {seconds:.3g} s") from None
    except TooShort as error:
        raise TooBusy(str(error)) from None
    except Died:
        raise Failed("crashes") from None
    except OSError as error:
        raise Failed(f"cannot be loaded: {error}") from None


def open_bench(
    subject: Subject, compiler: RegionCompiler, sizes: Sizes, threads: int, busy: bool
) -> tuple[Bench, Timing]:
    """Compile the original, choose the sizes, and run it. Failed where that is not possible."""
    original = compiler.compile("original", original_text(subject))
    vector = _child(lambda: choose(subject, open_library(original, (subject.harness.number,)), sizes), 120.0)
    total = sum(-(-n // _ALIGNED) * _ALIGNED for n in vector.sizes) or _ALIGNED
    images = Images(*(mmap.mmap(-1, total) for _ in range(3)))
    work = updates(subject.model.program.scop, spelled(subject, vector))
    bench = Bench(subject, compiler, original, vector, images, threads, busy, work=work)
    start = time.monotonic()
    took, changed, pace = _child(bench.reference, REFERENCE_SECONDS)
    around = time.monotonic() - start
    return replace(bench, changed=changed, pace=pace, took=took.best, around=around), took
