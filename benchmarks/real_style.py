"""Every nest of examples/real-style at one thread: as it is written, and generated with and without a machine.

    python -m benchmarks.real_style --only blur5,plate_step --compilers gcc

Each compiler makes a library of each version; one process calls their functions in turn, on the same data, and keeps
the best time of each.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.tensor_report import geometric_mean

ROOT = Path(__file__).resolve().parent.parent
NESTS = ROOT / "examples" / "real-style"
DRIVER = ROOT / "benchmarks" / "real_style"
# Options of the generator by version; None is the source as it is.
VERSIONS: dict[str, tuple[str, ...] | None] = {"plain": None, "default": (), "native": ("--machine", "native")}
_NATIVE = "-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"
# As in a program: functions are called by name, but what is inside a file may be inlined.
FLAGS = ("-std=gnu11", "-O3", _NATIVE, "-fopenmp", "-fPIC", "-fno-semantic-interposition", "-Wno-unknown-pragmas")
LEAST = 0.97  # of the plain version's speed: what lies below is named at the end
ALIKE = 1e-4  # sums over all data may differ by this much; rounding of fused operations is far below it


@dataclass(frozen=True)
class Timed:
    """Best seconds of each version of a function, and the sums of its data after the first run."""

    name: str
    seconds: tuple[float, ...]
    sums: tuple[float, ...]

    def gain(self, version: int) -> float:
        return self.seconds[0] / self.seconds[version]

    def wrong(self) -> bool:
        first = self.sums[0]
        return any(abs(s - first) > ALIKE * max(abs(first), 1.0) for s in self.sums[1:])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="functions, with commas; all of them otherwise")
    parser.add_argument("--compilers", default="gcc,clang", help="those that are there are used")
    parser.add_argument("--seconds", type=float, default=0.25, help="how long each version of a function runs")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench" / "real-style")
    parser.add_argument("--keep", action="store_true", help="use generated files that are there already")
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    generate(args.out, args.keep)
    bad = False
    for compiler in filter(shutil.which, args.compilers.split(",")):
        found = measure(compiler, args.out, args.only, args.seconds)
        print(report(compiler, found), flush=True)
        bad = bad or any(t.wrong() for t in found)
    return 1 if bad else 0


def generate(out: Path, keep: bool) -> None:
    """FILE.VERSION.c for every file of nests."""
    for source in _sources():
        for version, options in VERSIONS.items():
            made = out / f"{source.stem}.{version}.c"
            if options is None:
                shutil.copy(source, made)
            elif not (keep and made.exists() and made.stat().st_mtime > source.stat().st_mtime):
                _run([sys.executable, "-m", "codegen", "gen", str(source), *options, "-q", "-o", str(made)])


def measure(compiler: str, out: Path, only: str, seconds: float) -> list[Timed]:
    libraries = [_library(compiler, out, version) for version in VERSIONS]
    driver = out / f"measure-{compiler}"
    sources = sorted(str(p) for p in DRIVER.glob("*.c"))
    _run([compiler, "-O2", "-std=gnu11", f"-I{NESTS}", *sources, "-o", str(driver), "-ldl"])
    lines = _run([str(driver), str(seconds), only, *map(str, libraries)]).splitlines()
    return [_timed(line.split()) for line in lines]


def _timed(words: list[str]) -> Timed:
    values = tuple(map(float, words[1:]))
    return Timed(words[0], values[::2], values[1::2])


def _library(compiler: str, out: Path, version: str) -> Path:
    objects = []
    for source in _sources():
        obj = out / f"{source.stem}.{version}.{compiler}.o"
        made = out / f"{source.stem}.{version}.c"
        if not obj.exists() or obj.stat().st_mtime < made.stat().st_mtime:
            _run([compiler, *FLAGS, f"-I{NESTS}", "-c", str(made), "-o", str(obj)])
        objects.append(str(obj))
    library = out / f"{version}.{compiler}.so"
    _run([compiler, "-shared", "-fopenmp", *objects, "-lm", "-o", str(library)])
    return library


def _sources() -> list[Path]:
    return sorted(p for p in NESTS.glob("*.c") if p.stem != NESTS.name)


def _run(command: list[str]) -> str:
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def report(compiler: str, found: Sequence[Timed]) -> str:
    """A row for each function: milliseconds of each version, and how many times as fast as plain the others are."""
    names = list(VERSIONS)
    heads = [*(f"{n} ms" for n in names), *(f"{n}/plain" for n in names[1:])]
    lines = ["", f"{compiler} -O3 {_NATIVE}, one thread", f"{'':24}" + " ".join(f"{h:>14}" for h in heads)]
    for t in found:
        cells = [*(f"{1e3 * s:.3f}" for s in t.seconds), *(f"{t.gain(k):.2f}" for k in range(1, len(names)))]
        lines.append(f"{t.name:24}" + " ".join(f"{c:>14}" for c in cells) + ("  WRONG" if t.wrong() else ""))
    for k, name in enumerate(names[1:], 1):
        gains = [t.gain(k) for t in found]
        slow = sorted((t.gain(k), t.name) for t in found if t.gain(k) < LEAST)
        words = ", ".join(f"{n} {g:.2f}" for g, n in slow) or "none"
        lines.append(f"{name}: mean {geometric_mean(gains):.2f} of {len(gains)}; slower than plain: {words}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
