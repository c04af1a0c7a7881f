"""Generated kernels on a GPU: built, checked bit by bit against plain kernels, and timed against cuBLAS and the memory.

    make bench-gpu                       the GPU of this machine
    make bench-gpu B='--prepare FOLDER'  the files alone, for another machine: `sh run.sh` there
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from codegen.options import GenOptions
from codegen.pipeline import generate

HERE = Path(__file__).parent / "device"
RUN = """#!/bin/sh
# Builds and runs what lies here: a CUDA compiler and a GPU are needed, cuBLAS to compare with.
set -e
nvcc -O3 -arch=native -std=c++17 bench.cu -o bench -ldl
folder=${CUBLAS:-$(dirname "$(ls /usr/local/cuda*/lib64/libcublas.so.* $(python3 -c 'import nvidia, os
print(" ".join(os.path.join(p, "cu13", "lib", "libcublas.so.13") for p in nvidia.__path__))' 2>/dev/null) 2>/dev/null |
  head -1)" 2>/dev/null)}
exec ./bench "$folder"
"""


def prepare(folder: Path, device: str) -> None:
    """All files that a measurement needs."""
    folder.mkdir(parents=True, exist_ok=True)
    source = HERE / "kernels.c"
    made = generate(str(source), source.read_text(encoding="utf-8"),
                    GenOptions(target="cuda", stem="kernels", device=device, arrays="device"))  # fmt: skip
    for region in made.regions:
        if not region.transformed:
            raise SystemExit(f"region {region.index} was left as it is")
    for ending, text in made.extra.files:
        (folder / f"kernels{ending}").write_text(text, encoding="utf-8")
    shutil.copy(HERE / "bench.cu", folder)
    (folder / "run.sh").write_text(RUN, encoding="utf-8")


def missing() -> str:
    """Why nothing can be measured here; empty if it can."""
    if shutil.which("nvcc") is None:
        return "no CUDA compiler (nvcc) on the path"
    probe = shutil.which("nvidia-smi")
    if probe is None or subprocess.run([probe, "-L"], capture_output=True).returncode:
        return "no GPU that nvidia-smi finds"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--prepare", metavar="FOLDER", help="write the files there and stop")
    parser.add_argument("--device", default="h200", help="the device that tiles are chosen for")
    given = parser.parse_args()
    folder = Path(given.prepare or "build/bench/device")
    prepare(folder, given.device)
    if given.prepare:
        return 0
    why = missing()
    if why:
        print(f"bench-gpu: nothing is measured: {why}. The files are in {folder}; run.sh there builds and runs them.")
        return 0
    return subprocess.run(["sh", "run.sh"], cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
