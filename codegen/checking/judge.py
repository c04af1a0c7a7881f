"""The verdict on one region: chooses its test vectors, runs them, then compares stores and runs the sanitizers; returns
whether original and result agree, and one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from codegen.checking.harness.shared_object import open_library
from codegen.checking.overlap import overlap_text, overlapping
from codegen.checking.regions import CheckedRegion, model_of
from codegen.checking.sanitize import Complaint, SanitizedProgram, complaints, subset
from codegen.checking.show import values_text
from codegen.checking.stores import introduced_store, watched
from codegen.checking.test_sizes.survey import Survey, TestVector, survey
from codegen.checking.trials import ComparedObjects, Trials, run_trials
from codegen.children.worker import Died, run_limited
from codegen.diagnostics import TilewrightError
from codegen.limits import LimitPassed, analysis
from codegen.options import GenOptions
from codegen.record import record


@record
class Verdict:
    """Whether a region agrees, and what to say about it."""

    ok: bool
    line: str


@record
class Tried:
    """A region after its runs without sanitizers. `survey` is a sentence when there was nothing to run. So many of the
    runs that agree had arrays that `overlap`."""

    case: CheckedRegion
    survey: Survey | str
    trials: Trials
    overlap: int = 0
    ranks: tuple[int, tuple[int, ...]] = (0, ())  # vectors that agree on several ranks, and the numbers of those


def try_case(case: CheckedRegion, pair: ComparedObjects, options: GenOptions, folder: Path) -> Tried:
    """Choose vectors and run those for which the source is known to behave."""
    found = _survey(case, pair, options)
    if isinstance(found, str):
        return Tried(case, found, Trials(0))
    vectors = [v for v in found.vectors if not v.doubtful]
    trials = run_trials(case.harness, pair, found, vectors, folder)
    if trials.failure:
        return Tried(case, found, trials)
    more = run_trials(case.harness, pair, found, found.overlapping, folder)
    return Tried(case, found, replace(more, agreed=0).after(trials), more.agreed)


def _survey(case: CheckedRegion, pair: ComparedObjects, options: GenOptions) -> Survey | str:
    """The vectors of a case, or why there are none."""

    def work() -> Survey:
        library = open_library(pair.original, pair.numbers)
        model = model_of(case, options)
        found = survey(case.harness, model, case.outcome.plan, library)
        more = overlapping(case.harness, model.program.scop, options.assume_no_alias, found.vectors)
        return replace(found, overlapping=more)

    try:
        return run_limited(work, analysis(options.timeout))
    except TilewrightError as error:
        return error.message
    except OSError as error:
        return str(error)
    except LimitPassed as error:
        return f"finding its sizes {error}"
    except Died:
        return "the original crashes while it tells its sizes"


def judge(
    t: Tried,
    pair: ComparedObjects,
    original: SanitizedProgram | None,
    result: SanitizedProgram | None,
    stores: ComparedObjects | None,
    folder: Path,
) -> Verdict:
    """The sanitizers' turn, and the verdict. Without sanitized programs, doubtful vectors are left out; `stores` are
    the programs whose stores are watched."""
    s = t.survey
    if isinstance(s, str):
        return Verdict(False, f"{t.case.title}: cannot be run by itself: {s}")
    t = _excused(t, s, pair, original, folder)
    more_stored = None
    if stores is not None and not t.trials.failure:
        more_stored = introduced_store(t.case.harness, stores, watched(s.vectors))
    if more_stored is not None:
        where = values_text(t.case.harness.memory.ints, more_stored.vector.ints)
        return Verdict(False, f"{t.case.title}: {more_stored.message}, at {where}")
    if t.trials.failure or original is None or result is None:
        return _sentence(t, s, 0, ())
    doubtful = tuple(v for v in s.vectors if v.doubtful)
    chosen = (*subset(s.vectors), *doubtful)
    clean, bad = _well_defined(original, chosen)
    more = run_trials(t.case.harness, pair, s, [v for v in doubtful if v in clean], folder)
    t = replace(t, trials=more.after(t.trials))
    found = complaints(result, clean, 1)
    if found and not t.trials.failure:
        where = values_text(t.case.harness.memory.ints, found[0].vector.ints)
        return Verdict(False, f"{t.case.title}: the result under sanitizers: {found[0].message}, at {where}")
    return _sentence(t, s, len(clean), bad)


def _well_defined(
    original: SanitizedProgram, vectors: Sequence[TestVector]
) -> tuple[list[TestVector], tuple[Complaint, ...]]:
    """The vectors that the source gets through, and its complaints about the others.

    Where it divides by one of its integers, data without zeros take the vector's place.
    """
    first = complaints(original, vectors, len(vectors))
    again = [replace(c.vector, seed=1) for c in first if c.division]
    second = complaints(original, again, len(again))
    bad = tuple(c for c in (*first, *second) if c not in first or not c.division)
    wrong = {c.vector for c in (*first, *second)}
    return [v for v in (*vectors, *again) if v not in wrong], bad


def _excused(t: Tried, s: Survey, pair: ComparedObjects, original: SanitizedProgram | None, folder: Path) -> Tried:
    """A difference at sizes where the source itself does something undefined is none; go on past it."""
    while t.trials.failure and t.trials.vector is not None and original is not None:
        found = complaints(original, [t.trials.vector], 1)
        if not found or found[0].overflow:
            break
        rest = run_trials(t.case.harness, pair, s, t.trials.rest, folder)
        t = replace(t, trials=rest.after(replace(t.trials, skipped=t.trials.skipped + 1)))
    return t


def _sentence(t: Tried, s: Survey, sanitized: int, bad: tuple[Complaint, ...]) -> Verdict:
    r, ints = t.trials, t.case.harness.memory.ints
    if r.failure:
        assert r.vector is not None
        where = values_text(ints, r.vector.ints) + overlap_text(t.case.harness, r.vector)
        return Verdict(False, f"{t.case.title}: {r.failure}, at {where}")
    if r.agreed == 0:
        way = "are they fixed, and large? with `#ifndef N` around `#define N 4000`, -DN=100 makes them small"
        return Verdict(False, f"{t.case.title}: no sizes were found at which the source can be run; {way}")
    if s.statements and not s.reached:
        why = "at the sizes at which the source stays inside its arrays, none of its statements runs"
        return Verdict(False, f"{t.case.title}: nothing was compared: {why}")
    line = f"{t.case.title}: {_count(r.agreed, 'size vector')} agree{'s' if r.agreed == 1 else ''}"
    line += f", {t.overlap} more with arrays that overlap" if t.overlap else ""
    line += f", {sanitized} under sanitizers" if sanitized else ""
    line += f", {t.ranks[0]} on {', '.join(map(str, t.ranks[1]))} ranks" if t.ranks[0] else ""
    if s.statements:
        line += f", {s.reached} of {_count(s.statements, 'statement')} run"
    line += f"; {t.case.outcome.summary}"
    known = [c for c in bad if not c.vector.doubtful]
    if known:
        where = values_text(ints, known[0].vector.ints)
        line += f"; the source itself fails {_count(len(known), 'sanitizer run')}: {known[0].message}, at {where}"
    if r.noisy:
        line += f"; at {_count(r.noisy, 'vector')} the last bits of the data decide, in the source too"
    if r.skipped:
        line += f"; the source itself does not get through {_count(r.skipped, 'vector')}"
    return Verdict(True, line)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"
