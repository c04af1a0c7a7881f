"""The driver for one source file: a C file in, the same file with its regions transformed out."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from codegen.children.side_by_side import at_once, side_by_side
from codegen.diagnostics import Diagnostic, Loc, TilewrightError
from codegen.isa.known import use as use_isa
from codegen.machine import Machine, load_for
from codegen.options import GenOptions, contracts, effective_options, shown_name
from codegen.record import record
from codegen.source.macros.baked import region_text
from codegen.source.misspelt import misspelt_pragmas, unknown_names
from codegen.source.regions import Region, written
from codegen.source.splice import splice
from codegen.source_file import Opened, Performed, check_plan_regions, decided, inactive, no_region, open_source
from codegen.supervise import answered, run_region
from codegen.target.finish.lines import line_name
from codegen.target.support import SupportOptions
from codegen.targets.base import Extra
from codegen.targets.registry import target_named

if TYPE_CHECKING:
    from codegen.auto import Row
    from codegen.region import RegionOutcome
    from codegen.source.region_slice import RegionSlice
    from codegen.target.emit import AnyKernel
    from codegen.target.finish.links import Links
    from codegen.target.finish.names import NameSpelling
    from codegen.targets.base import Target
    from codegen.versions import Versions

MARK = "\ufeff"  # byte order mark


@record
class RegionResult:
    """What became of a region, for reports. `links` are lines of the new file, and the statement each carries out;
    `lines` are those of the source on which statements begin."""

    index: int
    line: int
    transformed: bool
    plan: str
    summary: str
    links: Links = ()
    lines: Links = ()


@record
class Generated:
    """The new file, and everything said about it. `deps` are the headers that were read."""

    text: str
    regions: tuple[RegionResult, ...]
    diagnostics: tuple[Diagnostic, ...]
    deps: tuple[str, ...]
    plan: str
    extra: Extra = field(default_factory=Extra)  # what the target writes beside the file
    seconds: tuple[tuple[str, float], ...] = ()  # what each stage took
    nests: tuple[Row, ...] = ()  # with --auto, what became of every nest


def generate(path: str, text: str, options: GenOptions) -> Generated:
    """Transform every region that can be; the rest of the file comes out byte for byte."""
    if text.startswith(MARK):  # what stands above the user's text goes behind it
        made = generate(path, text.removeprefix(MARK), options)
        return replace(made, text=MARK + made.text)
    machine, target = load_for(options.machine, use_isa(options.isa)), target_named(options.target)
    if options.dispatch:
        from codegen.versions import check_dispatch

        check_dispatch(machine, target)
    clock = [("", time.perf_counter())]
    done = perform(path, text, options, machine)
    source = done.source
    clock += done.seconds
    if not source.regions:
        banner = _banner(source, options, "", True)
        extra = target.extra((), options, banner, None)
        return Generated(banner + source.text, (), done.messages, source.deps, "", extra, nests=done.nests)
    try:
        made = _printed(done, options, target, machine)
    except TilewrightError:
        raise
    except Exception as error:
        made = _without_failing(done, error, lambda some: _printed(some, options, target, machine))
    clock.append(("printing", time.perf_counter()))
    return replace(made, seconds=tuple((name, b - a) for (_, a), (name, b) in pairwise(clock)), nests=done.nests)


def _without_failing(done: Performed, error: Exception, printed: Callable[[Performed], Generated]) -> Generated:
    """The new file where the tool failed at printing it: regions that fail by themselves stay as they were, or all."""
    changed = {o.index for o in done.outcomes if o.text is not None}
    failing: dict[int, Exception] = {}
    for index in changed:
        try:
            printed(_left(done, dict.fromkeys(changed - {index}, error)))
        except Exception as own:
            failing[index] = own
    for left in (failing, dict.fromkeys(changed, error)):
        try:
            if left:
                return printed(_left(done, left))
        except Exception as again:
            error = again
    raise error


def _left(done: Performed, errors: Mapping[int, Exception]) -> Performed:
    """The file with some regions left as they were, after faults of the tool."""
    from codegen.region import failed

    source, outcomes, messages = done.source, list(done.outcomes), list(done.messages)
    for k, o in enumerate(done.outcomes):
        if o.index in errors:
            region = next(r for r in source.regions if r.index == o.index)
            said = (*o.diagnostics, *decided(source, region, o))
            outcomes[k] = failed(next(s for s in source.slices if s.region.index == o.index), errors[o.index])
            messages = [*(m for m in messages if m not in said), *outcomes[k].diagnostics]
    return replace(done, outcomes=tuple(outcomes), messages=tuple(messages))


def _printed(done: Performed, options: GenOptions, target: Target, machine: Machine) -> Generated:
    """The new file: the user's text with the results of its regions in place, and above it what they need."""
    from codegen.recognize.access.domain_shape import PARALLEL_MIN
    from codegen.target.emit import Kernel
    from codegen.target.finish.names import apart_from_options, check_names, names_for, names_taken
    from codegen.target.finish.rows import laid_out
    from codegen.target.support import emit_support, foreign
    from codegen.target.text.checks import checks, helpers_of
    from codegen.target.text.functions_used import functions_used

    placed = target.placed(done.source, done.outcomes, options)
    done = replace(done, outcomes=placed.outcomes, messages=(*done.messages, *placed.messages))
    source, outcomes, text = done.source, done.outcomes, done.source.text
    names = names_for(options.prefix, (*(s.text[slice(*s.span)] for s in source.slices),
                                       *(text[r.body_begin : r.body_end] for r in source.regions)),
                      target.names(outcomes))  # fmt: skip
    shown = shown_name(source.name, options)
    tests = {o.index: checks(source.baked[o.index], shown, o.kept) for o in outcomes if o.text is not None}
    changed = _changed(done, options, names, tests)
    name = line_name(source.name, options)
    wanted = _versions(done, options, machine)
    edits = [(begin, end, names.of(new)) for begin, end, new in placed.edits]
    body = splice(text, changed, [*edits, *(wanted.marks if wanted else ())])
    plan = "".join(o.plan for o in outcomes)
    start = after_feature_macros(body)
    kernels = frozenset[Kernel]().union(*(o.kernels for o in outcomes))
    same = helpers_of(x for lines in tests.values() for x in lines)
    line = body.count("\n", 0, start) + 1 if options.line_directives else 0
    how = SupportOptions(
        PARALLEL_MIN, options.require_isa, contracts(options, text), source.pre.language, name, line,
        target.c99,
    )
    support = emit_support(same.union(*(o.helpers for o in outcomes)), kernels, how)
    _check_choice(support, kernels)
    if wanted:
        body, support = wanted.of(body, support, names, name if options.line_directives else "")
        start = after_feature_macros(body)
    new = frozenset[str]().union(*(o.names for o in outcomes))
    check_names(names, source.name, text, support, new, names_taken(source.pre))
    kept = {k for o in outcomes for k in o.kept}
    support = apart_from_options(support, source.pre, kept)
    support, _ = laid_out(names.of(support))
    if options.keep_original and support:
        support = _unless_original(support, names.word("TW_ORIGINAL"), "" if options.require_isa else foreign(kernels))
    banner = _banner(source, options, plan, bool(start or not support))
    if "\r\n" in text:
        support = support.replace("\n", "\r\n")
    extra = target.extra(outcomes, options, banner, names)
    more = apart_from_options(extra.support, source.pre, kept)
    beside = ((end, t if end.endswith(".mk") else apart_from_options(t, source.pre, kept)) for end, t in extra.files)
    extra = replace(extra, files=tuple(beside))
    support += functions_used(more, body) if extra.as_called else more
    above = banner.count("\n") + support.count("\n") + options.keep_original
    results = tuple(
        RegionResult(o.index, o.line, o.text is not None, o.plan, o.summary,
                     _moved(o, changed, above + len(tests.get(o.index, ())) + bool(_threads(source, o.index, options))),
                     o.lines)
        for o in outcomes
    )
    whole = banner + body[:start] + support + body[start:]
    if wanted:
        results = tuple(replace(r, links=wanted.further(r.links, above)) for r in results)
    messages = (*done.messages, *(wanted.messages if wanted else ()))
    return Generated(whole, results, messages, _deps(source, options), plan, extra)


