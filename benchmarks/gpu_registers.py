"""What the CUDA compiler says of the corpus' kernels: registers, beside those that `inspect` predicts of plain kernels,
and spills. No GPU is needed.

    make gpu-registers                     all kernels
    make gpu-registers B='--only gemm,lu'  some of them
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from codegen.gpu.steps.cost import UNIT
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.report.text import describe_file

KERNELS = Path(__file__).parent.parent / "examples" / "kernels"
_ENTRY = re.compile(
    r"Compiling entry function '(?P<name>\w+)'.*?(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads.*?Used (?P<registers>\d+) registers(?P<rest>[^\n]*)",
    re.S,
)
# A kernel in a report, of which there may be one with counters of type int, and in the lines of `inspect`.
_MANGLED = re.compile(r"_Z(?P<length>\d+)(?P<rest>\w+)")
_PREDICTED = re.compile(
    r"^    (?P<name>\w+): .*; about (?P<wide>\d+) registers a thread(?:, (?P<narrow>\d+) with counters)?", re.M
)


@dataclass(frozen=True)
class Reported:
    """One kernel in the compiler's report, with what was predicted; 0: nothing was."""

    file: str
    kernel: str
    registers: int
    spilled: int  # bytes
    stack: int
    predicted: int = 0


def nvcc() -> str:
    """The compiler of the packages nvidia-cuda-nvcc and its like, else one on the path; empty: none."""
    found = importlib.util.find_spec("nvidia")
    for folder in found.submodule_search_locations or () if found else ():
        tools = sorted(Path(folder).glob("cu*/bin/nvcc"))
        if tools:
            return str(tools[-1])
    return shutil.which("nvcc") or ""


def reported(name: str, text: str) -> list[Reported]:
    """The compiler's report on a file, kernel by kernel."""
    return [
        Reported(name, m["name"], int(m["registers"]), int(m["stores"]) + int(m["loads"]), int(m["stack"]))
        for m in _ENTRY.finditer(text)
    ]


def predicted(text: str) -> dict[tuple[str, bool], int]:
    """What `inspect` predicts of plain kernels, by their names and whether their counters are of type int."""
    out: dict[tuple[str, bool], int] = {}
    for m in _PREDICTED.finditer(text):
        out[m["name"], False] = int(m["wide"])
        if m["narrow"]:
            out[m["name"], True] = int(m["narrow"])
    return out


def kernel_of(symbol: str) -> tuple[str, bool]:
    """The name of a kernel in a report, and whether its counters are of type int."""
    m = _MANGLED.fullmatch(symbol)
    if m is None:
        return symbol, False
    length = int(m["length"])
    return m["rest"][:length], m["rest"][length:].startswith("IiE")


def compiled(name: str, device: str, architecture: str) -> list[Reported] | str:
    """The report on a kernel of the corpus; a sentence where there is none."""
    path = KERNELS / f"{name}.c"
    source, options = path.read_text(encoding="utf-8"), GenOptions(target="cuda", stem="k", device=device)
    made = generate(str(path), source, options)
    if not any(r.transformed for r in made.regions):
        return "runs on the host"
    with tempfile.TemporaryDirectory() as folder:
        for ending, text in made.extra.files:
            (Path(folder) / f"k{ending}").write_text(text, encoding="utf-8")
        words = [nvcc(), f"-arch={architecture}", "-O3", "-Xptxas", "-v", "-cubin", "k.tw.cu", "-o", "k.cubin"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode != 0:
        return said.strip().splitlines()[-1]
    known = predicted(describe_file(str(path), source, options))
    return [replace(r, predicted=known.get(kernel_of(r.kernel), 0)) for r in reported(name, said)]


def shares(found: Sequence[Reported]) -> str:
    """Which part of the predictions is within 15 % of the report, and which needs as many registers of the hardware, or
    one unit more or less."""
    known = [r for r in found if r.predicted]
    if not known:
        return "nothing was predicted"
    units = [(-(-r.predicted // UNIT), -(-r.registers // UNIT)) for r in known]
    close = sum(abs(r.predicted - r.registers) <= 0.15 * r.registers for r in known)
    same, next_ = sum(a == b for a, b in units), sum(abs(a - b) <= 1 for a, b in units)
    parts = ", ".join(f"{100 * n / len(known):.0f} % {what}" for n, what in (
        (close, "within 15 %"), (same, f"the same in units of {UNIT}"), (next_, "within one unit")))  # fmt: skip
    return f"{len(known)} predicted: {parts}"


def fitted(name: str) -> bool:
    """Is it of the half of the corpus that the prediction's weights were fitted to?"""
    return hashlib.md5(name.encode()).digest()[0] % 2 == 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="kernels, by commas")
    parser.add_argument("--device", default="h200")
    parser.add_argument("--architecture", default="sm_90a")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", default="", metavar="FILE", help="write the reports there, too")
    given = parser.parse_args()
    if not nvcc():
        print("gpu-registers: no CUDA compiler (nvcc), neither on the path nor as a package of Python")
        return 0
    names = given.only.split(",") if given.only else sorted(p.stem for p in KERNELS.glob("*.c"))
    found: list[Reported] = []
    ask = partial(compiled, device=given.device, architecture=given.architecture)
    with ProcessPoolExecutor(given.jobs, multiprocessing.get_context("spawn")) as pool:
        for name, report in zip(names, pool.map(ask, names), strict=True):
            if isinstance(report, str):
                print(f"{name:24} {report}", flush=True)
                continue
            found += report
            for r in report:
                spilled = f"  {r.spilled} bytes spilled" if r.spilled else ""
                guess = f", {r.predicted} predicted" if r.predicted else ""
                print(f"{name:24} {r.kernel[:50]:50} {r.registers:4} registers{guess}{spilled}", flush=True)
    spills = [r for r in found if r.spilled]
    print(f"{len(found)} kernels of {len(names)} files: {len(spills)} spill")
    for what, half in (("weights were fitted to", True), ("others", False)):
        print(f"{what}: {shares([r for r in found if fitted(r.file) == half])}")
    if given.json:
        Path(given.json).write_text(json.dumps([asdict(r) for r in found]), encoding="utf-8")
    return 1 if spills else 0


if __name__ == "__main__":
    sys.exit(main())
