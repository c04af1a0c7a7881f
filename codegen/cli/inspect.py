"""`tilewright inspect`: prints what the tool sees in a file and would do to it, or writes it as a page (--html); with
--measure also how fast regions run, with --sizes the predicted time for targets that have a model of it."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING

from codegen.cli.argv import BadCommandLine
from codegen.cli.gen import resolved_machine
from codegen.cli.job import Invocation, Outcome
from codegen.cli.output.progress import Line
from codegen.source.write import write_if_changed
from codegen.targets.registry import target_named, target_names

if TYPE_CHECKING:
    from codegen.report.speed import Speed


def run(job: Invocation) -> Outcome:
    """The description goes to standard output, or as a page to a file."""
    _check_options(job)
    if job.arguments.html:
        return _page(job)
    from codegen.report.text import describe_file

    text = describe_file(job.name, job.text, job.options, _speeds(job))
    if job.arguments.sizes and target_named(job.options.target).predicts:
        text += "\n".join(_timeline(job)) + "\n"
    return Outcome(stdout=text if text.endswith("\n") else text + "\n", diagnostics=resolved_machine(job))


def _check_options(job: Invocation) -> None:
    a, predicts = job.arguments, target_named(job.options.target).predicts
    able = ", ".join(n for n in target_names() if target_named(n).predicts)
    if a.html and (a.timeline or (a.sizes and predicts)):
        raise BadCommandLine("--html excludes --timeline, and --sizes of a target that predicts")
    if a.timeline and not (predicts and a.sizes):
        raise BadCommandLine(f"--timeline needs --target {able} and --sizes 'n=1000 ...'")
    if a.measure and predicts:
        name = job.options.target
        raise BadCommandLine(f"--measure is for this machine; --sizes predicts the time for --target {name}")
    if a.sizes and not (predicts or a.measure):
        raise BadCommandLine(f"--sizes needs --measure, or --target {able}")


def _timeline(job: Invocation) -> list[str]:
    """The predicted time, and its picture."""
    if job.arguments.timeline:
        _never_the_source(job, "--timeline", job.arguments.timeline)
    try:
        picture = job.arguments.timeline or ""
        return target_named(job.options.target).timeline(job.name, job.text, job.options, _sizes(job), picture)
    except ValueError as error:
        raise BadCommandLine(f"--sizes: {error}") from None


def _sizes(job: Invocation) -> dict[str, int]:
    from codegen.tune.plans.sizes import parse_sizes

    try:
        return parse_sizes(job.arguments.sizes)
    except ValueError as error:
        raise BadCommandLine(f"--sizes: {error}") from None


def _speeds(job: Invocation) -> dict[int, Speed]:
    """With --measure, how fast the regions run."""
    if not job.arguments.measure:
        return {}
    from codegen.bench.measure import speeds

    sizes = _sizes(job)
    line = Line(job.arguments)
    try:
        return speeds(job.name, job.text, job.options, sizes, line.say)
    finally:
        line.end()


def _page(job: Invocation) -> Outcome:
    """The report for a browser; nothing goes to standard output, unless it is named as the file."""
    from codegen.report.html.page import describe_html

    text = describe_html(job.name, job.text, job.options, _speeds(job))
    if job.arguments.html == "-":
        return Outcome(stdout=text, diagnostics=resolved_machine(job))
    _never_the_source(job, "--html", job.arguments.html)
    write_if_changed(job.arguments.html, text)
    return Outcome(diagnostics=resolved_machine(job))


def _never_the_source(job: Invocation, option: str, result: str) -> None:
    for path in (job.arguments.file, job.arguments.plan):
        if path and os.path.exists(path) and os.path.exists(result) and os.path.samefile(path, result):
            raise BadCommandLine(f"{option} would overwrite {path}, which is an input: choose another name")
