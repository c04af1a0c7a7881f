"""Runs the compiler for `check`: starts it in the background, with the flags of each kind of build (shared object,
sanitized program, object with watched stores, ...), and returns its first error, or None."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from codegen.diagnostics import InputError, Loc
from codegen.limits import COMPILER, end, limited, what_passed
from codegen.options import CppOptions
from codegen.record import record
from codegen.source.encoding import decode
from codegen.source.language import C, Language, compiler_for, language_of

# No contraction anywhere, so that bits can be compared; threads and block edges at sizes that take no time to run.
_COMMON = (
    "-fopenmp",
    "-ffp-contract=off",
    "-DTW_NO_FMA",
    "-DTW_SIZE(n)=((n) < 20 ? (n) : 20)",
    "-w",
    # How much work is worth threads, says the program that runs the check.
    "-DTW_PARALLEL_MIN=tw_least_work",
    # So does which of the versions runs that the processor has.
    "-DTW_LEVEL=(tw_level() < tw_highest_level ? tw_level() : tw_highest_level)",
    "-Dmain=tw_user_main",
)
# Beside every file, and included first.
HEADER = ("check.h", "extern double tw_least_work;\nextern int tw_highest_level;\n")
KINDS = {
    # Integers wrap in both programs, so that a source whose sums overflow still has one right answer; whether
    # the result overflows where the source does not is for the sanitizers to say.
    # Functions that live in other files may stay undefined: regions call none of them.
    "shared": ("-shared", "-fPIC", "-O2", "-fwrapv", "-fvisibility=hidden", "-Wl,-Bsymbolic,-z,lazy"),
    # As written, so that no access is optimized away before it is tested, in half of the time that -O1 takes.
    "sanitized": (
        *("-fsanitize=address,undefined", "-fno-sanitize=vla-bound", "-fno-sanitize-recover=all", "-O0"),
        *("-fno-pie", "-no-pie", "-Wl,--unresolved-symbols=ignore-in-object-files"),
    ),
    "object": ("-c", "-fPIC", "-O2", "-fwrapv"),
    # As written, so that no store is optimized away; the calls before accesses go to code of the check's own.
    "watched": ("-c", "-fPIC", "-O0", "-fwrapv", "-fvisibility=hidden", "-fsanitize=thread"),
    "program": ("-O1",),
    "linked": ("-shared", "-fPIC", "-Wl,-Bsymbolic,-z,lazy"),
    "syntax": ("-fsyntax-only",),
}
# Objects of code that is no user's, by compiler, flags, path and text: whoever makes many checks compiles them once.
_OBJECTS: dict[tuple[object, ...], bytes] = {}


@record
class Build:
    """A compiler at work, and where its messages and its result go. Without a compiler the result is there; one with
    a `key` is kept."""

    process: "subprocess.Popen[bytes] | None"
    log: Path
    result: Path
    key: tuple[object, ...] = ()

    def error(self) -> str | None:
        """Wait; None when all went well, else the compiler's first complaint."""
        if self.process is None:
            return None
        try:
            code = self.process.wait(COMPILER.wall)
        except subprocess.TimeoutExpired:
            self.stop()
            return f"the compiler did not end within {COMPILER.wall:g} s"
        said = self.log.read_bytes()
        if code == 0 and self.key:
            _OBJECTS[self.key] = self.result.read_bytes()
        passed = what_passed(code, said, COMPILER)
        return f"the compiler {passed}" if passed else None if code == 0 else first_error(decode(said))

    def stop(self) -> None:
        """End the compiler if it still runs."""
        if self.process is not None and self.process.poll() is None:
            end(self.process)
            self.process.wait()


@record
class Compiler:
    """How to call the compiler in one check: its name, the user's flags, and the folder for all files."""

    words: tuple[str, ...]
    flags: tuple[str, ...]
    folder: Path
    language: Language = C

    def start(self, kind: str, sources: Sequence[str], result: str, links: Sequence[str] = ()) -> Build:
        """Begin to compile files of the folder. The caller waits with `error`, or gives up with `stop`."""
        out, log = self.folder / result, self.folder / f"{result}.log"
        files = [str(self.folder / s) for s in sources]
        first = ("-include", str(self.folder / HEADER[0]))
        language = language_of(sources[0])
        own = [f for f in self.flags if language is self.language or not f.startswith("-std=")]
        if language is not self.language and not sources[0].endswith(".o"):
            files = ["-x", language.name, *files]  # what the check brings along is C
        command = [*self.words, *KINDS[kind], *_COMMON, *language.std, *first, *own, *files, "-o", str(out)]
        libraries = [] if kind in ("object", "watched", "syntax") else [*links, "-lm", "-ldl"]
        with open(log, "wb") as messages:
            process = subprocess.Popen(
                limited(command + libraries, COMPILER),
                stdin=subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
                env={**os.environ, "LC_ALL": "C"},
                start_new_session=True,
            )
        return Build(process, log, out)

    def companion(self, words: Sequence[str], source: str) -> Build:
        """Begin to compile a file of the folder that is no C, by a command of its target."""
        out, log = self.folder / f"{source}.o", self.folder / f"{source}.log"
        command = [*words, "-c", str(self.folder / source), "-o", str(out)]
        with open(log, "wb") as messages:
            process = subprocess.Popen(limited(command, COMPILER), stdin=subprocess.DEVNULL, stdout=messages,
                                       stderr=messages, start_new_session=True)  # fmt: skip
        return Build(process, log, out)

    def own(self, source: str, flags: tuple[str, ...]) -> Build:
        """The object of a file that is no user's, in which macros of the command line mean nothing."""
        path = self.folder / source
        key = (self.words, flags, source, path.read_bytes())
        result = f"{path.stem}.o"
        if key not in _OBJECTS:
            return replace(replace(self, flags=flags).start("object", (source,), result), key=key)
        (self.folder / result).write_bytes(_OBJECTS[key])
        return Build(None, self.folder / f"{result}.log", self.folder / result)


def find_compiler(path: str, cpp: CppOptions, folder: Path) -> Compiler:
    """The compiler for the file's language. Quoted includes are looked for beside the file first."""
    language = language_of(path, cpp.language)
    words = compiler_for(language)
    if words:
        # How it is optimized here is the check's own choice.
        args = (a for a in cpp.args if not a.startswith(("-O", "-f")))
        return Compiler(tuple(words), (*args, "-iquote", os.path.dirname(path) or "."), folder, language)
    raise InputError("no-compiler", f"no {language.title} compiler found to check with", Loc(path),
                     f"install one, or set {language.variable}")


def first_error(text: str) -> str:
    """The line that says what is wrong, without the folder of the check."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for pattern in (r"\berror\b", r"undefined reference|cannot find"):
        found = next((line for line in lines if re.search(pattern, line)), None)
        if found is not None:
            return re.sub(r"\S*/tilewright-[^/\s]*/", "", found)
    return lines[0] if lines else "the compiler gave no reason"
