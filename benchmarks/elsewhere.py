"""Products and the thirty kernels for a machine with a compiler and NumPy alone: `make bench-x86`.

    make bench-x86                          prepares build/bench/elsewhere, and measures where this machine is one
    make bench-x86 B='--machine icelake --prepare FOLDER'

Everything is generated here, in the default text and for one machine; `python3 run.py` in the folder builds and
measures it there (elsewhere/run.py).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.kernels_build import CLOCK
from benchmarks.kernels_cases import REALS, Case, case, thirty
from benchmarks.tensor_build import KERNELS, ROOT

HERE = Path(__file__).resolve().parent
PRODUCT = HERE / "tensor" / "gemm.c"
TYPES = ("f64", "f32")
# Rows, columns, depth: square ones, and those where one is small or odd.
SHAPES = (
    (500, 500, 500),
    (1000, 1000, 1000),
    (2000, 2000, 2000),
    (4000, 4000, 4000),
    (1999, 2001, 1997),
    (2000, 2000, 32),
    (64, 2000, 2000),
    (2000, 64, 2000),
    (100, 100, 2000),
    (4000, 100, 100),
    (3000, 3000, 256),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--machine", default="sapphire-rapids", help="beside the default text")
    parser.add_argument("--prepare", type=Path, help="write the files there and stop")
    parser.add_argument("--only", default="", help="tables to measure: products, kernels, gcc")
    given = parser.parse_args()
    folder = given.prepare or ROOT / "build" / "bench" / "elsewhere"
    prepared(folder, given.machine)
    print(f"{folder}: `python3 run.py` there builds and measures")
    if given.prepare or platform.machine() not in ("x86_64", "AMD64"):
        return 0
    only = ["--only", given.only] if given.only else []
    return subprocess.run([sys.executable, str(folder / "run.py"), *only], check=False).returncode


def prepared(folder: Path, machine: str) -> None:
    """All texts, in both versions, and what the script needs to know of them."""
    folder.mkdir(parents=True, exist_ok=True)
    versions: dict[str, tuple[str, ...]] = {"default": (), machine: ("--machine", machine)}
    cases = [case(name, "large") for name in thirty()]
    jobs: list[tuple[Path, Path, tuple[str, ...]]] = []
    for version, options in versions.items():
        for real in TYPES:
            jobs.append((PRODUCT, folder / f"gemm-{real}-{version}.c", (*options, f"-DREAL={REALS[real]}")))
        for c in cases:
            jobs.append((c.source, folder / f"{c.name}-{version}.c", (*options, "-DDRIVER", *c.defines)))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda job: _generate(*job), jobs))
    for c in cases:
        shutil.copy(c.source, folder / f"{c.name}-plain.c")
    for file in (KERNELS / "kernels.h", CLOCK, HERE / "elsewhere" / "run.py"):
        shutil.copy(file, folder / file.name)
    known = {
        "versions": list(versions),
        "native": "-march=native",
        "reals": {real: REALS[real] for real in TYPES},
        "products": SHAPES,
        "kernels": {c.name: _described(c) for c in cases},
    }
    (folder / "cases.json").write_text(json.dumps(known, indent=1), encoding="utf-8")


def _described(c: Case) -> dict[str, list[int] | list[str]]:
    return {"sizes": list(c.sizes), "defines": list(c.defines)}


def _generate(source: Path, to: Path, options: tuple[str, ...]) -> None:
    words = [sys.executable, "-m", "codegen", "gen", str(source), *options, "-q", "--force", "-o", str(to)]
    subprocess.run(words, check=True)


if __name__ == "__main__":
    sys.exit(main())
