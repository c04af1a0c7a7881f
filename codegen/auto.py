"""`--auto`: finds loop nests without pragmas, tries to transform each, and keeps those that the cost model expects to
gain.

Outermost nests first. Where one is refused, the nests inside it are tried; where one is understood, what the cost model
says of it holds for all of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from codegen.children.side_by_side import at_once, side_by_side
from codegen.diagnostics import Diagnostic, Loc, Severity, TilewrightError
from codegen.machine import Machine
from codegen.options import GenOptions
from codegen.record import record
from codegen.source.directives import with_directives_inside
from codegen.source.layout.line_directives import line_directives
from codegen.source.marks import region_of
from codegen.source.nests import SourceNest, constant_parameters, find_nests
from codegen.source.preprocess import display_name
from codegen.source.regions import Region, find_regions
from codegen.source_file import Opened, Performed, check_plan_regions, decided, inactive, open_regions
from codegen.supervise import answered, run_region

if TYPE_CHECKING:
    from codegen.region import RegionOutcome

TRANSFORMED, LEFT, REFUSED = "transformed", "left", "refused"


@record
class Row:
    """What became of a nest. `id` says why it is not transformed, as messages do; `loc` is what stands in the way.

    `work` are the cycles that the model counts for it, with parameters of a fixed size; None where it has no model. The
    result is `factor` times as fast on so many cores by the model, where that can say it; `share` is the nest's part of
    the run time.
    """

    file: str
    line: int
    last_line: int
    function: str
    depth: int
    verdict: str
    id: str = ""
    reason: str = ""
    hint: str = ""
    loc: Loc = Loc("")
    work: float | None = None
    factor: float | None = None
    cores: int = 1
    share: float | None = None


@record
class _Candidate:
    """A region to try, and the nest it is; none where the user has marked it."""

    region: Region
    nest: SourceNest | None = None
    inner: tuple[_Candidate, ...] = ()


@record
class _Try:
    """What became of a candidate: nothing, where it is switched off by the preprocessor, or an error."""

    candidate: _Candidate
    source: Opened
    outcome: RegionOutcome | None = None
    error: Diagnostic | None = None


def explore(path: str, text: str, options: GenOptions, machine: Machine) -> Performed:
    """Try the marked regions and all nests outside of them; keep those that are marked, and those that gain."""
    name = display_name(path)
    clock: list[tuple[str, float]] = []
    rows: list[Row] = []
    kept: list[_Try] = []
    text = with_directives_inside(text)
    todo = _candidates(text, name)
    while todo:
        now, later, left = _together(name, todo)
        rows += left
        for t in _tried(path, text, options, machine, now, clock):
            row = _row(name, t)
            rows.append(row)
            if t.candidate.nest is None or row.verdict == TRANSFORMED:
                kept.append(t)
            elif row.verdict == REFUSED:
                later += t.candidate.inner
        todo = later
    rows.sort(key=lambda r: (r.line, -r.depth))
    return _performed(name, text, options, kept, tuple(rows), clock)


def _candidates(text: str, name: str) -> list[_Candidate]:
    """Marked regions, and the outermost nests outside of them; numbered in the order of the text, inner ones too. In
    files with `#line`, which other programs have written, only what is marked counts."""
    marked = find_regions(text, name)
    nests = () if line_directives(text, name) else _outside(find_nests(text), marked)
    begins = sorted([*(r.begin for r in marked), *(n.begin for n in _all(nests))])
    number = {begin: k + 1 for k, begin in enumerate(begins)}

    def candidate(n: SourceNest) -> _Candidate:
        return _Candidate(region_of(text, n, number[n.begin]), n, tuple(map(candidate, n.inner)))

    own = [_Candidate(replace(r, index=number[r.begin])) for r in marked]
    return sorted([*own, *map(candidate, nests)], key=lambda c: c.region.index)


def _outside(nests: Iterable[SourceNest], marked: Sequence[Region]) -> tuple[SourceNest, ...]:
    """The largest nests that have nothing in common with marked regions."""
    out: list[SourceNest] = []
    for n in nests:
        if any(r.begin <= n.begin and n.end <= r.end for r in marked):
            continue
        apart = all(n.end <= r.begin or r.end <= n.begin for r in marked)
        out += [n] if apart else _outside(n.inner, marked)
    return tuple(out)


def _all(nests: Iterable[SourceNest]) -> Iterable[SourceNest]:
    for n in nests:
        yield n
        yield from _all(n.inner)


def _together(name: str, todo: Sequence[_Candidate]) -> tuple[list[_Candidate], list[_Candidate], list[Row]]:
    """Which candidates are tried now and which later, and what has become of those that need no try. Regions are told
    apart by the lines they begin and end on."""
    now: list[_Candidate] = []
    later: list[_Candidate] = []
    left: list[Row] = []
    for c in todo:
        if c.nest is not None and c.nest.shared:
            why = "it has OpenMP or OpenACC directives of its own, which stay"
            left.append(_nest_row(name, c.nest, LEFT, "has-directives", why))
        elif c.nest is not None and c.nest.split:
            why = "a conditional of the preprocessor begins inside it and ends outside, or the other way round"
            left.append(_nest_row(name, c.nest, LEFT, "conditional-nest", why))
            later += c.inner
        elif any(_share_lines(c.region, other.region) for other in now):
            later.append(c)
        else:
            now.append(c)
    return now, later, left


def _share_lines(a: Region, b: Region) -> bool:
    return a.first_line == b.first_line or a.last_line == b.last_line


def _tried(
    path: str, text: str, options: GenOptions, machine: Machine, now: Sequence[_Candidate],
    clock: list[tuple[str, float]],
) -> Iterable[_Try]:  # fmt: skip
    """The candidates, each through all stages."""
    if not now:
        return
    source = open_regions(path, text, options, tuple(c.region for c in now))
    clock.append(("reading", time.perf_counter()))
    slices = {s.region.index: s for s in source.slices}
    active = [(c, slices[c.region.index]) for c in now if c.region.index in slices]
    same = constant_parameters(text)
    works = [partial(run_region, source, s, _careful(options, c, same), machine) for c, s in active]
    with closing(side_by_side(works, at_once())) as made:
        for c in now:
            if c.region.index not in slices:
                yield _Try(c, source)
                continue
            try:
                yield _Try(c, source, answered(slices[c.region.index], next(made)))
            except Exception as error:
                if c.nest is None:
                    raise
                yield _Try(c, source, error=_failed(error, Loc(source.name, c.region.first_line)))
            clock.append((f"region {c.region.index}", time.perf_counter()))


def _careful(options: GenOptions, c: _Candidate, same: Mapping[str, Mapping[str, int]]) -> GenOptions:
    """Who marks a region promises that its arrays are apart; of other nests nobody has said so. They are made for the
    numbers with which their functions are always called."""
    if c.nest is None:
        return options
    constants = tuple(sorted(same.get(c.nest.function, {}).items()))
    return replace(options, check_alias=not options.assume_no_alias, constants=constants)


def _failed(error: Exception, loc: Loc) -> Diagnostic:
    """A nest that nobody asked for stops no build, whatever goes wrong in its analysis."""
    if isinstance(error, TilewrightError):
        return error.diagnostic(Severity.NOTE)
    return Diagnostic(Severity.NOTE, "internal-error", f"its analysis failed: {error}", loc, "report it")


def _row(name: str, t: _Try) -> Row:
    """The verdict on what was tried."""
    nest = t.candidate.nest or _as_nest(t)
    if t.error is not None:
        return _nest_row(name, nest, REFUSED, t.error.id, t.error.message, t.error)
    if t.outcome is None:
        return _nest_row(name, nest, LEFT, "inactive-region", "it is switched off by the preprocessor")
    gain, o = t.outcome.gain, t.outcome
    if o.text is None and gain is None:
        obstacles = [n for d in o.diagnostics if d.id == "region-refused" for n in d.notes]
        if not obstacles:
            return _nest_row(name, nest, LEFT, "no-gain", "there is nothing in it")
        why, rest = obstacles[0], len({n.loc for n in obstacles}) - 1
        return _nest_row(name, nest, REFUSED, why.id, why.message + (f" (and {rest} more)" if rest else ""), why)
    if gain is not None and gain.against and t.candidate.nest is not None:
        row = _nest_row(name, nest, LEFT, "no-gain", gain.against)
    else:
        row = Row(name, nest.line, nest.last_line, nest.function, nest.depth, TRANSFORMED, reason=o.summary)
    return row if gain is None else replace(row, work=gain.work, factor=gain.factor, cores=gain.cores)


def _as_nest(t: _Try) -> SourceNest:
    """A marked region as one nest."""
    r = t.candidate.region
    inside = find_nests(f"{{{t.source.text[r.body_begin : r.body_end]}}}")
    function = next((s.function for s in t.source.slices if s.region.index == r.index), "")
    return SourceNest(r.begin, r.end, r.first_line, r.last_line, max((n.depth for n in inside), default=0), function)


def _nest_row(name: str, n: SourceNest, verdict: str, id: str, reason: str, why: Diagnostic | None = None) -> Row:
    loc, hint = (why.loc, why.hint) if why is not None else (Loc(name, n.line), "")
    return Row(name, n.line, n.last_line, n.function, n.depth, verdict, id, reason, hint, loc)


def _performed(
    name: str, text: str, options: GenOptions, kept: list[_Try], rows: tuple[Row, ...], clock: list[tuple[str, float]]
) -> Performed:
    """The tries that are kept, as if they had been the only regions of the file."""
    kept.sort(key=lambda t: t.candidate.region.index)
    first = kept[0].source if kept else Opened(name, text, (), (), ())
    regions = tuple(t.candidate.region for t in kept)
    numbers = [(t, t.candidate.region.index) for t in kept]
    slices = tuple(s for t, k in numbers for s in t.source.slices if s.region.index == k)
    baked = {k: t.source.baked[k] for t, k in numbers if k in t.source.baked}
    source = replace(first, regions=regions, slices=slices, baked=baked)
    check_plan_regions(source, options)
    outcomes = tuple(t.outcome for t in kept if t.outcome is not None)
    messages: list[Diagnostic] = []
    for t in kept:
        if t.outcome is None:
            messages.append(inactive(t.candidate.region, name))
        else:
            messages += (*t.outcome.diagnostics, *decided(source, t.candidate.region, t.outcome))
    marked = {t.candidate.region.first_line for t in kept if t.candidate.nest is None}
    messages += [_remark(r) for r in rows if r.line not in marked]
    return Performed(source, outcomes, tuple(messages), rows, tuple(clock))


def _remark(r: Row) -> Diagnostic:
    """A row as a message, for -Rpass and -Rpass-missed."""
    loc, nest = Loc(r.file, r.line), f"nest of {r.function or 'a function'}, depth {r.depth}"
    if r.verdict == TRANSFORMED:
        return Diagnostic(Severity.REMARK, "auto", f"{nest}: {r.reason}", loc, kind="passed")
    if r.verdict == LEFT:
        return Diagnostic(Severity.REMARK, "no-gain", f"{nest}, is left as it is: {r.reason}", loc, kind="missed")
    note = Diagnostic(Severity.NOTE, r.id, r.reason, r.loc, r.hint)
    return Diagnostic(Severity.REMARK, "nest-refused", f"{nest}, is left as it is", loc, kind="missed", notes=(note,))
