"""`tilewright-cc gcc -c x.c -o x.o`: the compiler, given the generated text in place of sources with marked regions.

For builds whose rules cannot be changed: CC='tilewright-cc gcc', CXX='tilewright-cc g++'. Everything but sources with
`#pragma scop`, or with --auto those with loops, goes to the compiler as it is; its messages and exit status are the
wrapper's.
"""
from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen import __version__
from codegen.cli import exitcodes
from codegen.cli.argv import BadCommandLine, expand
from codegen.cli.cc.ccline import CcLine, parse
from codegen.cli.wrap.source_folder import source_folder
from codegen.startup.streams import open_streams

if TYPE_CHECKING:
    from codegen.cli.job import Invocation
    from codegen.source.language import Language

_USAGE = """\
usage: tilewright-cc [--auto] [OPTIONS --] COMPILER ARGUMENT...

Runs the compiler; C and C++ sources with `#pragma scop` are replaced by what `tilewright gen OPTIONS` makes of them,
and with --auto all sources with loops that gain by it. OPTIONS may also stand in the environment variable
TILEWRIGHT_FLAGS.
"""
_MARK = re.compile(rb"pragma\s+scop\b")
_LOOP = re.compile(rb"\bfor\b")
_REGION = re.compile(r"^[ \t]*/\* tilewright: region \d+ of ", re.M)
_CANNOT_RUN = 127  # as a shell says it


def main(argv: Sequence[str] | None = None) -> int:
    """Run the compiler, and return its exit status."""
    open_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    if words == ["--version"]:
        return _said(f"tilewright-cc {__version__}\n")
    if not words:
        sys.stderr.write(_USAGE)
        return exitcodes.BAD_COMMAND_LINE
    if words[0] in ("-h", "--help"):
        return _said(_USAGE)
    try:
        own, command = _split(words)
        line = parse([command[0], *expand(command[1:])])
        marked = [name for name in line.c_inputs if _has(name, _LOOP if "--auto" in own else _MARK)]
        if marked and len({os.path.dirname(name) for name in line.c_inputs}) > 1:
            # -iquote holds for all files of a command, so one could find the headers of another.
            text = "sources of several folders in one command; compile them one by one"
            if any(_has(name, _MARK) for name in marked):
                raise BadCommandLine(text)
            sys.stderr.write(f"tilewright-cc: warning: nothing is transformed: {text}\n")
            marked = []
        return _wrapped(line, marked, own) if marked else _replace_self(command)
    except BadCommandLine as error:
        sys.stderr.write(f"tilewright-cc: error: {error}\n")
        return exitcodes.BAD_COMMAND_LINE
    except OSError as error:
        sys.stderr.write(f"tilewright-cc: error: cannot run {error.filename}: {error.strerror}\n")
        return _CANNOT_RUN
    except KeyboardInterrupt:
        return exitcodes.INTERRUPTED


def _said(text: str) -> int:
    """Print an answer; the exit status."""
    from codegen.cli.main import print_artefact
    from codegen.diagnostics import InputError

    try:
        print_artefact(text)
        return exitcodes.OK
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exitcodes.BROKEN_PIPE
    except InputError as error:
        sys.stderr.write(f"tilewright-cc: error: {error.message} [{error.id}]\n")
        return exitcodes.BAD_INPUT


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """Our options (the environment's first), and the compiler's command."""
    try:
        own = shlex.split(os.environ.get("TILEWRIGHT_FLAGS", ""))
    except ValueError as error:
        raise BadCommandLine(f"TILEWRIGHT_FLAGS: {str(error).lower()}") from None
    while words[0] == "--auto" and len(words) > 1:  # before the compiler's name it needs no `--`
        own, words = [*own, words[0]], words[1:]
    if not words[0].startswith("-"):
        return own, words
    if "--" not in words or words.index("--") == len(words) - 1:
        raise BadCommandLine("options of tilewright end with `--`, and the compiler's command follows")
    at = words.index("--")
    return [*own, *words[:at]], words[at + 1:]


def _has(name: str, what: re.Pattern[bytes]) -> bool:
    try:
        with open(name, "rb") as stream:
            return what.search(stream.read()) is not None
    except OSError:  # the compiler will say so
        return False


def _replace_self(command: list[str]) -> int:
    sys.stdout.flush()
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise OSError(error.errno, error.strerror, command[0]) from None


def _wrapped(line: CcLine, marked: list[str], own: list[str]) -> int:
    """Generate into a folder of our own, compile from there, and put the original's name into depfiles."""
    texts: dict[str, bytes] = {}
    reads: dict[str, tuple[str, ...]] = {}
    for name in dict.fromkeys(marked):
        made = _generated(line, name, own)
        if isinstance(made, int):
            return made
        if made is not None:
            texts[name], reads[name] = made
    with source_folder((name.encode("utf-8", "surrogateescape"), text) for name, text in texts.items()) as folder:
        renamed: dict[str, str] = {}
        for index, (name, text) in enumerate(texts.items()):
            # The same last name, because objects, depfiles and temporaries of the compiler are called after it.
            renamed[name] = os.path.join(folder, str(index), os.path.basename(name))
            os.mkdir(os.path.dirname(renamed[name]))
            with open(renamed[name], "wb") as stream:
                stream.write(text)
        code = _compile(line, renamed)
        for depfile in line.depfiles():
            _name_originals(depfile, renamed, reads)
    return code


