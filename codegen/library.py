"""Compiles C text to a shared library, once for each text, command and headers (kept in the user's cache), and loads it
with cffi. InputError where that fails."""
from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from codegen.diagnostics import InputError, Loc
from codegen.limits import COMPILER, LimitPassed, run
from codegen.source.encoding import encode


def compiler(command: str = "") -> list[str]:
    """The words of the compiler: the given one, $CC, or the first of cc, gcc and clang."""
    named = shlex.split(command or os.environ.get("CC", ""))
    return named or [next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), "cc")]


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tilewright"


def build(source: str, words: Sequence[str], reads: Iterable[str] = (), cache: Path | None = None) -> Path:
    """The shared library of a source text, by the command `words`; `reads` are the headers that it includes."""
    folder = cache or cache_folder()
    digest = hashlib.sha256("\0".join(words).encode("utf-8", "surrogateescape") + b"\0" + encode(source))
    for path in sorted(reads):
        digest.update(path.encode("utf-8", "surrogateescape") + b"\0" + _bytes(path))
    library = folder / f"{digest.hexdigest()[:24]}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            code, made = Path(scratch) / "code.c", Path(scratch) / "code.so"
            code.write_bytes(encode(source))
            _compile([*words, str(code), "-o", str(made), "-lm"], scratch)
            os.replace(made, library)
    return library


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:  # the compiler will say so
        return b""


def _compile(command: list[str], scratch: str) -> None:
    loc = Loc("tilewright")
    try:
        done = run(command, COMPILER)
    except OSError as error:
        raise InputError("cannot-compile", f"cannot run the C compiler `{command[0]}`: {error.strerror}", loc,
                         "install gcc or clang, or set CC") from None
    except LimitPassed as error:
        raise InputError("cannot-compile", f"the C compiler {error}", loc, "compile less at a time") from None
    if done.code:
        said = done.err.decode("utf-8", "replace").replace(scratch + os.sep, "").strip()[:2000]
        raise InputError("cannot-compile", f"the C compiler failed: {said}", loc,
                         "the source must compile by itself, CC must be a C11 compiler, with OpenMP unless target='c'")


def load(library: Path, declared: str) -> tuple[Any, Any]:
    """(ffi, library). Never unloaded: OpenMP's idle threads live in a library of this one's, and would be left
    without their code."""
    from cffi import FFI  # type: ignore[import-untyped]

    ffi = FFI()
    ffi.cdef(declared)
    try:
        return ffi, ffi.dlopen(str(library), ffi.RTLD_NOW | getattr(ffi, "RTLD_NODELETE", 0))
    except OSError as error:
        said = str(error).partition(".  Additionally")[0].replace(f"{library}: ", "")
        raise InputError("cannot-compile", said, Loc("tilewright"),
                         "what the file calls must be in it, or in a library: cflags=['-O3', '-lname']") from None
