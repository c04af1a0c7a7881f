"""Turns a parsed command line into an immutable `Invocation` (source text, `GenOptions`), one for each input, and
checks combinations of options (BadCommandLine); `Outcome` is what a subcommand returns."""
from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from dataclasses import field, replace

from codegen.cli.argv import BadCommandLine
from codegen.cli.commands import Subcommand
from codegen.diagnostics import Diagnostic, Severity
from codegen.filters import KINDS, Filters
from codegen.options import CppOptions, GenOptions
from codegen.record import record
from codegen.render import Style, want_color
from codegen.source.language import check_language, stem_of
from codegen.targets.registry import target_named


@record
class Invocation:
    """One run. `name` is the file as messages call it; `text` its content, empty where no file is read."""

    command: Subcommand
    arguments: argparse.Namespace
    name: str = ""
    text: str = ""
    options: GenOptions = field(default_factory=GenOptions)


@record
class Outcome:
    """What a subcommand leaves for main to do: print `stdout`, show the messages and below them `table`, exit."""

    code: int = 0
    stdout: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    table: str = ""


def one_by_one(command: Subcommand, arguments: argparse.Namespace) -> list[argparse.Namespace]:
    """A command line for each input; where something is written, several go into a folder, each under its own name."""
    values = vars(arguments)
    if not isinstance(values.get("file"), list):
        return [arguments]
    if "output" not in values:
        several = len(values["file"]) > 1
        return [argparse.Namespace(**values | {"file": f, "several": several}) for f in values["file"]]
    files, output = values["file"], values["output"] or ""
    if not output.endswith("/") and (len(files) == 1 or not os.path.isdir(output)):
        if len(files) > 1:
            raise BadCommandLine("several inputs need -o FOLDER, one that exists or a name that ends in '/'")
        return [argparse.Namespace(**values | {"file": files[0]})]
    names = [os.path.basename(f) for f in files]
    for name in names:
        if name == "-" or names.count(name) > 1:
            what = "standard input has no name" if name == "-" else f"two inputs are called '{name}'"
            raise BadCommandLine(f"{what}, so they cannot be written to a folder")
    if len(files) > 1 and (values.get("mf") or values.get("mt")):
        raise BadCommandLine("-MF and -MT are for one input")
    try:
        os.makedirs(output, exist_ok=True)
    except OSError as error:
        raise BadCommandLine(f"cannot make the folder '{output}': {error.strerror}") from None
    names = [stem_of(n) + command.extension if command.extension else n for n in names]
    several = len(files) > 1
    return [argparse.Namespace(**values | {"file": f, "output": os.path.join(output, n), "several": several})
            for f, n in zip(files, names, strict=True)]


def read_job(command: Subcommand, arguments: argparse.Namespace) -> Invocation:
    """The job for a command line; reads the source and the plan. InputError when one cannot be read."""
    if not command.reads_source:
        return Invocation(command, arguments)
    from codegen.plan.files import read_plan
    from codegen.source.write import read_source

    check_combinations(arguments)
    text = read_source(arguments.file)
    check_language(input_name(arguments), text)
    named = vars(arguments).get("plan")
    plan = read_plan(named) if named else None
    options = gen_options(arguments, plan)
    target_named(options.target).check_options(options)
    return Invocation(command, arguments, input_name(arguments), text, options)


def check_combinations(arguments: argparse.Namespace) -> None:
    """Complain about options that are each right but make no sense together, or that do not parse."""
    if arguments.cpp is not None and arguments.no_cpp:
        raise BadCommandLine("--cpp and --no-cpp exclude each other")
    if vars(arguments).get("database") and arguments.no_cpp:
        raise BadCommandLine("-p and --no-cpp exclude each other")
    if arguments.cpp is not None and not _split(arguments.cpp):
        raise BadCommandLine("--cpp needs a command")
    if vars(arguments).get("auto") and (arguments.no_cpp or not target_named(arguments.target).in_parts):
        other = "--no-cpp" if arguments.no_cpp else f"--target {arguments.target}"
        raise BadCommandLine(f"--auto and {other} exclude each other")
    for folder in vars(arguments).get("plan_path", ()):
        if not os.path.isdir(folder):
            raise BadCommandLine(f"--plan-path: there is no folder '{folder}'")
    if vars(arguments).get("plan") == "-":
        raise BadCommandLine("a plan cannot come from standard input")
    for pattern in (*arguments.rpass, *arguments.rpass_missed, *arguments.rpass_analysis):
        try:
            re.compile(pattern)
        except re.error as error:
            raise BadCommandLine(f"'{pattern}' is not a regular expression: {error}") from None


