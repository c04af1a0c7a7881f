"""Compiling the check programs: two shared objects to compare, two sanitized programs."""
from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from codegen.diagnostics import InputError, Loc
from codegen.options import CppOptions
from codegen.source.encoding import decode

# Integers wrap in both programs, so that a source whose sums overflow still has one right answer; whether
# the result overflows where the source does not is for the sanitizers to say.
_SHARED = ("-shared", "-fPIC", "-O2", "-fwrapv", "-fvisibility=hidden", "-Wl,-Bsymbolic")
# Functions that live in other files may stay undefined: regions call none of them.
_SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize=vla-bound", "-fno-sanitize-recover=all", "-g", "-O1",
              "-Wl,--unresolved-symbols=ignore-in-object-files")
_COMMON = ("-fopenmp", "-ffp-contract=off", "-std=gnu11", "-w", "-DTW_PARALLEL_MIN=0", "-Dmain=tw_user_main")
SECONDS = 120


@dataclass(frozen=True)
class Build:
    """A compiler at work, and where its messages and its result go."""

    process: "subprocess.Popen[bytes]"
    log: Path
    result: Path

    def error(self) -> str | None:
        """Wait; None when all went well, else the compiler's first complaint."""
        try:
            code = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.stop()
            return f"the compiler took longer than {SECONDS} s"
        return None if code == 0 else first_error(decode(self.log.read_bytes()))

    def stop(self) -> None:
        """End the compiler if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def first_error(text: str) -> str:
    """The line that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for pattern in (r"\berror\b", r"undefined reference|cannot find"):
        found = next((line for line in lines if re.search(pattern, line)), None)
        if found is not None:
            return found
    return lines[0] if lines else "the compiler gave no reason"


def compiler(name: str) -> tuple[str, ...]:
    """$CC, or the first of cc, gcc and clang that exists."""
    for words in (shlex.split(os.environ.get("CC", "")), ["cc"], ["gcc"], ["clang"]):
        if words and shutil.which(words[0]):
            return tuple(words)
    raise InputError("no-compiler", "no C compiler found to check with", Loc(name), "install one, or set CC")


def flags(path: str, cpp: CppOptions) -> tuple[str, ...]:
    """The user's own flags, and the folder that quoted includes are looked for in first."""
    return (*cpp.args, "-iquote", os.path.dirname(path) or ".")


def start(
    cc: tuple[str, ...], sources: tuple[Path, ...], result: Path, extra: tuple[str, ...], sanitize: bool
) -> Build:
    """Begin to compile and link. The caller waits for it with `error`."""
    kind = _SANITIZED if sanitize else _SHARED
    log = result.with_suffix(".log")
    command = [*cc, *kind, *_COMMON, *extra, *map(str, sources), "-o", str(result), "-lm"]
    with open(log, "wb") as out:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env={**os.environ, "LC_ALL": "C"})
    return Build(process, log, result)


def syntax_error(cc: tuple[str, ...], source: Path, extra: tuple[str, ...]) -> str | None:
    """The compiler's first complaint about a file by itself, or None."""
    command = [*cc, "-fsyntax-only", *_COMMON, *extra, str(source)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                          env={**os.environ, "LC_ALL": "C"})
    return None if done.returncode == 0 else first_error(decode(done.stderr))
