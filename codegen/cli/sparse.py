"""`tilewright sparse convert|kernel|formats`: generates a C function that converts one sparse format to another, or a
kernel for a tensor expression over sparse formats; or lists the formats, or prints the descriptor of one."""
from __future__ import annotations

import os
import re

from codegen.cli.argv import BadCommandLine
from codegen.cli.job import Invocation, Outcome
from codegen.cli.output.artefacts import Artefact
from codegen.cli.output.writing import write_all
from codegen.source.layout.lexis import KEYWORDS
from codegen.sparse.emit.file import CFile
from codegen.sparse.formats.model import Descriptor


def run(job: Invocation) -> Outcome:
    """The three actions."""
    _check_options(job)
    return {"convert": _convert, "kernel": _kernel, "formats": _formats}[job.arguments.action](job)


# Options that are for one action.
_OWN = {
    "source_format": ("--from", "convert"), "target_format": ("--to", "convert"), "explain": ("--explain", "convert"),
    "no_optimize": ("--no-optimize", "convert"), "check_input": ("--check-input", "convert"),
    "parallel": ("--parallel", "convert"),  # kernels use threads whenever they are compiled with OpenMP
    "formats": ("--format", "kernel"), "convert": ("--convert", "kernel"), "semiring": ("--semiring", "kernel"),
}  # fmt: skip


def _check_options(job: Invocation) -> None:
    """Complain about options that another action has."""
    a = job.arguments
    for name, (flag, action) in _OWN.items():
        given = name in vars(a).get("given", {}) if name == "semiring" else getattr(a, name)
        if given and a.action != action:
            raise BadCommandLine(f"{flag} goes with sparse {action}")


def _formats(job: Invocation) -> Outcome:
    from codegen.sparse.formats.builtin import FAMILIES
    from codegen.sparse.formats.load import load

    if job.arguments.expression:
        return Outcome(stdout=load(job.arguments.expression).text)
    rows = [f"{name:8} rank {', '.join(map(str, ranks)):10} {about}\n"
            for name, (_, ranks, _, _, about) in FAMILIES.items()]
    notes = ("\nA rank other than the usual one follows the name (COO3, CSF4), block sizes a colon (BCSR:3x2).\n"
             "`tilewright sparse formats NAME` prints a descriptor; a file with one works wherever a name does.\n")
    return Outcome(stdout="".join(rows) + notes)


def _convert(job: Invocation) -> Outcome:
    from codegen.sparse.api import Options, convert
    from codegen.sparse.emit.types import Types
    from codegen.sparse.formats.load import load

    a = job.arguments
    if not a.source_format or not a.target_format:
        raise BadCommandLine("sparse convert needs --from and --to")
    if a.expression:
        raise BadCommandLine(f"unexpected argument '{a.expression}'")
    options = Options(Types(a.values, a.indices), a.duplicates, not a.no_optimize, function_name(a.function_name),
                      a.parallel, a.check_input)
    made = convert(load(a.source_format), load(a.target_format), options, header_of(a.output))
    if a.explain:
        from codegen.sparse.explain import explain

        return Outcome(stdout=explain(made))
    return deliver(job, made.file)


def _kernel(job: Invocation) -> Outcome:
    from codegen.sparse.api import Options
    from codegen.sparse.emit.types import Types
    from codegen.sparse.kernels.compose import kernel_file

    a = job.arguments
    if not a.expression:
        raise BadCommandLine("sparse kernel needs an expression, such as 'y(i) = A(i,j)*x(j)'")
    options = Options(Types(a.values, a.indices), a.duplicates, True, function_name(a.function_name),
                      semiring=a.semiring)
    made = kernel_file(a.expression, _named(a.formats, "--format"), options, header_of(a.output),
                       _named(a.convert, "--convert"))
    return deliver(job, made.file)


def _named(words: list[str], option: str) -> dict[str, Descriptor]:
    from codegen.sparse.formats.load import load

    out = {}
    for word in words:
        name, sign, fmt = word.partition("=")
        if not sign or not name.isidentifier():
            raise BadCommandLine(f"{option} takes TENSOR=FORMAT, not '{word}'")
        if name in out:
            raise BadCommandLine(f"{option}: tensor {name} is given twice")
        out[name] = load(fmt)
    return out


def function_name(name: str | None) -> str:
    if name is not None and (not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or name in KEYWORDS):
        raise BadCommandLine(f"--name: '{name}' is no C identifier")
    return name or ""


def header_of(output: str | None) -> str:
    """The header beside OUT.c; on standard output everything is in one text."""
    return os.path.basename(_header_path(output)) if output and output != "-" else ""


def _header_path(output: str) -> str:
    return output.removesuffix(".c") + ".h"


def deliver(job: Invocation, file: CFile) -> Outcome:
    output = job.arguments.output
    if not output or output == "-":
        return Outcome(stdout=file.source)
    write_all([Artefact(output, file.source), Artefact(_header_path(output), file.header)], job.arguments.force)
    return Outcome()
