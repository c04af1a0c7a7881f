"""Generates the regions of a file and makes a test case of each transformed one, or of each part of it: its original
and generated text, and the harness that calls both. Also puts together the C files that `check` compiles."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from codegen import pipeline
from codegen.checking.harness.emit import cases_text
from codegen.checking.harness.interface import FunctionPlace, Harness, harness_of
from codegen.checking.harness.memory import memory_of
from codegen.checking.versions import with_cases
from codegen.diagnostics import Diagnostic
from codegen.isa.known import use as use_isa
from codegen.machine import load_for
from codegen.options import GenOptions, effective_options
from codegen.recognize.access.domain_shape import PARALLEL_MIN
from codegen.record import record
from codegen.region import RegionOutcome
from codegen.region_model import Modelled, model_region, site_in
from codegen.source.macro_tables import Macro, tables_at
from codegen.source.parse import parse_with_gaps
from codegen.source.region_slice import RegionSlice
from codegen.source.regions import written
from codegen.source.splice import splice
from codegen.source_file import Opened
from codegen.target.emit import AnyKernel
from codegen.target.finish.names import DEFAULT, NameSpelling
from codegen.target.support import SupportOptions, emit_banner, emit_support
from codegen.targets.registry import target_named
from codegen.versions import Versions, versions_of

STEM = "result"  # of the files of the target
_END = 1 << 60  # a line behind all others
PART = 100_000  # between the numbers of a region and of a part of it


@record
class CheckedRegion:
    """A region that came out transformed."""

    slice: RegionSlice
    outcome: RegionOutcome
    harness: Harness
    original: str
    result: str

    @property
    def title(self) -> str:
        line = self.outcome.line if self.slice.piece is None else self.harness.site.loc.line
        return f"region {self.outcome.index} ({self.harness.site.function.decl.name}, line {line})"


@record
class Checked:
    """A file with its regions. `outcomes` are all of them, `cases` those with something to check."""

    source: Opened
    outcomes: tuple[RegionOutcome, ...]
    cases: tuple[CheckedRegion, ...]
    diagnostics: tuple[Diagnostic, ...]
    versions: Versions | None = None  # of functions, with --dispatch


def open_regions(path: str, text: str, options: GenOptions) -> Checked:
    """Generate, region by region."""
    machine, options = load_for(options.machine, use_isa(options.isa)), replace(options, prefix=DEFAULT)
    done = pipeline.perform(path, text.removeprefix(pipeline.MARK), options, machine)
    slices = {s.region.index: s for s in done.source.slices}
    cases = [c for o in done.outcomes if o.text is not None for c in _cases(slices[o.index], o, done.source)]
    versions = versions_of(done, options, machine)
    messages = (*done.messages, *(versions.messages if versions else ()))
    notes = tuple(d for d in messages if d.id != "conditional-region")
    return Checked(done.source, done.outcomes, tuple(cases), notes, versions)


def _cases(s: RegionSlice, outcome: RegionOutcome, source: Opened) -> Iterator[CheckedRegion]:
    """The region; of one that is transformed in part, each part."""
    if not outcome.cases:
        yield case_of(s, outcome, source)
    for part, made, original in outcome.cases:
        yield replace(case_of(part, made, source), original=original)


def case_of(s: RegionSlice, outcome: RegionOutcome, source: Opened) -> CheckedRegion:
    """A region that was transformed, with the way to call it."""
    assert outcome.text is not None
    parsed = parse_with_gaps(s)
    site = site_in(parsed, s)
    number = outcome.index + (PART * s.piece.number if s.piece else 0)
    place = FunctionPlace(s.language, s.scope, s.usings, s.objects)
    original = written(source.text, s.region)
    memory = memory_of(site, parsed.ast, outcome.computed, original)
    harness = harness_of(number, site, memory, outcome.computed, place)
    return CheckedRegion(s, outcome, harness, original, outcome.text)


def as_generated(s: RegionSlice, outcome: RegionOutcome) -> RegionSlice:
    """The slice that a result was made from: with names of macros only if they are in it."""
    return s if outcome.kept else replace(s, named=None)


def model_of(case: CheckedRegion, options: GenOptions) -> Modelled:
    """The region's model; there is one, since it was transformed."""
    model = model_region(as_generated(case.slice, case.outcome), options)
    assert model is not None
    return model


def file_texts(checked: Checked, options: GenOptions) -> dict[str, str]:
    """The files to compile: original and result with their cases below them, and both as users see them."""
    source = checked.source
    helpers = frozenset[str]().union(*(o.helpers for o in checked.outcomes))
    kernels = frozenset[AnyKernel]().union(*(o.kernels for o in checked.outcomes))
    name = os.path.basename(source.name)
    start = pipeline.after_feature_macros(source.text)
    support = emit_support(helpers, kernels, SupportOptions(PARALLEL_MIN, language=source.pre.language))
    banner = emit_banner(name, effective_options(options))
    extra = target_named(options.target).extra(checked.outcomes, replace(options, stem=STEM), "", None)
    regions = {s.region.index: s.region for s in source.slices}
    changed = [(regions[o.index], o.text) for o in checked.outcomes if o.text is not None]
    versions = checked.versions
    body, above = splice(source.text, changed, versions.marks if versions else ()), support
    if versions is not None:
        body, above = versions.of(body, support, NameSpelling(), "")
    wrapped = [(c.harness, *with_macros(source, c)) for c in checked.cases]
    result, support = with_cases(source.text[start:], support, [(h, made) for h, _, made in wrapped], versions)
    head = f"{banner}{source.text[:start]}"
    ending = source.pre.language.endings[0]
    return {
        **{f"{STEM}{ending}": text for ending, text in extra.files},
        f"original{ending}": f"{source.text}\n{cases_text([(h, own) for h, own, _ in wrapped])}",
        f"result{ending}": f"{head}{support}{extra.support}{result}",
        f"source{ending}": source.text,
        f"generated{ending}": f"{head}{above}{extra.support}{body[start:]}",
    }


def with_macros(source: Opened, case: CheckedRegion) -> tuple[str, str]:
    """A region's two texts for the end of the file, with its macros as they are where it stands: `#undef` behind it, or
    another definition, does not count."""
    last = tables_at(source.pre.changes, [_END], source.pre.system_headers)[_END] if source.pre.changes else {}
    changed = [m for n, m in source.baked[case.outcome.index].macros.items() if last and last.get(n) != m]
    before = "".join(f"#undef {m.name}\n{_definition(m)}" for m in changed)
    behind = "".join(f"\n#undef {m.name}\n{_definition(last.get(m.name))}" for m in changed)
    original, result = (f"{before}{text}{behind}" for text in (case.original, case.result))
    return original, result


def _definition(m: Macro | None) -> str:
    if m is None:
        return ""
    return f"#define {m.name}{'' if m.params is None else '(' + ', '.join(m.params) + ')'} {m.body}\n"


def extra_sources(options: GenOptions) -> tuple[str, ...]:
    """What the target has compiled beside the result."""
    return tuple(f"{STEM}{e}" for e in target_named(options.target).endings["c"][1:] if e.endswith(".c"))
