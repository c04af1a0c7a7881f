"""The command: dispatch, and the only place that prints messages and chooses the exit status."""
from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

from codegen import __version__
from codegen.cli import exitcodes
from codegen.cli.argv import BadCommandLine, normalize
from codegen.cli.commands import COMMANDS, Subcommand, find
from codegen.cli.ineffective import ineffective
from codegen.cli.job import Invocation, Outcome, filters, has_errors, one_by_one, read_job, style
from codegen.diagnostics import Diagnostic, InternalError, TilewrightError
from codegen.filters import select
from codegen.render import Style, render


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status; never raises."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(words)
        sys.stdout.flush()
        return code
    except SystemExit as stop:  # argparse, after --help
        return _quiet_flush(stop.code if isinstance(stop.code, int) else exitcodes.OK)
    except BadCommandLine as error:
        of = f" {words[0]}" if words and find(words[0]) is not None else ""
        sys.stderr.write(f"tilewright: error: {error}\ntilewright: note: see tilewright{of} --help\n")
        return exitcodes.BAD_COMMAND_LINE
    except KeyboardInterrupt:
        sys.stderr.write("tilewright: interrupted\n")
        return exitcodes.INTERRUPTED
    except BrokenPipeError:
        return _quiet_flush(exitcodes.BROKEN_PIPE)
    except TilewrightError as error:  # standard output cannot be written
        sys.stderr.write(f"tilewright: error: {error.message} [{error.id}]\n")
        return exitcodes.BAD_INPUT


def _quiet_flush(code: int) -> int:
    """Flush what is left; a reader that went away must not make the interpreter complain at exit."""
    try:
        sys.stdout.flush()
        return code
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return exitcodes.BROKEN_PIPE
        sys.stderr.write(f"tilewright: error: cannot write standard output: {error.strerror} [cannot-write]\n")
        return exitcodes.BAD_INPUT


def _dispatch(words: list[str]) -> int:
    words = normalize(words)
    if not words:
        raise BadCommandLine("no command given: " + ", ".join(c.name for c in COMMANDS))
    if words[0] in ("-h", "--help", "help"):
        print_artefact(_overview())
        return exitcodes.OK
    if words[0] in ("-V", "--version"):
        print_artefact(f"tilewright {__version__}\n")
        return exitcodes.OK
    if words[0].startswith("--print-"):
        from codegen.cli.shell.printing import answer

        text = answer(words)
        if text is not None:
            print_artefact(text)
            return exitcodes.OK
    command = find(words[0])
    if command is None:
        raise BadCommandLine(_unknown_command(words[0]))
    from codegen.cli.parser import parse

    return _run(command, parse(command, words[1:]), words)


def _overview() -> str:
    from codegen.cli.shell.printing import PRINTS

    rows = "".join(f"  {c.name:9} {c.summary}\n" for c in COMMANDS)
    prints = "".join(f"  {p.spelling:34} {p.help}\n" for p in PRINTS)
    return (
        "usage: tilewright COMMAND [options]\n\n"
        "C with marked loop nests in; proven, tiled, parallel C out.\n\n"
        f"{rows}\nFor build systems and shells:\n{prints}\n"
        "tilewright COMMAND --help shows a command's options; tilewright --version the version.\n"
    )


def _unknown_command(word: str) -> str:
    import difflib  # only then: start-up time counts in a build

    from codegen.cli.shell.printing import PRINTS

    known = [*(c.name for c in COMMANDS), *(p.flag for p in PRINTS)]
    close = difflib.get_close_matches(word, known, n=1)
    kind = "option" if word.startswith("-") else "command"
    return f"unknown {kind} '{word}'" + (f"; did you mean '{close[0]}'?" if close else "")


def _run(command: Subcommand, arguments: argparse.Namespace, words: list[str]) -> int:
    """Run the subcommand for each of its inputs, print artefacts and messages, once each; the first failure counts."""
    early = ineffective(arguments)
    if has_errors(select(early, filters(arguments))):
        show(arguments, {}, early)
        return exitcodes.BAD_INPUT
    singles = one_by_one(command, arguments)
    if command.together:
        done = _perform_together(command, singles, words)
    else:
        done = [_perform(command, single, words) for single in singles]
    later = (d for _, o in done for d in o.diagnostics)
    show(arguments, {job.name: job.text for job, _ in done}, (*early, *later))
    show_tables(arguments, (o.table for _, o in done))
    return next((o.code for _, o in done if o.code), exitcodes.OK)