def _versions(done: Performed, options: GenOptions, machine: Machine) -> Versions | None:
    if not options.dispatch:
        return None
    from codegen.versions import versions_of  # what few files want

    return versions_of(done, options, machine)


def _check_choice(support: str, kernels: Collection[AnyKernel]) -> None:
    """Macros that choose among kernels have the values that regions were proven with. That they have not is a fault of
    the printer, which no input can lead to."""
    if not kernels:
        return  # most files have none; start-up time counts in a build
    from codegen.target.portable import Portable, together

    portable = [k for _, _, k in kernels if isinstance(k, Portable)]
    if portable:
        from codegen.verify.choices.variants import wrong_choice

        problem = wrong_choice(support, together(portable))
        assert not problem, problem


def _changed(
    done: Performed, options: GenOptions, names: NameSpelling, tests: Mapping[int, Sequence[str]]
) -> list[tuple[Region, str]]:
    """The text for each region that has a new one, with the lines that test its macros."""
    from codegen.target.finish.names import DEFAULT, check_region_names, our_macros
    from codegen.target.text.checks import with_checks

    source = done.source
    new = [(r, o.text) for r in source.regions for o in done.outcomes if o.index == r.index and o.text is not None]
    ours = our_macros(source.pre) if names.prefix == DEFAULT else {}
    for r, t in new:
        macros = frozenset[str]().union(*(_macros_of(s, source) for s in source.slices if s.region.index == r.index))
        check_region_names(t, region_text(source.text, r), Loc(source.name, r.first_line, 1), macros, ours)
    tested = [(r, with_checks(t, [names.of(x) for x in tests[r.index]])) for r, t in new]
    original = names.word("TW_ORIGINAL")
    return [(r, _finished(r, t, source, options, original)) for r, t in tested]


