"""Tunes a whole file: every region that has a plan, one after the other."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from codegen.checking.build import find_compiler
from codegen.diagnostics import Diagnostic, Loc, Severity
from codegen.machine.detect import detect
from codegen.options import GenOptions
from codegen.source_file import no_region
from codegen.tune.build import compiler_version
from codegen.tune.plans.settings import Say, Settings, TunedFile, TunedRegion
from codegen.tune.plans.sizes import check_known
from codegen.tune.plans.tuner import tune_region
from codegen.tune.region import OpenedFile, Subject, open_file
from codegen.tune.timing import seconds_text

REGIONS = 0.5  # of the budget at least, for the regions, however long the file takes to open


def tune_file(path: str, text: str, options: GenOptions, settings: Settings, say: Say) -> TunedFile:
    """The plan of a file. InputError for what the user must mend; an interrupt keeps what was found until then."""
    begun = time.monotonic()
    opened = open_file(path, text, options)
    if settings.alone:
        check_known(settings.sizes, opened.subjects, opened.source.name)
    notes: list[Diagnostic] = [*opened.diagnostics]
    if not opened.outcomes:
        notes.append(no_region(path))
    found: dict[int, TunedRegion] = {}
    for number, subject in enumerate(opened.subjects):
        # Opening the file counts as well, but regions get some of their share in any case.
        regions = len(opened.subjects) - number
        whole = settings.budget * len(settings.methods)
        left = max(whole - (time.monotonic() - begun), REGIONS * whole * regions / len(opened.subjects))
        share = replace(settings, budget=left / regions / len(settings.methods))
        if any(r.interrupted for r in found.values()):
            break
        try:
            found[subject.index] = tune_region(subject, share, say)
        except KeyboardInterrupt:  # before anything was measured
            found[subject.index] = _untouched(subject)
        notes.append(_said(opened, found[subject.index]))
    plan = "".join(found[o.index].plan if o.index in found else o.plan for o in opened.outcomes)
    host = detect().machine
    compiler = compiler_version(find_compiler(path, options.cpp, Path()).words)
    machine, device = f"{host.name}: {host.description}", next((s.tuning for s in opened.subjects), None)
    if device is not None:
        machine, compiler = f"{device.title}; {machine}", f"{device.compiler}; {compiler}"
    return TunedFile(opened.source.name, plan, tuple(found.values()), tuple(notes), machine, compiler,
                     settings.flags, settings.threads)  # fmt: skip


def _untouched(subject: Subject) -> TunedRegion:
    own = subject.outcome.plan
    return TunedRegion(subject.index, subject.title, subject.model.digest, own, own, note="not tuned: interrupted",
                       interrupted=True)  # fmt: skip


def _said(opened: OpenedFile, r: TunedRegion) -> Diagnostic:
    line = next(o.line for o in opened.outcomes if o.index == r.index)
    return Diagnostic(Severity.NOTE, "tuned", f"{r.title}: {sentence(r)}", Loc(opened.source.name, line))


def sentence(r: TunedRegion) -> str:
    """What came out, in one line."""
    if r.tuned is None or r.default is None or r.original is None:
        return r.note or "not tuned"
    sizes = ", ".join(f"{k} = {v}" for k, v in r.sizes.items())
    text = f"{seconds_text(r.tuned.best)}{f' at {sizes}' if sizes else ''}, "
    text += f"{r.original.best / r.tuned.best:.3g} times as fast as the original"
    if r.plan == r.default_plan:
        text += "; the default plan is the fastest that was found"
    else:
        text += f" and {r.default.best / r.tuned.best:.3g} times as fast as the default plan ({r.method})"
    if r.interrupted:
        text += "; the search was interrupted"
    return text + (f"; {r.note}" if r.note else "")
