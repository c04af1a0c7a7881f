"""Programs on ranks: compiled with mpicc, run by mpirun, oversubscribed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from codegen.checking.ranks.run import MORE_THAN_CORES
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.corpus import KERNELS

needs_mpi = pytest.mark.skipif(not (shutil.which("mpicc") and shutil.which("mpirun")), reason="no mpicc or mpirun")
FLAGS = ("-std=gnu11", "-ffp-contract=off", "-DTW_NO_FMA", "-DDRIVER", f"-I{KERNELS}")
# Small blocks, and threads for little work, as `check` has them.
SMALL = ("-DTW_SIZE(n)=((n) < 20 ? (n) : 20)", "-DTW_PARALLEL_MIN=100", "-DTW_LATENCY=0", "-DTW_BANDWIDTH=1e30")


def for_ranks(name: str, text: str, **options: object) -> str:
    """A source for ranks."""
    return generate(name, text, GenOptions(target="mpi", **options)).text  # type: ignore[arg-type]


def compiled(compiler: str, text: str, at: Path, flags: Sequence[str] = ()) -> Path:
    """A program; no warning is expected."""
    source = at.with_suffix(".c")
    source.write_text(text)
    command = [compiler, "-O1", "-Wall", "-Wextra", "-Werror", *FLAGS, *flags, str(source), "-o", str(at), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return at


def on_ranks(
    program: Path,
    ranks: int,
    arguments: Sequence[str] = (),
    threads: int = 1,
    limit: float = 60,
    at: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """What a program says on so many ranks."""
    command = ["mpirun", "-n", str(ranks), str(program), *arguments]
    env = {**os.environ, **MORE_THAN_CORES, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    return subprocess.run(command, capture_output=True, text=True, timeout=limit, env=env, cwd=at)


def results(output: str) -> set[str]:
    """Lines of checksums; all ranks say the same."""
    return {line for line in output.splitlines() if line.strip() and "time" not in line.lower()}