def _macros_of(s: RegionSlice, source: Opened) -> frozenset[str]:
    """The names that are macros where a region's result is: not those that it defines for itself, or that are defined
    elsewhere in the file."""
    found = source.baked.get(s.region.index)
    return s.macros if found is None or s.around.directives else s.macros & found.known.keys()


def _finished(r: Region, new: str, source: Opened, options: GenOptions, original: str) -> str:
    """A region's new text with the nest as it was beside it, and with line directives, where these are asked for."""
    threads = _threads(source, r.index, options)
    if threads:
        new = f"{threads}\n{new}#else\n{_nest(source.text, r)}#endif\n"
    if options.keep_original:
        new = f"#ifndef {original}\n{new}#else\n{_nest(source.text, r)}#endif\n"
    counts = any(s.around.line for s in source.slices if s.region.index == r.index)
    return _with_line(r, new, source.name, options, counts)


def _threads(source: Opened, index: int, options: GenOptions) -> str:
    """The directive behind which a region's new text is, where it is another region without OpenMP or with it."""
    return source.baked[index].threads if target_named(options.target).keeps_original else ""


def _unless_original(support: str, original: str, foreign: str) -> str:
    """What generated code needs, left out where the original nests are wanted; `foreign` tests for other processors,
    on which they always are."""
    support = re.sub(r"((?:#line .*\n)?)\Z", r"#endif\n\1", f"#ifndef {original}\n{support}", count=1)
    return f"#if !defined({original}) && ({foreign})\n#define {original}\n#endif\n{support}" if foreign else support


