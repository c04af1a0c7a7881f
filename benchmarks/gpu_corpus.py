"""The corpus on this machine's GPU: every kernel against its original at many sizes, bit by bit.

    make check-gpu                          all kernels; says so where there is no GPU
    make check-gpu B='--only gemm,lu'       some of them
    make check-gpu B='--sanitize 30'        besides, memcheck and racecheck of compute-sanitizer on thirty
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.device import missing

KERNELS = Path(__file__).parent.parent / "examples" / "kernels"
# Devices round these otherwise than the host's library: compared with a tolerance.
_FUNCTIONS = "exp|log|log2|log10|pow|sin|cos|tan|tanh|sinh|cosh|erf|erfc|cbrt|exp2|expm1|log1p|hypot"
MATH = re.compile(rf"\b({_FUNCTIONS})f?\(", re.I)
TOOLS = ("memcheck", "racecheck")


@dataclass(frozen=True)
class Found:
    """What became of a kernel: `equal`, `near` (with functions of <math.h>), `host` (none of it runs on a device), or
    what is wrong, with the line that says so."""

    name: str
    state: str
    line: str = ""


def compared(name: str, device: str, limit: float) -> Found:
    """A kernel through `check`, which compiles for the GPU where there is one."""
    path = KERNELS / f"{name}.c"
    words = [sys.executable, "-m", "codegen", "check", "--target", "cuda", "--device", device, str(path)]
    state = "equal"
    if MATH.search(path.read_text(encoding="utf-8")):
        words.append("--reassociate")
        state = "near"
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return Found(name, "unfinished")
    lines = [x for x in done.stdout.splitlines() if x.startswith("region")]
    said = "; ".join(lines) or (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
    if done.returncode == 0 and lines and "agree" in said:
        return Found(name, state, said)
    if done.returncode == 0 and "nothing to check" in said:
        return Found(name, "host", said)
    return Found(name, "wrong", f"{said} {(done.stderr.strip().splitlines() or [''])[-1]}".strip())


def sanitized(name: str, device: str, limit: float) -> list[Found]:
    """A kernel's own program under the tools of compute-sanitizer."""
    with tempfile.TemporaryDirectory() as folder:
        path, stem = KERNELS / f"{name}.c", f"{folder}/{name}"
        flags = ["-DDRIVER", "-DTW_DEVICE_ALWAYS", "-I", str(KERNELS), "-I", folder]
        gen = ["gen", "--target", "cuda", "--device", device, str(path), "-o", f"{folder}/"]
        steps = (
            [sys.executable, "-m", "codegen", *gen],
            [shutil.which("gcc") or "cc", "-O1", *flags, "-c", f"{stem}.tw.c", "-o", f"{stem}.o"],
            ["nvcc", "-O1", "-arch=native", "-DTW_DEVICE_ONLY", "-c", f"{stem}.tw.cu", "-o", f"{stem}.cu.o"],
            ["nvcc", f"{stem}.o", f"{stem}.cu.o", "-lm", "-o", stem],
        )
        for words in steps:
            done = subprocess.run(words, capture_output=True, text=True)
            if done.returncode:
                return [Found(name, "wrong", (done.stderr.strip().splitlines() or ["?"])[-1])]
        if "__global__" not in Path(f"{stem}.tw.cu").read_text(encoding="utf-8"):
            return [Found(name, "host", "no part of it runs on a device")]
        out = []
        for tool in TOOLS:
            words = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "7", stem]
            try:
                done = subprocess.run(words, capture_output=True, text=True, timeout=limit)
            except subprocess.TimeoutExpired:
                out.append(Found(name, "unfinished", tool))
                continue
            last = (done.stdout.strip().splitlines() or ["?"])[-1]
            out.append(Found(name, "clean" if done.returncode == 0 else "wrong", f"{tool}: {last}"))
        return out


def spread(names: Sequence[str], count: int) -> list[str]:
    """So many of them, evenly."""
    return [names[k * len(names) // count] for k in range(min(count, len(names)))]


def table(found: Sequence[Found]) -> list[str]:
    """How many of each kind, and every line that is wrong."""
    kinds = {k: [f.name for f in found if f.state == k] for k in dict.fromkeys(f.state for f in found)}
    out = [f"{len(names):4} {kind}" + (f": {' '.join(names)}" if kind not in ("equal", "clean") else "")
           for kind, names in sorted(kinds.items())]  # fmt: skip
    return out + [f"  {f.name}: {f.line}" for f in found if f.state == "wrong"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="kernels, by commas")
    parser.add_argument("--device", default="h200", help="the device that plans are made for")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit", type=float, default=300, help="seconds for a kernel")
    parser.add_argument("--within", type=float, default=3600, help="seconds after which no kernel is begun")
    parser.add_argument("--no-compare", action="store_true", help="compute-sanitizer alone")
    parser.add_argument("--sanitize", type=int, default=0, metavar="N", help="compute-sanitizer on N of them")
    given = parser.parse_args()
    why = missing()
    if why:
        print(f"check-gpu: nothing is run: {why}")
        return 0
    end = time.monotonic() + given.within

    def compare(name: str) -> Found:
        left = min(given.limit, end - time.monotonic())
        return compared(name, given.device, left) if left > 0 else Found(name, "unfinished")

    names = given.only.split(",") if given.only else sorted(p.stem for p in KERNELS.glob("*.c"))
    with ThreadPoolExecutor(given.jobs) as pool:
        found = [] if given.no_compare else list(pool.map(compare, names))
        if found:
            print(f"{len(names)} kernels on the device, against the original:", *table(found), sep="\n", flush=True)
        run = [f.name for f in found if f.state in ("equal", "near")] if found else names
        if given.sanitize and shutil.which("compute-sanitizer") is None:
            print("no compute-sanitizer on the path")
        elif given.sanitize:
            some = spread(run, given.sanitize)
            tried = [x for xs in pool.map(lambda n: sanitized(n, given.device, given.limit), some) for x in xs]
            print(f"{len(some)} kernels under {' and '.join(TOOLS)}:", *table(tried), sep="\n")
            found += tried
    return 1 if any(f.state == "wrong" for f in found) else 0


if __name__ == "__main__":
    sys.exit(main())
