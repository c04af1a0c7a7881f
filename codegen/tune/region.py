"""Opens a region for tuning: its model, the tool's own result, and a harness to call it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from codegen import pipeline
from codegen.checking.harness.interface import Harness
from codegen.checking.regions import as_generated, case_of, model_of
from codegen.diagnostics import Diagnostic
from codegen.hosts.region import printed
from codegen.isa.known import use as use_isa
from codegen.machine import Machine, load_for
from codegen.options import GenOptions
from codegen.record import record
from codegen.region import RegionOutcome, make
from codegen.region_model import Modelled, model_region
from codegen.source.region_slice import RegionSlice
from codegen.source_file import Opened, Performed, check_plan_regions, open_source
from codegen.supervise import run_region
from codegen.target.finish.names import DEFAULT
from codegen.targets.base import RegionJob
from codegen.targets.registry import target_named
from codegen.targets.tuning import DeviceTuning
from codegen.versions import Versions, versions_of


@record
class Subject:
    """`outcome` is what the tool makes of the region by itself; `original` is the text between the pragmas."""

    source: Opened
    slice: RegionSlice
    model: Modelled
    outcome: RegionOutcome
    harness: Harness
    original: str
    options: GenOptions
    machine: Machine
    tuning: DeviceTuning | None = None  # the device that results run on, if it is not this machine
    versions: Versions | None = None  # of functions, with --dispatch

    @property
    def index(self) -> int:
        return self.slice.region.index

    @property
    def title(self) -> str:
        line = self.slice.region.first_line if self.slice.piece is None else self.harness.site.loc.line
        return f"region {self.index} ({self.harness.site.function.decl.name}, line {line})"

    def carried_out(self, plan: str) -> RegionOutcome:
        """What a plan makes of the region, proven; InputError or Unsupported where it cannot be."""
        options = replace(self.options, plan_text=plan, plan_name="<candidate>")
        job = RegionJob(self.slice, self.model, self.original.replace("\r\n", "\n"), options, self.machine)
        if self.tuning is not None:
            return target_named(options.target).process(job)
        return printed(job, make(self.model, options, self.machine))


@record
class OpenedFile:
    """A file for tuning. `outcomes` are those of all regions, also of those that are left as they are; `parts` are
    those of regions that are transformed in part, which can be run and not tuned."""

    source: Opened
    outcomes: tuple[RegionOutcome, ...]
    subjects: tuple[Subject, ...]
    parts: tuple[Subject, ...]
    diagnostics: tuple[Diagnostic, ...]


def open_file(path: str, text: str, options: GenOptions) -> OpenedFile:
    """Everything the tool would do by itself, and the regions that can be tuned."""
    machine, options = load_for(options.machine, use_isa(options.isa)), replace(options, prefix=DEFAULT)
    tuning = target_named(options.target).tuning(options)
    if options.auto:
        found = pipeline.perform(path, text, options, machine)
        source, outcomes = found.source, found.outcomes
    else:
        source = open_source(path, text, options)
        check_plan_regions(source, options)
        outcomes = tuple(run_region(source, s, options, machine) for s in source.slices)
    versions = versions_of(Performed(source, outcomes, ()), options, machine)
    whole = _subjects(source, outcomes, options, machine)
    subjects = tuple(replace(s, tuning=tuning, versions=versions) for s in whole)
    parts = tuple(replace(s, versions=versions) for s in _parts(source, outcomes, options, machine))
    messages = (*(d for o in outcomes for d in o.diagnostics), *(versions.messages if versions else ()))
    return OpenedFile(source, outcomes, subjects, parts, messages)


def _subjects(
    source: Opened, outcomes: tuple[RegionOutcome, ...], options: GenOptions, machine: Machine
) -> Iterator[Subject]:
    for s, outcome in zip(source.slices, outcomes, strict=True):
        whole = outcome.text is not None and outcome.parts == 1
        model = model_region(as_generated(s, outcome), options) if whole else None
        if model is not None:
            case = case_of(s, outcome, source)
            yield Subject(source, s, model, outcome, case.harness, case.original, options, machine)


def _parts(
    source: Opened, outcomes: tuple[RegionOutcome, ...], options: GenOptions, machine: Machine
) -> Iterator[Subject]:
    for part, made, original in (case for outcome in outcomes for case in outcome.cases):
        case = replace(case_of(part, made, source), original=original)
        yield Subject(source, part, model_of(case, options), made, case.harness, original, options, machine)
