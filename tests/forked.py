"""The command in a child that is forked: as a process of its own, without the half second in which Python loads it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def tilewright(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`tilewright WORDS`, with an empty standard input; both streams are kept."""
    from codegen.cli.main import main

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, open(os.devnull, "rb") as nothing:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            code = 70
            try:
                for stream, number in ((nothing, 0), (out, 1), (err, 2)):
                    os.dup2(stream.fileno(), number)
                sys.stdin, sys.stdout, sys.stderr = (
                    os.fdopen(number, mode, encoding="utf-8", closefd=False) for number, mode in enumerate("rww")
                )
                if cwd is not None:
                    os.chdir(cwd)
                code = main(words)
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = [stream.seek(0) or stream.read().decode() for stream in (out, err)]
    return subprocess.CompletedProcess(["tilewright", *words], code, *texts)
