"""`tilewright inspect`: what the tool sees in a file and would do to it."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING

from codegen.cli.argv import BadCommandLine
from codegen.cli.gen import resolved_machine
from codegen.cli.job import Job, Outcome
from codegen.cli.progress import Line
from codegen.source.write import write_if_changed

if TYPE_CHECKING:
    from codegen.report.speed import Speed


def run(job: Job) -> Outcome:
    """The description goes to standard output, or as a page to a file."""
    _check_options(job)
    if job.arguments.html:
        return _page(job)
    from codegen.report.text import describe_file

    text = describe_file(job.name, job.text, job.options, _speeds(job))
    if job.arguments.sizes and job.options.target == "sunway":
        text += "\n".join(_timeline(job)) + "\n"
    return Outcome(stdout=text if text.endswith("\n") else text + "\n", diagnostics=resolved_machine(job))


def _check_options(job: Job) -> None:
    a, sunway = job.arguments, job.options.target == "sunway"
    if a.html and (a.timeline or (a.sizes and sunway)):
        raise BadCommandLine("--html excludes --timeline, and --sizes of a core group")
    if a.timeline and not (sunway and a.sizes):
        raise BadCommandLine("--timeline needs --target sunway and --sizes 'n=1000 ...'")
    if a.measure and sunway:
        raise BadCommandLine("--measure is for this machine; --sizes predicts the time on a core group")
    if a.sizes and not (sunway or a.measure):
        raise BadCommandLine("--sizes needs --measure, or --target sunway")


def _timeline(job: Job) -> list[str]:
    """The predicted time on a core group, and its picture."""
    from codegen.report.sunway import timeline

    if job.arguments.timeline:
        _never_the_source(job, "--timeline", job.arguments.timeline)
    try:
        return timeline(job.name, job.text, job.options, _sizes(job), job.arguments.timeline or "")
    except ValueError as error:
        raise BadCommandLine(f"--sizes: {error}") from None


def _sizes(job: Job) -> dict[str, int]:
    from codegen.tune.plans.sizes import parse_sizes

    try:
        return parse_sizes(job.arguments.sizes)
    except ValueError as error:
        raise BadCommandLine(f"--sizes: {error}") from None


def _speeds(job: Job) -> dict[int, Speed]:
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


def _page(job: Job) -> Outcome:
    """The report for a browser; nothing goes to standard output, unless it is named as the file."""
    from codegen.report.html.page import describe_html

    text = describe_html(job.name, job.text, job.options, _speeds(job))
    if job.arguments.html == "-":
        return Outcome(stdout=text, diagnostics=resolved_machine(job))
    _never_the_source(job, "--html", job.arguments.html)
    write_if_changed(job.arguments.html, text)
    return Outcome(diagnostics=resolved_machine(job))


def _never_the_source(job: Job, option: str, result: str) -> None:
    for path in (job.arguments.file, job.arguments.plan):
        if path and os.path.exists(path) and os.path.exists(result) and os.path.samefile(path, result):
            raise BadCommandLine(f"{option} would overwrite {path}, which is an input: choose another name")
