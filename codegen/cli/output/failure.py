"""Internal errors: makes the one-line message for the user, and saves a folder with all that is needed to repeat the
run: input, plan, command line and traceback."""
from __future__ import annotations

import os
import platform
import shlex
import tempfile
import traceback

from codegen import __version__
from codegen.cli.job import Invocation
from codegen.diagnostics import Diagnostic, InternalError, Loc, Severity
from codegen.source.encoding import encode


def internal_error(job: Invocation, words: list[str], error: Exception) -> tuple[Diagnostic, str]:
    """The message for a fault of the tool, and its traceback; saves the reproducer."""
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    saved = _save(job, words, trace)
    where = error.loc if isinstance(error, InternalError) else Loc("tilewright")
    kept = f"what it takes to repeat it is in {saved}" if saved else "no reproducer could be saved"
    message = f"internal error: {_one_line(error)}; please report (tilewright {__version__}); {kept}"
    return Diagnostic(Severity.ERROR, "internal-error", message, where), trace


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