def perform(path: str, text: str, options: GenOptions, machine: Machine) -> Performed:
    """Find the regions and transform each that can be."""
    if options.auto:
        from codegen.auto import explore

        return explore(path, text, options, machine)
    source = open_source(path, text, options)
    if not contracts(options, text):
        options = replace(options, fp_contract="off")  # whatever said so
    check_plan_regions(source, options)
    clock = [("reading", time.perf_counter())]
    outcomes: list[RegionOutcome] = []
    messages: list[Diagnostic] = [] if source.regions else [no_region(source.name)]
    messages += misspelt_pragmas(source.text, source.name)
    messages += unknown_names(options.context, (text, *(s.text for s in source.slices)), source.name)
    by_index = {s.region.index: s for s in source.slices}
    active = [by_index[r.index] for r in source.regions if r.index in by_index]
    works = [partial(run_region, source, s, options, machine) for s in active]
    with closing(side_by_side(works, at_once())) as made:
        for region in source.regions:
            if region.index not in by_index:
                messages.append(inactive(region, source.name))
                continue
            outcome = answered(by_index[region.index], next(made))
            clock.append((f"region {region.index}", time.perf_counter()))
            outcomes.append(outcome)
            messages += (*outcome.diagnostics, *decided(source, region, outcome))
    return Performed(source, tuple(outcomes), tuple(messages), (), tuple(clock))


def _banner(source: Opened, options: GenOptions, plan: str, first: bool) -> str:
    """The comment at the top, by which the next run knows its own file. `first`: line 1 of the source follows."""
    if not options.banner:
        return ""
    from codegen.target.support import emit_banner

    text = emit_banner(shown_name(source.name, options), effective_options(options), options.version, plan)
    if options.line_directives and first:
        text += f'#line 1 "{line_name(source.name, options)}"\n'
    return text.replace("\n", "\r\n") if "\r\n" in source.text else text


def _deps(source: Opened, options: GenOptions) -> tuple[str, ...]:
    """The headers, and the plans that the source names."""
    from codegen.plan_reader.hinted import plan_file, planned

    found = (plan_file(s.region, source.name) for s in source.slices if not planned(s.region, options))
    return tuple(dict.fromkeys((*source.deps, *(f[0] for f in found if f is not None))))


def _nest(text: str, region: Region) -> str:
    """The region as the user wrote it, without its pragmas."""
    lines = written(text, region).removesuffix("\n").split("\n")
    own = re.compile(r"\s*#\s*pragma\s+(scop|endscop|tilewright)\b")
    return "".join(f"{line}\n" for line in lines if not own.match(line))


def _moved(outcome: RegionOutcome, changed: list[tuple[Region, str]], above: int) -> Links:
    """The region's links as lines of the new file, which has `above` lines more before the user's own."""
    for region, text in changed:
        if region.index <= outcome.index:
            above -= region.leading_lines
        if region.index < outcome.index:
            above += text.count("\n") - region.lines
        elif region.index == outcome.index:
            above += region.behind_text
    return tuple((line + outcome.line + above, stmt) for line, stmt in outcome.links)


def after_feature_macros(text: str) -> int:
    """Where the first header may be included: past `#define _GNU_SOURCE` and the like, which work only before it."""
    first = re.search(r"^[ \t]*#[ \t]*include\b", text, re.M)
    defines = re.finditer(
        r"^[ \t]*#[ \t]*define[ \t]+_\w+_(?:SOURCE|BITS)\b.*\n", text[: first.start() if first else 0], re.M
    )
    return max((m.end() for m in defines), default=0)


def _with_line(region: Region, text: str, name: str, options: GenOptions, counts_lines: bool) -> str:
    """After a region, tell the compiler where the user's text goes on; always where the text says so itself, or asks
    for lines."""
    if not options.line_directives and region.presumed is None and not counts_lines:
        return text
    line = region.presumed_line(region.last_line + 1 - region.before_text)
    return f'{text}#line {line} "{line_name(name, options, region)}"\n'