def _split(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise BadCommandLine(f"--cpp: {str(error).lower()}") from None


def input_name(arguments: argparse.Namespace) -> str:
    """What messages call the source file."""
    if arguments.input_name:
        return str(arguments.input_name)
    return "<stdin>" if arguments.file == "-" else str(arguments.file)


def gen_options(arguments: argparse.Namespace, plan: str | None) -> GenOptions:
    command = _split(arguments.cpp) if arguments.cpp else ()
    rest = GenOptions()
    values = vars(arguments)
    return GenOptions(
        target=arguments.target,
        machine=arguments.machine,
        isa=arguments.isa,
        plan_text=plan,
        plan_name=values.get("plan") or "<plan>",
        plan_paths=tuple(values.get("plan_path", ())),
        reassociate=arguments.reassociate,
        check_alias=arguments.check_alias,
        assume_no_alias=arguments.assume_no_alias,
        fp_contract=values.get("fp_contract", rest.fp_contract),
        fusion=values.get("fusion", rest.fusion),
        context=arguments.context,
        line_directives=values.get("line", "none") != "none",
        line_statements=values.get("line") == "statements",
        prefix_map=tuple(values.get("prefix_map", ())),
        require_isa=values.get("require_isa", False),
        banner=not values.get("no_banner", False),
        version=not values.get("no_version", False),
        dispatch=values.get("dispatch", False),
        keep_original=values.get("keep_original", False),
        prefix=values.get("prefix", rest.prefix),
        timeout=arguments.timeout,
        threads=values.get("threads", rest.threads),
        network=values.get("network", rest.network),
        distribute=values.get("distribute", rest.distribute),
        comm=values.get("comm", rest.comm),
        ldm_cache=values.get("ldm_cache", rest.ldm_cache),
        scheme=values.get("scheme", rest.scheme),
        arrays=values.get("arrays", rest.arrays),
        device=values.get("device", rest.device),
        stem=_stem(arguments),
        auto=values.get("auto", False),
        cpp=_cpp(arguments, command),
    )


def _cpp(arguments: argparse.Namespace, command: tuple[str, ...]) -> CppOptions:
    """The build's flags first, if -p names them, so that the command line's own count."""
    own = tuple(arguments.cpp_args)
    if not vars(arguments).get("database"):
        return CppOptions(command, own, not arguments.no_cpp)
    from codegen.cli.cc.database import flags_for

    found = flags_for(arguments.database, arguments.file)
    return replace(found, command=command or found.command, args=(*found.args, *own))


def _stem(arguments: argparse.Namespace) -> str:
    """What the names of generated files begin with, where one file mentions another."""
    output = vars(arguments).get("output") or ""
    name = os.path.basename(output if output not in ("", "-") else arguments.file)
    name = stem_of(target_named(arguments.target).stem(name) if "target" in arguments else name)
    return name if name not in ("", "-") else "region"


def filters(arguments: argparse.Namespace) -> Filters:
    """What to show; commands without such options show everything but remarks."""
    values = vars(arguments)
    patterns = zip(KINDS, ("rpass", "rpass_missed", "rpass_analysis"), strict=True)
    remarks = tuple((kind, p) for kind, name in patterns for p in values.get(name, ()))
    return Filters(
        warnings=tuple(values.get("warnings", ())), no_warnings=values.get("no_warnings", False),
        quiet=values.get("quiet", False), verbose=values.get("verbose", False), remarks=remarks,
    )


def style(arguments: argparse.Namespace, sources: dict[str, str]) -> Style:
    """How to show it, on this standard error."""
    values = vars(arguments)
    color = want_color(values.get("color", "auto"), sys.stderr.isatty(), os.environ)
    return Style(values.get("diagnostics_format", "text"), color, values.get("error_limit", 10), sources)


def has_errors(diagnostics: tuple[Diagnostic, ...]) -> bool:
    return any(d.severity is Severity.ERROR for d in diagnostics)
