"""Building and running generated files on the host, with the emulator in place of the machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

from codegen.limits import COMPILER, PROGRAM, LimitPassed, limited, run
from codegen.record import record

FLAGS = ("-std=gnu11", "-O2", "-ffp-contract=off", "-fwrapv")
# Loads and stores call the emulator first, and objects of a frame have guard zones: see emulator/sw_watch.c.
WATCHED = ("-fsanitize=kernel-address", "-fasan-shadow-offset=0x7fff8000", "--param=asan-stack=1",
           "--param=asan-globals=1", "--param=asan-instrumentation-with-call-threshold=0")  # fmt: skip
# Forms of a region in no order, whatever the sizes are.
ANY_FORM = "-DTW_FORM(here)=sw_any_form()"


def emulator_folder() -> Path:
    """Where the emulator's headers and sources lie."""
    return Path(str(resources.files("codegen.sunway") / "emulator"))


def build_library(folder: Path, cc: str = "gcc") -> Path:
    """The emulator as a static library in `folder`; made again only when its sources have changed."""
    done = folder / "libswemu.a"
    newest = max(s.stat().st_mtime for s in emulator_folder().iterdir())
    if done.exists() and done.stat().st_mtime >= newest:
        return done
    sources = sorted(emulator_folder().glob("*.c"))
    objects = [folder / f"{s.stem}.o" for s in sources]
    for s, o in zip(sources, objects, strict=True):
        subprocess.run(limited([cc, *FLAGS, "-Wall", "-Wextra", "-c", str(s), "-o", str(o)], COMPILER), check=True)
    # Under a name of its own first: several tests may build at once.
    part = folder / f"libswemu.{os.getpid()}.a"
    subprocess.run(limited(["ar", "rcs", str(part), *map(str, objects)], COMPILER), check=True)
    part.replace(done)
    return done


@record
class Ran:
    """How a program ended, what it printed, and what the emulator counted."""

    code: int
    out: str
    err: str
    counts: Mapping[str, float]


def compile_program(
    sources: Sequence[Path], result: Path, library: Path, flags: Sequence[str] = (), watched: bool = True
) -> str:
    """Compile and link; the compiler's messages, empty when all is well."""
    words = [*FLAGS, *(WATCHED if watched else ()), *flags, "-I", str(emulator_folder())]
    command = ["gcc", *words, *map(str, sources), str(library), "-lm", "-o"]
    try:
        done = run([*command, str(result)], COMPILER)
    except LimitPassed as error:
        return f"the compiler {error}"
    return done.err.decode("utf-8", "replace") if done.code or done.err else ""


def run_program(
    program: Path, arguments: Sequence[str] = (), environment: Mapping[str, str] | None = None, seconds: float = 120
) -> Ran:
    """Run with the counters written next to the program; `seconds` of processor time for each processor."""
    counts = program.with_suffix(f".{os.getpid()}.counts")
    env = {**os.environ, "SW_COUNTS": str(counts), **(environment or {})}
    done = run([str(program), *arguments], replace(PROGRAM, cpu=seconds * (os.cpu_count() or 1)), env=env)
    found: dict[str, float] = {}
    if counts.exists():
        for line in counts.read_text().splitlines():
            key, value = line.split()
            found[key] = float(value)
        counts.unlink()
    return Ran(done.code, done.out.decode("utf-8", "replace"), done.err.decode("utf-8", "replace"), found)
