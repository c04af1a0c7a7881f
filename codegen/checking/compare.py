"""The main function of `check`: compiles original and result, runs both on many sizes, and compares the memory they
leave."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path

from codegen.checking.build import HEADER, Build, Compiler, find_compiler
from codegen.checking.harness.emit import ranks_text, runtime_text, watch_text
from codegen.checking.harness.shared_object import open_library
from codegen.checking.judge import Tried, Verdict, judge, try_case
from codegen.checking.ranks.run import on_ranks
from codegen.checking.regions import STEM, Checked, extra_sources, file_texts, open_regions
from codegen.checking.sanitize import SanitizedProgram
from codegen.checking.trials import ComparedObjects, batch_limits
from codegen.checking.versions import versions_text
from codegen.children.worker import run_limited
from codegen.diagnostics import Diagnostic, InputError, Loc
from codegen.options import GenOptions
from codegen.record import record
from codegen.source.encoding import encode
from codegen.targets.base import Emulator
from codegen.targets.registry import target_named
from codegen.versions import Versions

Progress = Callable[[str], None]


@record
class CheckReport:
    """`ok` only when every region that was transformed agrees with its original on every size."""

    ok: bool
    lines: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


@record
class _Bench:
    """The compiler at work for one check; everything it started ends with the check."""

    compiler: Compiler
    emulator: Emulator
    builds: list[Build] = field(default_factory=list)

    def start(self, kind: str, sources: tuple[str, ...], result: str, links: tuple[str, ...] = ()) -> Build:
        self.builds.append(self.compiler.start(kind, sources, result, links))
        return self.builds[-1]

    def companion(self, words: tuple[str, ...], source: str) -> Build:
        self.builds.append(self.compiler.companion(words, source))
        return self.builds[-1]

    def own(self, source: str, flags: tuple[str, ...] = ()) -> Build:
        self.builds.append(self.compiler.own(source, flags))
        return self.builds[-1]

    def beside(self, source: str) -> Build:
        """The object of a file that stands beside the result; watched, where the compiler can do that."""
        for flags in (self.emulator.watched, ()):
            compiler = replace(self.compiler, flags=(*self.compiler.flags, *flags))
            self.builds.append(compiler.start("object", (source,), f"{Path(source).stem}.o"))
            if not flags or self.builds[-1].error() is None:
                break
        return self.builds[-1]

    def write(self, name: str, text: str) -> None:
        (self.compiler.folder / name).write_bytes(encode(text))


@contextmanager
def _bench(path: str, options: GenOptions) -> Iterator[_Bench]:
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        compiler = find_compiler(path, options.cpp, Path(folder))
        emulator = target_named(options.target).emulator(options) or Emulator()
        words = emulator.compiler or compiler.words
        bench = _Bench(replace(compiler, words=words, flags=(*compiler.flags, *emulator.flags)), emulator)
        try:
            yield bench
        finally:
            for b in bench.builds:
                b.stop()


def check(path: str, text: str, options: GenOptions, progress: Progress) -> CheckReport:
    """Generate, compile, run, compare. Raises InputError for what the user must mend."""
    with _bench(path, options) as bench:
        bench.write(*HEADER)
        bench.write("runtime.c", runtime_text())
        bench.write("watch.c", watch_text())
        runtime = bench.own("runtime.c")
        bench.own("watch.c")
        progress("generating")
        checked = open_regions(path, text, options)
        lines = {o.index: f"region {o.index}: {o.summary}, nothing to check" for o in checked.outcomes}
        verdicts, remarks = _verdicts(bench, runtime, checked, options, progress) if checked.cases else ([], ())
    said: dict[int, str] = {}  # a region may have several parts
    for case, verdict in zip(checked.cases, verdicts, strict=True):
        lines[case.outcome.index] = "\n".join(filter(None, (said.get(case.outcome.index), verdict.line)))
        said[case.outcome.index] = lines[case.outcome.index]
    ok = all(v.ok for v in verdicts)
    return CheckReport(ok, (*(lines[k] for k in sorted(lines)), *remarks), checked.diagnostics)


def _verdicts(
    bench: _Bench, runtime: Build, checked: Checked, options: GenOptions, progress: Progress
) -> tuple[list[Verdict], tuple[str, ...]]:
    """For each case whether it agrees; then remarks on the whole."""
    progress("compiling")
    for name, text in file_texts(checked, options).items():
        bench.write(name, text)
    problem = _problem(bench, runtime, checked, options)
    if problem:
        return [Verdict(False, f"{c.title}: {problem}") for c in checked.cases], ()
    elsewhere = bench.emulator.links or bench.emulator.sources  # sanitizers know nothing of other machines
    names = () if elsewhere else ("original", "result")
    ending = checked.source.pre.language.endings[0]
    sanitized = [bench.start("sanitized", (f"{n}{ending}", "runtime.o"), n) for n in names]
    objects = [bench.start("watched", (f"{n}{ending}",), f"{n}.o") for n in names]
    folder = bench.compiler.folder
    limits = batch_limits(bench.emulator.reserves)
    versions = checked.versions
    pair = ComparedObjects(folder / "original.so", folder / "result.so",
                           tuple(c.harness.number for c in checked.cases), limits, versions.levels if versions else ())
    tried = []
    for case in checked.cases:
        progress(f"{case.title}: running")
        tried.append(_with_ranks(bench, try_case(case, pair, options, folder), pair, checked, progress))
    missing = next((e for e in (b.error() for b in sanitized) if e is not None), None)
    watched, unwatched = _watched(bench, objects, pair)
    verdicts = []
    for k, t in enumerate(tried):
        progress(f"{t.case.title}: sanitizers")
        programs = [None if missing else SanitizedProgram(b.result, k) for b in sanitized] or [None, None]
        verdicts.append(judge(t, pair, programs[0], programs[1], watched, folder))
    remarks = (("no sanitizers were run", missing), ("stores were not watched", unwatched))
    said = (*(f"{what}: {why}" for what, why in remarks if why), _versions(pair, versions) if versions else "")
    return verdicts, tuple(filter(None, said))


def _versions(pair: ComparedObjects, versions: Versions) -> str:
    """Which versions were run."""
    found = run_limited(lambda: int(open_library(pair.result, pair.numbers).lib.tw_levels()), pair.limits)
    return versions_text(versions, found)


def _with_ranks(bench: _Bench, t: Tried, pair: ComparedObjects, checked: Checked, progress: Progress) -> Tried:
    """A case after its runs on several ranks, if its target has some."""
    if not bench.emulator.ranks or t.trials.failure or isinstance(t.survey, str) or t.case.outcome.part is None:
        return t
    program = bench.compiler.folder / "ranks"
    if not program.exists():
        bench.write("ranks.c", ranks_text())
        wrong = bench.start("program", ("ranks.c",), "ranks").error()
        if wrong is not None:
            raise InputError("no-compiler", f"the compiler does not work: {wrong}", Loc(checked.source.name))
    progress(f"{t.case.title}: ranks")
    count, failure = on_ranks(t.case.harness, pair, t.survey, bench.emulator, program, bench.compiler.folder)
    if failure is not None:
        return replace(t, trials=replace(t.trials, failure=failure.message, vector=failure.vector))
    return replace(t, ranks=(count, bench.emulator.ranks))


def _watched(bench: _Bench, objects: Sequence[Build], pair: ComparedObjects) -> tuple[ComparedObjects | None, str]:
    """Both programs with their stores watched, or why there are none. A compiler for which that fails is no failure."""
    if not objects:
        return None, ""
    wrong = [b.error() for b in (*bench.builds, *objects) if b in objects or b.result.name == "watch.o"]
    names = [f"{b.result.stem}.watched.so" for b in objects]
    links = [
        bench.start("linked", (b.result.name, "watch.o", "runtime.o"), name)
        for b, name in zip(objects, names, strict=True)
    ] if not any(wrong) else []
    first = next((e for e in (*wrong, *(b.error() for b in links)) if e is not None), None)
    folder = bench.compiler.folder
    return (None, first) if first else (replace(pair, original=folder / names[0], result=folder / names[1]), "")


def _problem(bench: _Bench, runtime: Build, checked: Checked, options: GenOptions) -> str:
    """Build the shared objects, or say why that fails; InputError when the user's own file does not compile."""
    wrong = runtime.error()
    if wrong is not None:
        raise InputError("no-compiler", f"the compiler does not work: {wrong}", Loc(checked.source.name))
    ending = checked.source.pre.language.endings[0]
    original = bench.start("shared", (f"original{ending}", "runtime.o"), "original.so")
    cores = [bench.own(path, bench.emulator.flags) for path in bench.emulator.sources]
    cores += [bench.companion(words, f"{STEM}{end}") for end, words in bench.emulator.companions]
    cores += [bench.beside(name) for name in extra_sources(options)]
    failed = next((e for e in (b.error() for b in cores) if e is not None), None)
    objects = (*(b.result.name for b in cores), "runtime.o")
    result = bench.start("shared", (f"result{ending}", *objects), "result.so", bench.emulator.links)
    wrong, failed = original.error(), failed or result.error()
    if wrong is not None:
        own = bench.start("syntax", (f"source{ending}",), "source").error()
        if own is not None:
            raise InputError("does-not-compile", f"the original does not compile: {own}", Loc(checked.source.name))
        return f"cannot be run by itself: {wrong}"
    failed = failed or bench.start("syntax", (f"generated{ending}",), "generated").error()
    return "" if failed is None else f"the result does not compile: {failed}"
