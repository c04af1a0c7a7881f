"""`tilewright inspect`: what the tool sees in a file and would do to it."""
from __future__ import annotations

from codegen.cli.gen import resolved_machine
from codegen.cli.job import Job, Outcome


def run(job: Job) -> Outcome:
    """The description goes to standard output."""
    from codegen.report.text import describe_file

    text = describe_file(job.name, job.text, job.options)
    return Outcome(stdout=text if text.endswith("\n") else text + "\n", diagnostics=resolved_machine(job))