def _perform(command: Subcommand, arguments: argparse.Namespace, words: list[str]) -> tuple[Invocation, Outcome]:
    job = Invocation(command, arguments)
    try:
        job = read_job(command, arguments)
        outcome = with_evidence(job, words, cast(Outcome, importlib.import_module(command.module).run(job)))
        print_artefact(outcome.stdout)
    except InternalError as error:
        outcome = crash(job, words, error)
    except TilewrightError as error:
        outcome = Outcome(exitcodes.BAD_INPUT, diagnostics=(error.diagnostic(),))
    except (BadCommandLine, BrokenPipeError):
        raise
    except Exception as error:
        outcome = crash(job, words, error)
    return job, outcome


def _perform_together(
    command: Subcommand, singles: list[argparse.Namespace], words: list[str]
) -> list[tuple[Invocation, Outcome]]:
    """All inputs that can be read, in one run."""
    done = [(Invocation(command, single), Outcome()) for single in singles]
    ready: list[int] = []
    for k, single in enumerate(singles):
        try:
            done[k] = read_job(command, single), Outcome()
            ready.append(k)
        except TilewrightError as error:
            done[k] = Invocation(command, single), Outcome(exitcodes.BAD_INPUT, diagnostics=(error.diagnostic(),))
    try:
        outcomes = importlib.import_module(command.module).run_all([done[k][0] for k in ready])
        for k, outcome in zip(ready, outcomes, strict=True):
            done[k] = done[k][0], with_evidence(done[k][0], words, outcome)
            print_artefact(outcome.stdout)
    except TilewrightError as error:
        internal = isinstance(error, InternalError)
        last = crash(done[0][0], words, error) if internal else Outcome(1, diagnostics=(error.diagnostic(),))
        done.append((Invocation(command, singles[0]), last))
    except (BadCommandLine, BrokenPipeError):
        raise
    except Exception as error:
        done.append((done[0][0], crash(done[0][0], words, error)))
    return done


def with_evidence(job: Invocation, words: list[str], outcome: Outcome) -> Outcome:
    """The outcome with the evidence saved of faults that have left regions as they were."""
    if not any(n.trace for d in outcome.diagnostics for n in d.notes):
        return outcome
    from codegen.cli.output.failure import reported

    messages, trace = reported(job, words, outcome.diagnostics)
    if job.arguments.debug and vars(job.arguments).get("diagnostics_format", "text") == "text":
        sys.stderr.write(trace)
    return replace(outcome, diagnostics=messages)


def crash(job: Invocation, words: list[str], error: Exception) -> Outcome:
    """One line as text, or a message in the document when the stream holds JSON or SARIF."""
    from codegen.cli.output.failure import internal_error

    message, trace = internal_error(job, words, error)
    if vars(job.arguments).get("diagnostics_format", "text") != "text":
        return Outcome(exitcodes.INTERNAL, diagnostics=(message,))
    sys.stderr.write((trace if job.arguments.debug else "") + f"tilewright: {message.message}\n")
    return Outcome(exitcodes.INTERNAL)


def print_artefact(text: str) -> None:
    """Write bytes to standard output, so that neither the locale nor the platform's line ends have a say. Raises
    InputError where it cannot be written."""
    if not text:
        return
    from codegen.diagnostics import InputError, Loc
    from codegen.source.encoding import encode

    try:
        stream = getattr(sys.stdout, "buffer", None)
        if stream is None:
            sys.stdout.write(text)
        else:
            sys.stdout.flush()
            stream.write(encode(text))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise InputError("cannot-write", f"cannot write standard output: {error.strerror}", Loc("tilewright")) from None


def show(arguments: argparse.Namespace, sources: dict[str, str], diagnostics: tuple[Diagnostic, ...]) -> None:
    """Print the messages that the command line asks for; `sources` are the texts they point into."""
    kept = vars(arguments).get("diagnostics_file")
    if kept:
        from codegen.source.write import write_if_changed

        form = "sarif" if kept.endswith(".sarif") else "json"
        write_if_changed(kept, render(diagnostics, Style(form)), force=True)
    text = render(select(diagnostics, filters(arguments)), style(arguments, sources))
    sys.stderr.write(text.encode("utf-8", "replace").decode("utf-8"))


def show_tables(arguments: argparse.Namespace, tables: Iterable[str]) -> None:
    """Print what is for people alone: not with -q, and not into a JSON or SARIF document."""
    values = vars(arguments)
    if values.get("diagnostics_format", "text") == "text" and not values.get("quiet", False):
        sys.stderr.write("".join(tables).encode("utf-8", "replace").decode("utf-8"))
