"""`tilewright bench`: times every region of a file before and after the transformation, on one thread and on several;
prints a table or JSON with what bounds each, and writes the chart of --chart."""
from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.cli import exitcodes
from codegen.cli.argv import BadCommandLine
from codegen.cli.gen import resolved_machine
from codegen.cli.job import Invocation, Outcome
from codegen.cli.output.artefacts import check_dispatch
from codegen.cli.output.progress import Line
from codegen.diagnostics import Diagnostic, InputError, Loc, Severity
from codegen.targets.registry import target_named

if TYPE_CHECKING:
    from codegen.bench.model import Ceilings


def run(job: Invocation) -> Outcome:
    """Before and after, in turns, for each region; the report goes to standard output."""
    from codegen.bench.measure import measure
    from codegen.bench.roofline import believed, beyond
    from codegen.bench.show import chart, data, text
    from codegen.checking.build import find_compiler
    from codegen.machine.believable import TRIES
    from codegen.source.write import write_if_changed
    from codegen.tune.build import FLAGS, PLAIN, compiler_version
    from codegen.tune.plans.sizes import check_known
    from codegen.tune.region import open_file
    from codegen.tune.timing import cores

    a = job.arguments
    check_dispatch(a)
    flags, sizes = a.cflags or (PLAIN if a.dispatch else FLAGS), _sizes(a.sizes, a.cflags)
    most = a.measure_threads or cores() if target_named(job.options.target).threads else 1
    threads = tuple(dict.fromkeys((1, most)))
    line, busy = Line(a), _busy(cores())
    try:
        line.say("generating")
        opened = open_file(job.name, job.text, job.options)
        check_known(sizes, (*opened.subjects, *opened.parts), job.name)
        found = tuple(measure(opened, threads, sizes, flags, line.say))
        line.say("measuring what this machine can do")
        top = _ceilings() if any(m.races for m in found) else None
        for _ in range(TRIES - 1):  # another program may have had the cores meanwhile
            again = _ceilings() if top and any(beyond(m, r, top) for m in found for r in m.races) else None
            top = top.highest(again) if top and again else top
        found = tuple(believed(m, top) for m in found) if top else found
    finally:
        line.end()
    messages = (*resolved_machine(job), *opened.diagnostics)
    if not found:
        auto = job.options.auto
        why = "no loop nest of this file would gain" if auto else "there is no `#pragma scop` in this file"
        hint = f"`tilewright scan {job.name}` tells why" if auto else (
            "put `#pragma scop` before a loop nest and `#pragma endscop` behind it, or give --auto")
        raise InputError("no-region", why, Loc(job.name), hint)
    compiler = find_compiler(job.name, job.options.cpp, Path())
    about = f"{job.name}: {compiler_version(compiler.words)}, {flags}; the best of many runs, in turns{busy}"
    if a.chart:
        write_if_changed(a.chart, chart(found))
    shown = data(found, about, top) if a.format == "json" else text(found, about, top)
    failed = tuple(Diagnostic(Severity.ERROR, "not-measured", f"{m.title}: {m.note}", Loc(job.name, m.line))
                   for m in found if m.failed)
    return Outcome(exitcodes.BAD_INPUT if failed else exitcodes.OK, shown, (*messages, *failed))


def _busy(processors: int) -> str:
    """A word on other programs, where they would take part of what is measured: threads that wait for one another
    suffer most."""
    load = os.getloadavg()[0]
    if load <= processors / 2:
        return ""
    return f"; other programs were running (load {load:.1f} on {processors} processors)"


def _sizes(text: str, flags: str | None) -> dict[str, int]:
    from codegen.tune.plans.sizes import parse_sizes

    check_flags(flags)
    try:
        return parse_sizes(text)
    except ValueError as error:
        raise BadCommandLine(f"--sizes: {error}") from None


def check_flags(flags: str | None) -> None:
    """Complain about flags for the compiler that no shell would read."""
    try:
        shlex.split(flags or "")
    except ValueError as error:
        raise BadCommandLine(f"--cflags: {str(error).lower()}") from None


def _ceilings() -> Ceilings | None:
    """What the host can do; nothing where its compiler cannot build the little programs that find out."""
    from codegen.bench.ceilings import ceilings
    from codegen.cli.doctor import Ailment, compiler_words
    from codegen.limits import LimitPassed
    from codegen.machine.detect import detect

    try:
        return ceilings(detect().machine, compiler_words())
    except (Ailment, OSError, LimitPassed):
        return None
