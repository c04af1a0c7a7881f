"""Does the result compute what the original computes? Both are compiled, run on many sizes, and compared."""
from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codegen.diagnostics import Diagnostic, InputError, Loc, Severity, Unsupported
from codegen.options import GenOptions
from codegen.source.encoding import encode
from codegen.verify.check_build import Build, compiler, flags, start, syntax_error
from codegen.verify.check_emit import runtime_text
from codegen.verify.check_library import open_library
from codegen.verify.check_regions import Case, Checked, model_of, open_regions, original_text, result_text
from codegen.verify.check_sanitize import COUNT, complaints, subset
from codegen.verify.check_show import values_text
from codegen.verify.check_survey import DOUBTFUL, Survey, survey
from codegen.verify.check_trials import Pair, Trials, run_trials
from codegen.worker import Died, TimedOut, run_with_deadline

Progress = Callable[[str], None]


@dataclass(frozen=True)
class CheckReport:
    """`ok` only when every region that was transformed agrees with its original on every size."""

    ok: bool
    lines: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class _Programs:
    """What was built. The sanitized programs may be missing, with a reason."""

    pair: Pair
    original: Path | None
    result: Path | None
    missing: str = ""


def check(path: str, text: str, options: GenOptions, progress: Progress) -> CheckReport:
    """Generate, compile, run, compare. Raises InputError for what the user must mend."""
    if options.target not in ("c", "openmp"):
        raise InputError("bad-target", f"results for {options.target} do not run here", Loc("--target"),
                         "check with --target c or openmp")
    progress("generating")
    checked = open_regions(path, text, options)
    left = {o.index: f"region {o.index}: {o.summary}, nothing to check" for o in checked.outcomes if o.text is None}
    if not checked.cases:
        return CheckReport(True, tuple(left.values()), checked.diagnostics)
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        found = _Run(path, options, checked, Path(folder), progress).verdicts()
    lines = {**left, **{c.outcome.index: line for c, (_, line) in zip(checked.cases, found[0], strict=True)}}
    ok = all(good for good, _ in found[0])
    return CheckReport(ok, tuple(lines[k] for k in sorted(lines)) + found[1], checked.diagnostics)


@dataclass(frozen=True)
class _Run:
    """One check with its folder; each step returns what the next one needs."""

    path: str
    options: GenOptions
    checked: Checked
    folder: Path
    progress: Progress

    def verdicts(self) -> tuple[list[tuple[bool, str]], tuple[str, ...]]:
        """For each case whether it agrees and what to say; then remarks on the whole."""
        cc, extra = compiler(self.path), flags(self.path, self.options.cpp)
        sources = self._sources()
        self.progress("compiling")
        builds = [start(cc, (s, sources[2]), s.with_suffix(".so"), extra, False) for s in sources[:2]]
        sanitized: list[Build] = []
        try:
            problem = self._problem(builds, cc, extra)
            if problem:
                return [(False, f"{c.title}: {problem}") for c in self.checked.cases], ()
            sanitized += [start(cc, (s, sources[2]), s.with_suffix(".exe"), extra, True) for s in sources[:2]]
            return self._compare(builds, sanitized)
        finally:
            for b in (*builds, *sanitized):
                b.stop()

    def _sources(self) -> tuple[Path, Path, Path]:
        texts = {
            "original.c": original_text(self.checked), "result.c": result_text(self.checked, self.options),
            "runtime.c": runtime_text([c.harness for c in self.checked.cases]),
        }
        for name, text in texts.items():
            (self.folder / name).write_bytes(encode(text))
        return self.folder / "original.c", self.folder / "result.c", self.folder / "runtime.c"

    def _problem(self, builds: list[Build], cc: tuple[str, ...], extra: tuple[str, ...]) -> str:
        """Why there is nothing to run; InputError when the user's own file does not compile."""
        wrong, failed = builds[0].error(), builds[1].error()
        if wrong is not None:
            alone = self.folder / "alone.c"
            alone.write_bytes(encode(self.checked.source.text))
            own = syntax_error(cc, alone, extra)
            name = self.checked.source.name
            if own is not None:
                raise InputError("does-not-compile", f"the original does not compile: {own}", Loc(name))
            return f"cannot be run by itself: {wrong}"
        return "" if failed is None else f"the result does not compile: {failed}"

    def _compare(
        self, builds: list[Build], sanitized: list[Build]
    ) -> tuple[list[tuple[bool, str]], tuple[str, ...]]:
        pair = Pair(builds[0].result, builds[1].result, tuple(c.harness.number for c in self.checked.cases))
        surveys = [self._survey(c, pair) for c in self.checked.cases]
        first, second = (b.error() for b in sanitized)
        missing = first or second or ""
        programs = _Programs(pair, *(None if missing else b.result for b in sanitized), missing)
        verdicts = [self._case(k, c, s, programs) for k, (c, s) in enumerate(zip(self.checked.cases, surveys, strict=True))]
        remarks = (f"no sanitizers were run: {missing}",) if missing else ()
        return verdicts, remarks

    def _survey(self, case: Case, pair: Pair) -> Survey | str:
        """The vectors of a case, or why there are none."""
        self.progress(f"{case.title}: choosing sizes")

        def work() -> Survey:
            library = open_library(pair.original, pair.numbers)
            return survey(case.harness, model_of(case, self.options), case.outcome.plan, library)

        try:
            return run_with_deadline(work, max(self.options.timeout, 0.0))
        except (Unsupported, OSError) as error:
            return str(error)
        except TimedOut:
            return f"finding its sizes took longer than {self.options.timeout:g} s"
        except Died:
            return "the original crashes while it tells its sizes"

    def _case(self, place: int, case: Case, s: Survey | str, programs: _Programs) -> tuple[bool, str]:
        if isinstance(s, str):
            return False, f"{case.title}: cannot be run by itself: {s}"
        self.progress(f"{case.title}: running {len(s.vectors)} size vectors")
        h, ints = case.harness, case.harness.memory.ints
        bad = ()
        chosen = subset(s.vectors)
        doubtful = tuple(v for v in s.vectors if v.doubtful)
        if programs.original is not None:
            bad = complaints(programs.original, h, place, (*chosen, *doubtful), COUNT + DOUBTFUL)
        wrong = {c.vector for c in bad}
        safe = [v for v in s.vectors if v not in wrong and (not v.doubtful or programs.original is not None)]
        trials = run_trials(h, programs.pair, s, safe, self.folder)
        if trials.failure:
            assert trials.vector is not None
            return False, f"{case.title}: {trials.failure}, at {values_text(ints, trials.vector.ints)}"
        clean = [v for v in (*chosen, *doubtful) if v not in wrong]
        if programs.result is not None:
            found = complaints(programs.result, h, place, clean, 1)
            if found:
                at = values_text(ints, found[0].vector.ints)
                return False, f"{case.title}: the result under sanitizers: {found[0].message}, at {at}"
        return self._good(case, trials, len(clean) if programs.result else 0, bad)

    def _good(self, case: Case, trials: Trials, sanitized: int, bad: tuple[object, ...]) -> tuple[bool, str]:
        return True, f"{case.title}: {trials.agreed} size vectors agree, {sanitized} under sanitizers; {case.outcome.summary}"


__all__ = ["CheckReport", "Severity", "check"]
