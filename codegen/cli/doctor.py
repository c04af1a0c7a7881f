"""`tilewright doctor`: is everything here that the tool needs, and does it work together?"""
from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from importlib import metadata

from codegen import __version__
from codegen.cli import exitcodes
from codegen.cli.job import Job, Outcome
from codegen.machine.detect import detect
from codegen.options import GenOptions

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
_OPENMP = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"


def run(job: Job) -> Outcome:
    """One line for each examination; any failed one makes the exit status 1."""
    table: tuple[tuple[str, Callable[[], str]], ...] = (
        ("tilewright", lambda: f"{__version__}, Python {platform.python_version()}"),
        ("islpy", lambda: metadata.version("islpy")),
        ("pycparser", lambda: metadata.version("pycparser")),
        ("jinja2", lambda: metadata.version("jinja2")),
        ("compiler", _compiler),
        ("openmp", _openmp),
        ("host", _host),
        ("generation", _generation),
        ("result", _check),
    )
    rows = [_examine(name, action) for name, action in table]
    text = "".join(f"{'ok  ' if ok else 'FAIL'} {name:11} {says}\n" for ok, name, says in rows)
    return Outcome(exitcodes.OK if all(r[0] for r in rows) else exitcodes.BAD_INPUT, text)


def _examine(name: str, action: Callable[[], str]) -> tuple[bool, str, str]:
    try:
        return True, name, action()
    except Exception as error:  # whatever is wrong with an installation is what a doctor reports
        first = (str(error).splitlines() or [""])[0]
        return False, name, f"{type(error).__name__}: {first}"


def _compiler() -> str:
    path = shutil.which("cc")
    if path is None:
        raise RuntimeError("no `cc` on PATH; install gcc or clang")
    run = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=True)
    return run.stdout.splitlines()[0]


def _openmp() -> str:
    """Build and run a program that needs OpenMP's header and library."""
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        source, binary = os.path.join(folder, "omp.c"), os.path.join(folder, "omp")
        with open(source, "w", encoding="ascii") as stream:
            stream.write(_OPENMP)
        build = subprocess.run(["cc", "-fopenmp", source, "-o", binary], capture_output=True, timeout=60, check=False)
        if build.returncode or subprocess.run([binary], timeout=60, check=False).returncode:
            raise RuntimeError("cc -fopenmp does not give a program that runs; use --target c")
    return "cc -fopenmp works"


def _host() -> str:
    found = detect()
    guessed = [n.what for n in found.notes if not n.found]
    return f"{found.machine.description}; assumed: {', '.join(guessed) or 'nothing'}"


def _generation() -> str:
    from codegen.pipeline import generate

    made = generate("doctor.c", _SAMPLE, GenOptions())
    if not made.regions or not all(r.transformed for r in made.regions):
        raise RuntimeError("the sample nest was not transformed")
    return "a sample nest was transformed and proven"


def _check() -> str:
    from codegen.verify.check import check

    report = check("doctor.c", _SAMPLE, GenOptions(), lambda line: None)
    if not report.ok:
        raise RuntimeError("the sample's result differs from the original's")
    return "original and result agree"
