"""Every file that is generated for a core group, compiled against headers of the vendor's shape: names, types, macros
as macros, and a compiler that knows C99 with GNU extensions. Nothing is linked or run.

    python -m benchmarks.sunway_headers [--only gemm,mvt] [--machines sw26010] [--grids 16,4x8]
    python -m benchmarks.sunway_headers --within 120 --skip 400     goes on where 400 programs have been seen
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from multiprocessing import Pool, TimeoutError
from pathlib import Path

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.record import record

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "examples" / "kernels"
HEADERS = ROOT / "tests" / "sunway" / "vendor"
MACHINES, GRIDS = ("sw26010", "sw26010-pro"), ("16", "32", "64", "2,8", "4,8", "8,8")
KINDS = {"host": ("-D__sw_host__",), "slave": ("-D__sw_slave__", "-D_SIMD_SLAVE")}  # -mhost; -mslave -msimd
# Vectors of the machine's width are none of this computer's, whose calls take them in another way.
FLAGS = ("-std=gnu99", "-Wall", "-Werror", "-Wno-psabi", "-O2", "-S", "-o", "/dev/null")


@record
class HeaderCase:
    """A program, the machine and the grid of cores that it is generated for."""

    path: Path
    machine: str
    grid: str


def cases(paths: Sequence[Path], machines: Sequence[str] = MACHINES, grids: Sequence[str] = GRIDS) -> list[HeaderCase]:
    return [HeaderCase(*c) for c in product(paths, machines, grids)]


@record
class HeaderOutcome:
    """Files that were compiled, what the compiler says of them, empty where all is well, and seconds it took. Nothing
    is compiled where nothing is launched, or the program is refused."""

    files: int
    messages: str
    seconds: float = 0.0


def compiled_files(case: HeaderCase, folder: Path) -> HeaderOutcome:
    """Generates a program's files for both kinds of cores, and compiles them."""
    stem = case.path.stem
    machine = f"{case.machine}-cpe"
    options = GenOptions(target="sunway", stem=stem, machine=machine, threads=case.grid, scheme="launch")
    made = generate(str(case.path), case.path.read_text(encoding="utf-8"), options)
    if not any(r.transformed for r in made.regions):
        return HeaderOutcome(0, "")
    files = {f"{stem}_master.c": made.text, **{f"{stem}{end}": text for end, text in made.extra.files}}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    compiled = (("host", f"{stem}_master.c"), ("slave", f"{stem}_slave.c"))
    told = [_compile(HEADERS / case.machine, kind, folder / name) for kind, name in compiled]
    return HeaderOutcome(len(told), "".join(told))


def _compile(headers: Path, kind: str, source: Path) -> str:
    command = ["gcc", *FLAGS, *KINDS[kind], "-I", str(headers), "-I", str(KERNELS), str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def _tried(case: HeaderCase) -> HeaderOutcome:
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = compiled_files(case, Path(folder))
        except InputError:
            found = HeaderOutcome(0, "")  # it is refused, with a message of its own
    return replace(found, seconds=time.monotonic() - start)


def _seen(every: Sequence[HeaderCase], jobs: int, seconds: float) -> list[HeaderOutcome]:
    """What came of them, in their order, as far as the time reaches."""
    end, found = time.monotonic() + seconds, list[HeaderOutcome]()
    with Pool(jobs or None) as pool:
        answers = pool.imap(_tried, every)
        try:
            while len(found) < len(every):
                found.append(answers.next(max(0.0, end - time.monotonic())))
        except TimeoutError:
            pass  # those that are under way end with the pool
    return found


def _summary(every: Sequence[HeaderCase], found: Sequence[HeaderOutcome], slow: float) -> Iterator[str]:
    for case, outcome in zip(every, found, strict=True):
        if outcome.messages:
            yield f"{case.path.stem} for {case.machine} on {case.grid}:\n{outcome.messages}"
    for case, outcome in zip(every, found, strict=True):
        if outcome.seconds > slow:
            yield f"{case.path.stem} for {case.machine} on {case.grid} took {outcome.seconds:.0f} s"
    files, wrong = sum(o.files for o in found), sum(bool(o.messages) for o in found)
    alone = sum(not o.files for o in found)
    yield f"{len(every)} programs, {alone} of them without a launch; {files} files compiled, {wrong} programs do not"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="programs, with commas between them")
    parser.add_argument("--machines", default=",".join(MACHINES))
    parser.add_argument("--grids", default=",".join(g.replace(",", "x") for g in GRIDS))
    parser.add_argument("--jobs", type=int, default=0, help="at a time; as many as there are processors")
    parser.add_argument("--slow", type=float, default=20, help="programs that take more seconds are named")
    parser.add_argument("--within", type=float, default=1e6, help="seconds, after which no more are begun")
    parser.add_argument("--skip", type=int, default=0, help="so many have been seen before")
    chosen = parser.parse_args(arguments)
    only = set(filter(None, chosen.only.split(",")))
    paths = [p for p in sorted(KERNELS.glob("*.c")) if not only or p.stem in only]
    grids = [g.replace("x", ",") for g in chosen.grids.split(",")]
    every = cases(paths, chosen.machines.split(","), grids)
    every = every[chosen.skip :]
    found = _seen(every, chosen.jobs, chosen.within)
    print("\n".join(_summary(every[: len(found)], found, chosen.slow)))
    if len(found) < len(every):
        print(f"{len(every) - len(found)} were not reached in time: --skip {chosen.skip + len(found)}")
    return any(o.messages for o in found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
