"""Internal errors: makes the one-line message for the user, and saves a folder with all that is needed to repeat the
run: input, plan, command line and traceback."""
from __future__ import annotations

import os
import platform
import shlex
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import replace

from codegen import __version__
from codegen.cli.job import Invocation
from codegen.diagnostics import Diagnostic, InternalError, Loc, Severity
from codegen.source.encoding import encode


def internal_error(job: Invocation, words: list[str], error: Exception) -> tuple[Diagnostic, str]:
    """The message for a fault of the tool, and its traceback; saves the reproducer."""
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    saved = _save(job, words, trace)
    where = error.loc if isinstance(error, InternalError) else Loc("tilewright")
    message = f"internal error: {_one_line(error)}; please report (tilewright {__version__}); {_kept(saved)}"
    return Diagnostic(Severity.ERROR, "internal-error", message, where), trace


def reported(
    job: Invocation, words: list[str], messages: Sequence[Diagnostic]
) -> tuple[tuple[Diagnostic, ...], str]:
    """The messages, those on regions that the tool failed on with the place of what it takes to repeat that; and all
    tracebacks."""
    trace = "".join(dict.fromkeys(n.trace for d in messages for n in d.notes))
    saved = _save(job, words, trace)
    hint = f"please report it (tilewright {__version__}); {_kept(saved)}"

    def told(note: Diagnostic) -> Diagnostic:
        return replace(note, hint=hint, trace="") if note.trace else note

    return tuple(replace(d, notes=tuple(map(told, d.notes))) for d in messages), trace


def _kept(saved: str) -> str:
    return f"what it takes to repeat it is in {saved}" if saved else "no reproducer could be saved"


def _one_line(error: Exception) -> str:
    if isinstance(error, InternalError):
        text = f"{error.loc}: {error.message} [{error.id}]"
    else:
        text = f"{type(error).__name__}: {error}"
    return " ".join(text.split())


def _save(job: Invocation, words: list[str], trace: str) -> str:
    """The folder with the input, the plan, the command line and the traceback; empty when it cannot be made."""
    about = f"tilewright {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
    files = {
        "input.c": job.text,
        "command.txt": f"tilewright {shlex.join(words)}\n{about}",
        "traceback.txt": trace,
        "input.plan": job.options.plan_text or "",
    }
    try:
        folder = tempfile.mkdtemp(prefix="tilewright-")
        for name, text in files.items():
            if text:
                with open(os.path.join(folder, name), "wb") as stream:
                    stream.write(encode(text))
        return folder
    except OSError:
        return ""
