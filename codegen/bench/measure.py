"""`bench`: times every region of a file before and after the transformation, in turns on this machine; yields a
`MeasuredRegion` for each, with the reason where one was left or could not be measured."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from codegen.bench.model import MeasuredRegion, Race, threads_text
from codegen.diagnostics import Diagnostic, TilewrightError
from codegen.machine.detect import detect
from codegen.options import GenOptions
from codegen.region import RegionOutcome
from codegen.report.counting import region_operations
from codegen.report.speed import Speed
from codegen.scop.model import Scop
from codegen.targets.base import Extra
from codegen.tune.build import FLAGS, Failed, RegionCompiler, open_region_compiler, result_text
from codegen.tune.plans.bench import Bench, TooBusy, open_bench
from codegen.tune.plans.sizes import BYTES, Sizes, check_known, spelled
from codegen.tune.region import OpenedFile, Subject, open_file
from codegen.tune.timing import Runs

SECONDS = 1.0  # for each race
Say = Callable[[str], None]


def measure(
    opened: OpenedFile, threads: Sequence[int], sizes: Mapping[str, int], flags: str, say: Say
) -> Iterator[MeasuredRegion]:
    """Each region in turn, or its parts where others stay; those that are left as they are, too, with the reason."""
    subjects = (*opened.subjects, *opened.parts)
    for outcome in opened.outcomes:
        own = [s for s in subjects if s.index == outcome.index]
        if not own:
            yield MeasuredRegion(outcome.index, outcome.line, f"region {outcome.index}", note=_why(outcome))
        for subject in own:
            blank = MeasuredRegion(subject.index, outcome.line, subject.title)
            with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
                try:
                    compiler = open_region_compiler(subject, Path(folder), flags)
                    yield _region(subject, blank, compiler, threads, sizes, say)
                except (Failed, TilewrightError) as error:
                    why = error.message if isinstance(error, TilewrightError) else str(error)
                    yield replace(blank, note=f"could not be measured: {why}", failed=True)


def speeds(path: str, text: str, options: GenOptions, sizes: Mapping[str, int], say: Say) -> dict[int, Speed]:
    """For reports: regions by their numbers, on one thread; those that are left as they are have none."""
    opened = open_file(path, text, options)
    check_known(sizes, (*opened.subjects, *opened.parts), path)
    whole = {s.index for s in opened.subjects}
    found = (m for m in measure(opened, (1,), sizes, FLAGS, say) if m.index in whole)
    return {m.index: _speed(m) for m in found}


def _speed(m: MeasuredRegion) -> Speed:
    if not m.races:
        return Speed({}, note=m.note)
    return Speed(m.sizes, m.races[0].original.best, m.races[0].result.best, m.by_statement, uncounted=m.uncounted)


def _why(outcome: RegionOutcome) -> str:
    if outcome.text is not None:
        return "is taken in parts, which are not measured one by one"
    return outcome.diagnostics[0].message.partition(": ")[2] if outcome.diagnostics else outcome.summary


def _region(
    subject: Subject,
    blank: MeasuredRegion,
    compiler: RegionCompiler,
    threads: Sequence[int],
    sizes: Mapping[str, int],
    say: Say,
) -> MeasuredRegion:
    say(f"{subject.title}: compiling")
    mine = {i.text for i in subject.harness.memory.ints}
    cache = max((c.bytes for c in detect().machine.caches), default=0)
    given = Sizes({k: v for k, v in sizes.items() if k in mine}, bytes=max(BYTES, 2 * cache))
    bench, _ = open_bench(subject, compiler, given, threads[0], False)
    result = compiler.compile("result", result_text(subject, subject.outcome, Extra()))
    bench.time_of(result, Runs(1, 1, 0.0), None)  # compares what it computes
    races, lost = list[Race](), list[str]()
    for n in threads:
        say(f"{subject.title}: measuring, {n} thread{'s' if n > 1 else ''}")
        try:
            original, made = replace(bench, threads=n).compete([bench.original, result], SECONDS)
            races.append(Race(n, original, made))
        except TooBusy as error:
            lost.append(f"{threads_text(n)}: {error}")
    at = spelled(subject, bench.vector)
    scop = subject.model.program.scop
    counted = region_operations(scop, at)
    return replace(
        blank,
        sizes=at,
        version=bench.version(result),
        races=tuple(races),
        bytes=_moved(bench),
        element_bytes=_element_bytes(scop),
        work=bench.work,
        note="; ".join(lost),
        failed=not races,
        by_statement=counted,
        uncounted=tuple(s.name for s in scop.statements if s.name not in counted),
        advice=next((_advice(d) for d in subject.outcome.diagnostics if d.kind == "missed" and d.hint), ""),
    )


def _element_bytes(scop: Scop) -> int:
    """Of the elements that are computed; of integers, of the narrowest that are read: sums of products of bytes take as
    long as those of bytes would."""
    written = [scop.arrays[a.array].elem for s in scop.statements for a in s.writes]
    if any(not t.is_int for t in written):
        return max(t.bytes for t in written if not t.is_int)
    return min((scop.arrays[a.array].elem.bytes for _, a in scop.accesses()), default=8)


def _advice(d: Diagnostic) -> str:
    """A hint that names an option stands for itself; others need what they are about."""
    return d.hint if d.hint.startswith("--") else f"{d.message}; {d.hint}"


def _moved(bench: Bench) -> int:
    return sum(n * (2 if changed else 1) for n, changed in zip(bench.vector.sizes, bench.changed, strict=True))
