"""What the CUDA compiler says of the corpus' kernels: registers, spills, stack and shared memory. No GPU is needed.

    make gpu-registers                     all kernels
    make gpu-registers B='--only gemm,lu'  some of them
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from codegen.options import GenOptions
from codegen.pipeline import generate

KERNELS = Path(__file__).parent.parent / "examples" / "kernels"
_ENTRY = re.compile(
    r"Compiling entry function '(?P<name>\w+)'.*?(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads.*?Used (?P<registers>\d+) registers(?P<rest>[^\n]*)",
    re.S,
)


@dataclass(frozen=True)
class Reported:
    """One kernel in the compiler's report."""

    file: str
    kernel: str
    registers: int
    spilled: int  # bytes
    stack: int


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


def compiled(name: str, device: str, architecture: str) -> list[Reported] | str:
    """The report on a kernel of the corpus; a sentence where there is none."""
    path = KERNELS / f"{name}.c"
    made = generate(str(path), path.read_text(encoding="utf-8"), GenOptions(target="cuda", stem="k", device=device))
    if not any(r.transformed for r in made.regions):
        return "runs on the host"
    with tempfile.TemporaryDirectory() as folder:
        for ending, text in made.extra.files:
            (Path(folder) / f"k{ending}").write_text(text, encoding="utf-8")
        words = [nvcc(), f"-arch={architecture}", "-O3", "-Xptxas", "-v", "-cubin", "k.tw.cu", "-o", "k.cubin"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    said = done.stdout + done.stderr
    return reported(name, said) if done.returncode == 0 else said.strip().splitlines()[-1]


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
                print(f"{name:24} {r.kernel[:50]:50} {r.registers:4} registers{spilled}", flush=True)
    spills = [r for r in found if r.spilled]
    print(f"{len(found)} kernels of {len(names)} files: {len(spills)} spill")
    if given.json:
        Path(given.json).write_text(json.dumps([asdict(r) for r in found]), encoding="utf-8")
    return 1 if spills else 0


if __name__ == "__main__":
    sys.exit(main())
