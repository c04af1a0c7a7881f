"""Which files `gen` writes: the artefacts of --emit (C, header, plan, report, harness) and the depfile, with texts and
with paths made from -o. Raises BadCommandLine for outputs that exclude each other or would overwrite an input."""
from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from codegen.cli.argv import BadCommandLine
from codegen.cli.job import Invocation
from codegen.cli.options import EMITS
from codegen.options import GenOptions
from codegen.record import record
from codegen.source.language import CXX, ending_of, language_of, stem_of
from codegen.source.write import GENERATED
from codegen.targets.base import Target
from codegen.targets.registry import target_named, target_names

if TYPE_CHECKING:
    from codegen.pipeline import Generated

_EXTENSIONS = {"c": ".c", "header": ".h", "harness": ".mk", "plan": ".plan", "report": ".report.txt"}


@record
class Artefact:
    """A text and the file it belongs in; an empty path is standard output.

    `guarded` ones are not written over a file that tilewright did not generate.
    """

    path: str
    text: str
    guarded: bool = True


def emit_list(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The artefacts asked for, each once, in one fixed order."""
    asked = [word.strip() for word in arguments.emit.split(",")]
    for word in asked:
        if word not in EMITS:
            raise BadCommandLine(f"--emit: unknown artefact '{word}' (choose from {', '.join(EMITS)})")
    return tuple(e for e in EMITS if e in asked)


def check_outputs(arguments: argparse.Namespace) -> None:
    """Complain before any work is done about outputs that cannot be."""
    emits = emit_list(arguments)
    named = arguments.output not in (None, "-")
    target = target_named(arguments.target)
    if _several(target) and not named:
        raise BadCommandLine(f"--target {target.name} writes several files: name them with -o NAME.c")
    if arguments.keep_original and not target.keeps_original:
        raise BadCommandLine(f"--keep-original is not needed for --target {target.name}: -DTW_SERIAL does the same")
    check_dispatch(arguments)
    if "harness" in emits and "harness" not in target.endings:
        able = ", ".join(n for n in target_names() if "harness" in target_named(n).endings)
        raise BadCommandLine(f"--emit harness is for --target {able}")
    if "header" in emits and language_of(arguments.file) is CXX:
        raise BadCommandLine("--emit header is for C files")
    if not named and len(emits) > 1:
        raise BadCommandLine("several artefacts need -o: standard output holds only one")
    if (arguments.mf or arguments.mt or arguments.mp) and not arguments.md:
        raise BadCommandLine("-MF, -MT and -MP need -MD")
    if arguments.md and not named and not (arguments.mf and arguments.mt):
        raise BadCommandLine("-MD without -o needs -MF and -MT")
    reads = [p for p in (arguments.file, arguments.plan, arguments.machine, arguments.isa) if p and os.path.isfile(p)]
    writes = _written(arguments, emits) if named else []
    for path in [*writes, *([depfile_path(arguments)] if arguments.md else [])]:
        if os.path.exists(path) and any(os.path.samefile(path, r) for r in reads):
            raise BadCommandLine(f"'{path}' is an input and would be overwritten: choose another name for the output")


def check_dispatch(arguments: argparse.Namespace) -> None:
    """Complain about --dispatch where there is nothing to choose among."""
    if not arguments.dispatch:
        return
    if not target_named(arguments.target).dispatches:
        able = ", ".join(n for n in target_names() if target_named(n).dispatches)
        raise BadCommandLine(f"--dispatch is for --target {able}")
    if arguments.machine != GenOptions().machine or arguments.isa:
        raise BadCommandLine("--dispatch is for code of no processor in particular: leave out --machine and --isa")
    if language_of(arguments.file) is CXX:
        raise BadCommandLine("--dispatch is for C files")


def _written(arguments: argparse.Namespace, emits: tuple[str, ...]) -> list[str]:
    """Every file that a run will write, depfiles apart."""
    target = target_named(arguments.target)
    if not _several(target):
        return [path_of(e, arguments.output, emits) for e in emits]
    stem = target.stem(arguments.output)
    return [f"{stem}{end}" for e in emits for end in target.endings.get(e, (_EXTENSIONS[e],))]


def _several(target: Target) -> bool:
    """Is code for it more than one file?"""
    return len(target.endings["c"]) > 1


def path_of(emit: str, output: str, emits: tuple[str, ...]) -> str:
    """Where an artefact goes: OUT.c, OUT.plan, OUT.report.txt. A lone artefact may have any other name."""
    if emit == "c" or (len(emits) == 1 and not ending_of(output)):
        return output
    return stem_of(output) + _EXTENSIONS[emit]


def depfile_path(arguments: argparse.Namespace) -> str:
    """-MF, or the output with its extension replaced as gcc does it."""
    return str(arguments.mf or os.path.splitext(arguments.output)[0] + ".d")


def outputs(job: Invocation, made: Generated) -> tuple[Artefact, ...]:
    """The artefacts with their texts and places."""
    from codegen.cli.output.report import report_text

    emits = emit_list(job.arguments)
    output = job.arguments.output or "-"
    if _several(target_named(job.options.target)):
        return _several_outputs(job, made, emits, output)
    header = _header(job) if "header" in emits else ""
    texts = {"c": made.text, "header": header, "plan": marked_plan(made.plan), "report": report_text(job, made)}
    # Without the banner nothing marks the C file as ours, so the guard could only ever be in the way.
    guarded = {"c": job.options.banner, "header": True, "plan": True, "report": True}
    return tuple(
        Artefact("" if output == "-" else path_of(e, output, emits), texts[e], guarded[e]) for e in emits
    )


def _several_outputs(job: Invocation, made: Generated, emits: tuple[str, ...], output: str) -> tuple[Artefact, ...]:
    """The main file and its companions, NAME_master.c, NAME_slave.c and so on, and what else was asked for."""
    from codegen.cli.output.report import report_text

    endings = target_named(job.options.target).endings
    stem, program = target_named(job.options.target).stem(output), endings["c"]
    texts = {program[0]: made.text, **dict(made.extra.files)}
    out: list[Artefact] = []
    if "c" in emits or "harness" in emits:
        out += [Artefact(f"{stem}{ending}", texts[ending], job.options.banner) for ending in program]
    if "plan" in emits:
        out.append(Artefact(f"{stem}.plan", marked_plan(made.plan)))
    if "header" in emits:
        out.append(Artefact(f"{stem}.h", _header(job)))
    if "harness" in emits:
        out += [Artefact(f"{stem}{ending}", texts[ending]) for ending in endings["harness"] if ending not in program]
    if "report" in emits:
        out.append(Artefact(f"{stem}.report.txt", f"{report_text(job, made)}\n{made.extra.report}\n"))
    return tuple(out)


def marked_plan(plan: str) -> str:
    """A plan says it is ours, so that one the user has made their own is not written over."""
    if GENERATED in plan:
        return plan
    return f"# {GENERATED}; delete this line to keep your edits\n{plan}"


def _header(job: Invocation) -> str:
    from codegen.report.header import header_text

    return header_text(job.name, job.text, job.options)


def depfile_of(job: Invocation, headers: tuple[str, ...], written: tuple[str, ...]) -> tuple[Artefact, ...]:
    """The depfile when -MD asks for one: every file read, one rule for all outputs."""
    if not job.arguments.md:
        return ()
    from codegen.machine.load import is_file  # only then: start-up time counts in a build
    from codegen.source.depfile import depfile

    named = [job.arguments.plan] if job.arguments.plan else []
    named += [job.arguments.machine] if is_file(job.arguments.machine) else []
    named += [job.arguments.isa] if is_file(job.arguments.isa) else []
    if job.arguments.database:
        from codegen.cli.cc.database import database_path

        named.append(database_path(job.arguments.database))
    source = [job.arguments.file] if job.arguments.file != "-" else []
    targets = job.arguments.mt or written
    text = depfile(targets, [*source, *named, *headers], job.arguments.mp, quote_targets=not job.arguments.mt)
    return (Artefact(depfile_path(job.arguments), text, guarded=False),)
