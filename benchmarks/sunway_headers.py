"""Every file that is generated for a core group, compiled against headers of the vendor's shape: names, types, macros
as macros, and a compiler that knows C99 with GNU extensions. Nothing is linked or run.

    python -m benchmarks.sunway_headers [--only gemm,mvt] [--machines sw26010] [--grids 16,4x8]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.record import record

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "examples" / "kernels"
HEADERS = ROOT / "tests" / "sunway" / "vendor"
MACHINES, GRIDS = ("sw26010", "sw26010-pro"), ("16", "32", "64", "2,8", "4,8", "8,8")
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


def messages_of(case: HeaderCase, folder: Path) -> str:
    """What the compiler says of the files for both kinds of cores; empty where all is well, or nothing is launched."""
    stem = case.path.stem
    machine = f"{case.machine}-cpe"
    options = GenOptions(target="sunway", stem=stem, machine=machine, threads=case.grid, scheme="launch")
    made = generate(str(case.path), case.path.read_text(encoding="utf-8"), options)
    if not any(r.transformed for r in made.regions):
        return ""
    files = {f"{stem}_master.c": made.text, **{f"{stem}{end}": text for end, text in made.extra.files}}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    compiled = (("host", f"{stem}_master.c"), ("slave", f"{stem}_slave.c"))
    return "".join(_compile(HEADERS / case.machine, kind, folder / name) for kind, name in compiled)


def _compile(headers: Path, kind: str, source: Path) -> str:
    command = ["gcc", *FLAGS, f"-D__sw_{kind}__", "-I", str(headers), "-I", str(KERNELS), str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def _tried(case: HeaderCase) -> str:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return messages_of(case, Path(folder))
        except InputError:
            return ""  # it is refused, with a message of its own


def _told(all_cases: Sequence[HeaderCase]) -> Iterator[str]:
    with ProcessPoolExecutor() as pool:
        for case, text in zip(all_cases, pool.map(_tried, all_cases), strict=True):
            if text:
                yield f"{case.path.stem} for {case.machine} on {case.grid}:\n{text}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="programs, with commas between them")
    parser.add_argument("--machines", default=",".join(MACHINES))
    parser.add_argument("--grids", default=",".join(g.replace(",", "x") for g in GRIDS))
    chosen = parser.parse_args(arguments)
    only = set(filter(None, chosen.only.split(",")))
    paths = [p for p in sorted(KERNELS.glob("*.c")) if not only or p.stem in only]
    grids = [g.replace("x", ",") for g in chosen.grids.split(",")]
    every = cases(paths, chosen.machines.split(","), grids)
    wrong = list(_told(every))
    print("\n".join(wrong) + f"{len(every)} programs, {len(wrong)} do not compile")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
