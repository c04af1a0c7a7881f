"""`tilewright check`: compiles and runs original and result (`checking/compare.py`) and prints a report; exit status 0
if all transformed regions agree, 4 if one does not, 1 for errors in the input."""
from __future__ import annotations

from codegen.cli import exitcodes
from codegen.cli.gen import resolved_machine
from codegen.cli.job import Invocation, Outcome, filters, has_errors
from codegen.cli.output.artefacts import check_dispatch
from codegen.cli.output.progress import Line
from codegen.filters import select


def run(job: Invocation) -> Outcome:
    """The report goes to standard output; only full agreement is success."""
    from codegen.checking.compare import check

    check_dispatch(job.arguments)
    line = Line(job.arguments)
    try:
        report = check(job.name, job.text, job.options, line.say)
    finally:
        line.end()
    messages = (*resolved_machine(job), *report.diagnostics)
    quiet = job.arguments.quiet and report.ok
    head = f"{job.name}: " if vars(job.arguments).get("several") else ""
    text = "" if quiet else "".join(f"{head}{line}\n" for line in report.lines)
    if has_errors(select(messages, filters(job.arguments))):
        return Outcome(exitcodes.BAD_INPUT, text, messages)
    return Outcome(exitcodes.OK if report.ok else exitcodes.DIFFERENT, text, messages)
