"""`tilewright gen`: generates the file with its marked loop nests transformed, and writes all artefacts of --emit and
the depfile, or nothing after an error or, with --strict, a refusal. Makes the notes of -v, --stats and --auto."""
from __future__ import annotations

import argparse
import os
import re
from functools import partial
from typing import TYPE_CHECKING

from codegen.children.worker import run_ahead
from codegen.cli import exitcodes
from codegen.cli.argv import BadCommandLine
from codegen.cli.job import Invocation, Outcome, filters, has_errors
from codegen.cli.output.artefacts import Artefact, check_outputs, depfile_of, outputs
from codegen.cli.output.writing import write_all
from codegen.diagnostics import Diagnostic, Loc, Severity, TilewrightError
from codegen.filters import select
from codegen.record import record
from codegen.startup.kept import keep

if TYPE_CHECKING:
    from codegen.pipeline import Generated

_END = re.compile(r"\bendscop\b")


@record
class Prepared:
    """What is left to do: write these files, print this text, and show messages. Small enough to be passed on."""

    code: int
    messages: tuple[Diagnostic, ...]
    table: str = ""
    files: tuple[Artefact, ...] = ()
    depfile: tuple[Artefact, ...] = ()
    stdout: str = ""


def run(job: Invocation) -> Outcome:
    """Generate, then write everything or nothing."""
    check_outputs(job.arguments)
    check_profile(job.arguments)
    work = partial(_prepared, job)
    read = (job.arguments.file, vars(job.arguments).get("plan"))
    again = all(os.path.isfile(x) for x in read if x)  # what comes through a pipe can be read once
    return _deliver(job, run_ahead(work, again) if _alone(job) else work())


def _alone(job: Invocation) -> bool:
    """One region of one file, as far as its marks tell: several share what is loaded, and the cores."""
    several = vars(job.arguments).get("several", False)
    return not several and not job.arguments.auto and len(_END.findall(job.text)) == 1


def _prepared(job: Invocation) -> Prepared:
    from codegen.pipeline import generate

    made = generate(job.name, job.text, job.options)
    table = nests_table(job, made)
    notes = (*_regions(job, made), *_stats(job, made))
    messages = (*resolved_machine(job), *made.diagnostics, *notes, *_refusals(job, made))
    if job.arguments.strict and not all(r.transformed for r in made.regions):
        return Prepared(exitcodes.REFUSED, messages, table)
    if has_errors(select(messages, filters(job.arguments))):
        return Prepared(exitcodes.BAD_INPUT, messages, table)
    artefacts = outputs(job, made)
    files = tuple(a for a in artefacts if a.path)
    depfile = depfile_of(job, made.deps, tuple(a.path for a in files))
    keep()
    return Prepared(exitcodes.OK, messages, table, files, depfile, _to_stdout(artefacts))


def _deliver(job: Invocation, made: Prepared) -> Outcome:
    try:
        write_all([*made.files, *made.depfile], force=job.arguments.force)
        if job.arguments.always_write:
            for file in made.files:
                os.utime(file.path)
    except TilewrightError as error:
        return Outcome(exitcodes.BAD_INPUT, diagnostics=(*made.messages, error.diagnostic()), table=made.table)
    return Outcome(made.code, made.stdout, made.messages, made.table)


def check_profile(arguments: argparse.Namespace) -> None:
    if vars(arguments).get("profile") and not arguments.auto:
        raise BadCommandLine("--profile is for the table of --auto")


def nests_table(job: Invocation, made: Generated) -> str:
    """With --auto, what became of every nest."""
    if not made.nests:
        return ""
    from codegen.report.nests import table
    from codegen.report.profile import read_profiles, with_shares

    rows = made.nests
    if job.arguments.profile:
        rows = with_shares(rows, read_profiles(job.arguments.profile))
    return table(rows, job.name)


def _to_stdout(artefacts: tuple[Artefact, ...]) -> str:
    return "".join(a.text for a in artefacts if not a.path)


def _regions(job: Invocation, made: Generated) -> tuple[Diagnostic, ...]:
    """With -v, one note for each region."""
    if not job.arguments.verbose:
        return ()
    return tuple(
        Diagnostic(Severity.NOTE, "region", f"region {r.index}: {r.summary}", Loc(job.name, r.line))
        for r in made.regions
    )


def _stats(job: Invocation, made: Generated) -> tuple[Diagnostic, ...]:
    """With --stats, one note on the whole file."""
    if not job.arguments.stats:
        return ()
    done = sum(r.transformed for r in made.regions)
    spent = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in made.seconds)
    text = f"{len(made.regions)} regions, {done} transformed, {len(made.regions) - done} left; {spent}"
    return (Diagnostic(Severity.NOTE, "stats", text, Loc(job.name)),)


def _refusals(job: Invocation, made: Generated) -> tuple[Diagnostic, ...]:
    """With --strict, one error for each region that was left as it was."""
    if not job.arguments.strict:
        return ()
    return tuple(
        Diagnostic(Severity.ERROR, "strict", f"region {r.index} was left untransformed, which --strict forbids",
                   Loc(job.name, r.line))
        for r in made.regions if not r.transformed
    )


def resolved_machine(job: Invocation) -> tuple[Diagnostic, ...]:
    """With --machine native, a note on what that turned out to be."""
    if job.arguments.machine != "native":
        return ()
    from codegen.machine.detect import detect

    found = detect()
    if job.arguments.verbose:
        facts = "; ".join(str(note) for note in found.notes)
    else:
        guessed = sum(not note.found for note in found.notes)
        more = f"; {guessed} figures assumed, see `tilewright machine detect`" if guessed else ""
        facts = f"{found.machine.description}; {found.machine.isa}{more}"
    return (Diagnostic(Severity.NOTE, "native-machine", f"--machine native: {facts}", Loc("tilewright")),)
