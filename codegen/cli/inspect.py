"""`tilewright inspect`: what the tool sees in a file and would do to it."""
from __future__ import annotations

from codegen.cli.argv import BadCommandLine
from codegen.cli.gen import resolved_machine
from codegen.cli.job import Job, Outcome


def run(job: Job) -> Outcome:
    """The description goes to standard output."""
    from codegen.report.text import describe_file

    text = describe_file(job.name, job.text, job.options)
    if job.arguments.sizes or job.arguments.timeline:
        if job.options.target != "sunway" or not job.arguments.sizes:
            raise BadCommandLine("--timeline needs --target sunway and --sizes 'n=1000 ...'")
        from codegen.report.sunway import timeline

        text += "\n".join(timeline(job.name, job.options, job.arguments.sizes, job.arguments.timeline or "")) + "\n"
    return Outcome(stdout=text if text.endswith("\n") else text + "\n", diagnostics=resolved_machine(job))
