"""Makes the HTML report on a file (`describe_html`): both files side by side, then each region. A page that is too long
loses parts (`thin.py`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen import __version__
from codegen.children.worker import Died, run_limited
from codegen.diagnostics import Diagnostic, InputError, fault
from codegen.isa.known import use as use_isa
from codegen.limits import LimitPassed, analysis
from codegen.machine import Machine, load_for
from codegen.options import GenOptions, effective_options
from codegen.pipeline import Generated, generate
from codegen.print.templates import environment
from codegen.report.html.details import details
from codegen.report.html.model import Details, Page, Refusal, RegionView
from codegen.report.html.panes import panes, plain_pane
from codegen.report.html.thin import LIMIT, without_pictures, without_steps, without_tables
from codegen.report.speed import Speed
from codegen.source.region_slice import RegionSlice
from codegen.source.regions import Region
from codegen.source_file import open_source
from codegen.targets.registry import target_named

Speeds = Mapping[int, Speed]  # by the number of the region


def describe_html(path: str, text: str, options: GenOptions, speeds: Speeds | None = None) -> str:
    """The report on a file as one HTML page that needs nothing else."""
    template = environment().get_template("report.html.j2")
    full = page(path, text, options, speeds or {})
    html = template.render(page=full)
    for thinner in (without_steps, without_tables, without_pictures):
        if len(html.encode("utf-8", "replace")) < LIMIT:
            break
        full = thinner(full)
        html = template.render(page=full)
    return html


def page(path: str, text: str, options: GenOptions, speeds: Speeds) -> Page:
    source = open_source(path, text, options)
    machine = load_for(options.machine, use_isa(options.isa))
    made = generate(path, text, options)
    slices = {s.region.index: s for s in source.slices}
    regions = tuple(
        _region(r, slices.get(r.index), made, options, machine, speeds.get(r.index)) for r in source.regions
    )
    before, after = panes(source.text, made, regions)
    return Page(
        source.name,
        __version__,
        effective_options(options),
        target_named(options.target).machine(machine, options),
        before,
        after,
        regions,
        _messages(made.diagnostics),
        _headline(regions, speeds),
        slave=next((plain_pane(t) for ending, t in made.extra.files if ending.endswith(".c")), ()),
    )


def _headline(regions: Sequence[RegionView], speeds: Speeds) -> tuple[str, ...]:
    """What was gained where it was measured, else what was done at all."""
    gains = tuple(f"Region {k}: {s.headline}." for k, s in sorted(speeds.items()) if s.headline)
    if gains or not regions:
        return gains
    done = sum(r.state == "transformed" for r in regions)
    what = f"{done} of {len(regions)} regions are" if len(regions) > 1 else f"The region is{'' if done else ' not'}"
    more = "; --measure tells what that gains on this machine" if done else ""
    return (f"{what} transformed{more}.",)


def _messages(found: tuple[Diagnostic, ...]) -> tuple[str, ...]:
    return tuple(
        f"{d.loc}: {d.severity.value}: {d.message} [{d.id}]" for top in found for d in (top, *top.notes)
    )


def _region(
    region: Region, s: RegionSlice | None, made: Generated, options: GenOptions, machine: Machine, speed: Speed | None
) -> RegionView:
    if s is None:
        return _view(region, "off", "switched off by the preprocessor", "", Details())
    found = next(r for r in made.regions if r.index == region.index)
    known = _bounded(s, options, machine, speed)
    if found.transformed and known.refusal is not None:
        known = Details(remarks=(f"there are no details on this page: {known.refusal.message}; raise --timeout",))
    state = "transformed" if found.transformed else "left" if known.refusal is not None else "empty"
    return _view(region, state, found.summary, found.plan, known)


def _view(region: Region, state: str, summary: str, plan: str, known: Details) -> RegionView:
    return RegionView(region.index, region.first_line, region.last_line, state, summary, plan, known)


def _bounded(s: RegionSlice, options: GenOptions, machine: Machine, speed: Speed | None) -> Details:
    line = s.region.first_line
    try:
        return run_limited(lambda: details(s, options, machine, speed), analysis(options.timeout))
    except LimitPassed as error:
        return Details(refusal=Refusal("limit-passed", f"the analysis {error}", line, ""))
    except RecursionError:
        return Details(refusal=Refusal("nesting-too-deep", "its expressions are nested too deeply", line, ""))
    except Died:
        return Details(refusal=Refusal("worker-died", "the analysis crashed", line, ""))
    except InputError:
        raise
    except Exception as error:
        return Details(refusal=Refusal("internal-error", f"internal error: {fault(error)}", line, "please report it"))
