"""`tilewright inspect`: what the tool sees in a file and would do to it."""
from __future__ import annotations

import os

from codegen.cli.argv import BadCommandLine
from codegen.cli.gen import resolved_machine
from codegen.cli.job import Job, Outcome
from codegen.source.write import write_if_changed


def run(job: Job) -> Outcome:
    """The description goes to standard output, or as a page to a file."""
    if job.arguments.html:
        return _page(job)
    from codegen.report.text import describe_file

    text = describe_file(job.name, job.text, job.options)
    if job.arguments.sizes or job.arguments.timeline:
        if job.options.target != "sunway" or not job.arguments.sizes:
            raise BadCommandLine("--timeline needs --target sunway and --sizes 'n=1000 ...'")
        from codegen.report.sunway import timeline

        text += "\n".join(timeline(job.name, job.options, job.arguments.sizes, job.arguments.timeline or "")) + "\n"
    return Outcome(stdout=text if text.endswith("\n") else text + "\n", diagnostics=resolved_machine(job))


def _page(job: Job) -> Outcome:
    """The report for a browser; nothing goes to standard output, unless it is named as the file."""
    if job.arguments.sizes or job.arguments.timeline:
        raise BadCommandLine("--html excludes --sizes and --timeline")
    from codegen.report.html.page import describe_html

    text = describe_html(job.name, job.text, job.options)
    if job.arguments.html == "-":
        return Outcome(stdout=text, diagnostics=resolved_machine(job))
    _never_the_source(job)
    write_if_changed(job.arguments.html, text)
    return Outcome(diagnostics=resolved_machine(job))


def _never_the_source(job: Job) -> None:
    for path in (job.arguments.file, job.arguments.plan):
        there = path and os.path.exists(path) and os.path.exists(job.arguments.html)
        if there and os.path.samefile(path, job.arguments.html):
            raise BadCommandLine(f"--html would overwrite {path}")
