"""`tilewright doctor`: tests the installation (Python packages, compiler, OpenMP, host, a sample generated and
checked); prints a line for each test, with a remedy where it fails, and then exits with status 1."""
from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import metadata

from codegen import __version__, limits
from codegen.cli import exitcodes
from codegen.cli.job import Invocation, Outcome
from codegen.machine.detect import detect
from codegen.options import CppOptions, GenOptions
from codegen.record import record

# As in setup.cfg; a test compares them.
NEEDS = (("islpy", "2023.1"), ("pycparser", "2.21"), ("jinja2", "3.0"), ("cffi", "1.15"))
_SAMPLE = """\
void scale(int n, double a[n][n], double b[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = 2.0 * b[j][i];
#pragma endscop
}
"""
_PLAIN = '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n'
_OPENMP = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
_GET_COMPILER = "install gcc or clang (Debian, Ubuntu: apt install gcc libc6-dev; Fedora: dnf install gcc; " \
                "macOS: xcode-select --install), or set CC to one"
_GET_LIBRARY = "install the C library's headers (Debian, Ubuntu: apt install libc6-dev; Fedora: dnf install " \
               "glibc-devel)"
_GET_OPENMP = "install the compiler's OpenMP library (gcc: libgomp; clang: apt install libomp-dev, dnf install " \
              "libomp-devel, brew install libomp), or generate with --target c"


class Ailment(Exception):
    """Something is wrong; `mend` says what to do about it."""

    def __init__(self, says: str, mend: str) -> None:
        super().__init__(says)
        self.mend = mend


@record
class Examination:
    """One question to the installation. It is not asked when one of `after` has failed."""

    name: str
    action: Callable[[], str]
    after: tuple[str, ...] = ()


def run(job: Invocation) -> Outcome:
    """A line for each examination, and one with the remedy for a failed one, which makes the exit status 1."""
    packages = tuple(Examination(name, partial(_package, name, least)) for name, least in NEEDS)
    table = (
        Examination("tilewright", lambda: f"{__version__}, Python {platform.python_version()}"),
        *packages,
        Examination("compiler", _compiler),
        Examination("openmp", _openmp, ("compiler",)),
        Examination("host", _host),
        Examination("generation", _generation, tuple(name for name, _ in NEEDS)),
        Examination("result", _check, ("compiler", "generation")),
    )
    lines: list[str] = []
    failed: set[str] = set()
    for it in table:
        blocking = [name for name in it.after if name in failed]
        if blocking:
            failed.add(it.name)
            lines.append(f"--   {it.name:11} not tried; it needs: {', '.join(blocking)}\n")
            continue
        ok, says, mend = _examine(it.action)
        lines.append(f"{'ok  ' if ok else 'FAIL'} {it.name:11} {says}\n")
        if not ok:
            failed.add(it.name)
            lines += [f"     {'':11} to mend it: {mend}\n"] if mend else []
    return Outcome(exitcodes.BAD_INPUT if failed else exitcodes.OK, "".join(lines))


def _examine(action: Callable[[], str]) -> tuple[bool, str, str]:
    try:
        return True, action(), ""
    except Ailment as error:
        return False, str(error), error.mend
    except Exception as error:  # whatever is wrong with an installation is what a doctor reports
        first = (str(error).splitlines() or [""])[0]
        return False, f"{type(error).__name__}: {first}", ""


def _package(name: str, least: str) -> str:
    mend = f"{shlex.quote(sys.executable)} -m pip install --upgrade '{name}>={least}'"
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        raise Ailment("is not installed", mend) from None
    if _numbers(found) < _numbers(least):
        raise Ailment(f"{found} is too old; {least} or newer is needed", mend)
    return found


def _numbers(version: str) -> list[int]:
    """The numbers a version begins with; what follows them (rc1, .post2) does not matter here."""
    match = re.match(r"\d+(\.\d+)*", version)
    return [int(n) for n in match[0].split(".")] if match else []


def compiler_words() -> list[str]:
    """The compiler that `gen` and `check` would use: $CC, cc, gcc or clang."""
    chosen = shlex.split(os.environ.get("CC", ""))
    for words in (chosen, ["cc"], ["gcc"], ["clang"]):
        if words and shutil.which(words[0]):
            return words
    named = f"CC={shlex.join(chosen)} and none of cc, gcc and clang is" if chosen else "none of cc, gcc and clang is"
    raise Ailment(f"{named} on PATH", _GET_COMPILER)


def _compiler() -> str:
    words = compiler_words()
    done = limits.run([*words, "--version"], limits.QUESTION)
    version = (done.out.decode("utf-8", "replace").splitlines() or ["tells no version"])[0]
    _try(_PLAIN, words, f"{shlex.join(words)} does not give a program that runs", _GET_LIBRARY)
    chosen = shlex.split(os.environ.get("CC", ""))
    ignored = f" (CC={shlex.join(chosen)} is not on PATH)" if chosen not in ([], words) else ""
    return f"{shlex.join(words)}: {version}{ignored}"


def _openmp() -> str:
    words = [*compiler_words(), "-fopenmp"]
    _try(_OPENMP, words, f"{shlex.join(words)} does not give a program that runs", _GET_OPENMP)
    return f"{shlex.join(words)} works"


def _try(text: str, words: list[str], says: str, mend: str) -> None:
    """Build and run a program; an Ailment with the compiler's first complaint when one of the two fails."""
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        source, binary = os.path.join(folder, "try.c"), os.path.join(folder, "try")
        with open(source, "w", encoding="ascii") as stream:
            stream.write(text)
        build = limits.run([*words, source, "-o", binary], limits.COMPILER, env=os.environ | {"LC_ALL": "C"})
        if build.code:
            reason = next((line for line in build.err.decode("utf-8", "replace").splitlines() if "error" in line), "")
            raise Ailment(f"{says}: {reason.replace(folder + os.sep, '')}".removesuffix(": "), mend)
        if limits.run([binary], limits.QUESTION).code:
            raise Ailment(says, mend)


def _host() -> str:
    found = detect()
    guessed = [n.what for n in found.notes if not n.found]
    return f"{found.machine.description}; assumed: {', '.join(guessed) or 'nothing'}"


def _generation() -> str:
    """Without the preprocessor, so that a missing compiler does not hide whether this works."""
    from codegen.pipeline import generate

    made = generate("doctor.c", _SAMPLE, GenOptions(cpp=CppOptions(enabled=False)))
    if not made.regions or not all(r.transformed for r in made.regions):
        raise RuntimeError("the sample nest was not transformed")
    return "a sample nest was transformed and proven"


def _check() -> str:
    from codegen.checking.compare import check

    report = check("doctor.c", _SAMPLE, GenOptions(), lambda line: None)
    if not report.ok:
        raise RuntimeError("the sample's result differs from the original's")
    return "original and result agree"