def _generated(line: CcLine, name: str, own: list[str]) -> tuple[bytes, tuple[str, ...]] | int | None:
    """The text and what else was read for it; an exit status on failure; None where the source goes to the compiler,
    which says what is wrong with it, if anything is."""
    from codegen.cli import gen
    from codegen.cli import main as command
    from codegen.cli.argv import normalize
    from codegen.cli.commands import find
    from codegen.cli.ineffective import ineffective
    from codegen.cli.job import Invocation, Outcome, one_by_one, read_job
    from codegen.cli.parser import parse as parse_own
    from codegen.diagnostics import Severity, TilewrightError
    from codegen.source.encoding import encode
    from codegen.source.language import language_of
    from codegen.targets.registry import host

    chosen = find("gen")
    assert chosen is not None
    own = _for_language(normalize(own), language_of(name, line.language(name)), name)
    target = () if any(w.partition("=")[0] == "--target" for w in own) else ("--target", host(line.openmp))
    words = ["--line=regions", *target, *own, "--", name]
    (arguments,) = one_by_one(chosen, parse_own(chosen, words))
    if arguments.output or arguments.md or arguments.emit != "c":
        raise BadCommandLine("-o, --emit and -MD are decided by the compiler's command line")
    job = Invocation(chosen, arguments)
    try:
        job = _as_compiled(read_job(chosen, arguments), line, name)
        outcome = gen.run(job)
    except BadCommandLine:
        raise
    except TilewrightError as error:
        if error.id in ("preprocess-failed", "no-preprocessor"):
            return None
        if arguments.auto and not _MARK.search(encode(job.text)):  # what nobody asked for stops no build
            command.show(arguments, {job.name: job.text}, (error.diagnostic(Severity.WARNING),))
            return None
        outcome = Outcome(exitcodes.BAD_INPUT, diagnostics=(error.diagnostic(),))
    except Exception as error:
        outcome = command.crash(job, words, error)
    command.show(arguments, {job.name: job.text}, (*ineffective(arguments), *outcome.diagnostics))
    command.show_tables(arguments, (outcome.table,))
    if outcome.code != exitcodes.OK:
        return exitcodes.INTERNAL if outcome.code == exitcodes.INTERNAL else exitcodes.BAD_INPUT
    if arguments.auto and not _MARK.search(encode(job.text)) and not _REGION.search(outcome.stdout):
        return None  # nothing gains
    named = [p for p in (arguments.plan, arguments.machine, arguments.isa) if p and os.path.isfile(p)]
    return encode(_with_own_lines(outcome.stdout, name)), tuple(named)


def _for_language(own: list[str], language: Language, name: str) -> list[str]:
    """The options that a source of this language may have: those of the environment are for all sources of a build."""
    from codegen.source.language import C

    if language is C or "--dispatch" not in own:
        return own
    sys.stderr.write(f"tilewright-cc: warning: {name}: no --dispatch, which is for C files\n")
    return [w for w in own if w != "--dispatch"]


def _as_compiled(job: Invocation, line: CcLine, name: str) -> Invocation:
    """The job with the preprocessor, its flags and the language of the compiler's command line."""
    from codegen.options import CppOptions

    cpp = job.options.cpp
    if cpp.enabled and not cpp.command:
        cpp = CppOptions(line.preprocessor(), cpp.args)
    cpp = replace(cpp, language=line.language(name))
    return replace(job, options=replace(job.options, cpp=cpp, line_name=name))


def _with_own_lines(text: str, name: str) -> str:
    """Call generated lines of x.c x.tw.c, numbered as `gen --line` prints them.

    Otherwise they would count on from the source's lines, and messages and breakpoints would point at innocent ones.
    """
    from codegen.source.layout.linemap import quote

    stem, ending = os.path.splitext(name)
    own = quote(f"{stem}.tw{ending}")
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines) if i == 0 or _REGION.match(line)]
    for i in reversed(starts):
        lines.insert(i, f"#line {i + 1} {own}")
    return "\n".join(lines)


def _compile(line: CcLine, renamed: dict[str, str]) -> int:
    extra: list[str] = []
    for name, made in renamed.items():
        beside = os.path.dirname(name) or "."
        extra += ["-iquote", beside]
        if line.debug:
            extra.append(f"-fdebug-prefix-map={os.path.dirname(made)}={beside}")
    sys.stderr.flush()
    code = subprocess.run(line.with_inputs(renamed, extra), check=False).returncode
    return code if code >= 0 else 128 - code


def _name_originals(depfile: str, renamed: dict[str, str], reads: dict[str, tuple[str, ...]]) -> None:
    """Put the source, and what the generator read besides, where the depfile names the generated file."""
    from codegen.source.depfile import escape

    if not os.path.isfile(depfile):
        return
    with open(depfile, encoding="utf-8", errors="surrogateescape") as stream:
        text = old = stream.read()
    for name, made in renamed.items():
        text = text.replace(escape(made), " ".join(map(escape, (name, *reads[name]))))
    if text != old:
        with open(depfile, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)


if __name__ == "__main__":
    sys.exit(main())
