"""`tilewright check`: does the result compute what the original computes?"""
from __future__ import annotations

import sys

from codegen.cli import exitcodes
from codegen.cli.gen import resolved_machine
from codegen.cli.job import Job, Outcome, filters, has_errors
from codegen.filters import select


def run(job: Job) -> Outcome:
    """The report goes to standard output; only full agreement is success."""
    from codegen.verify.check import check

    report = check(job.name, job.text, job.options, lambda line: _progress(job, line))
    messages = (*resolved_machine(job), *report.diagnostics)
    quiet = job.arguments.quiet and report.ok
    text = "" if quiet else "".join(f"{line}\n" for line in report.lines)
    if has_errors(select(messages, filters(job.arguments))):
        return Outcome(exitcodes.BAD_INPUT, text, messages)
    return Outcome(exitcodes.OK if report.ok else exitcodes.DIFFERENT, text, messages)


def _progress(job: Job, line: str) -> None:
    """Progress is for people: with -v only, and never into a stream that holds a JSON or SARIF document."""
    if job.arguments.verbose and job.arguments.diagnostics_format == "text":
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
