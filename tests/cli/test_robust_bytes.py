"""The same input, options and version give the same bytes: under any hash seed, from any working folder."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "examples" / "kernels"
CHOSEN = ("gemm", "jacobi-2d", "gramschmidt", "nussinov")


def artefacts(kernel: str, seed: str, cwd: Path, source: str, out: Path) -> list[bytes]:
    """The C file, the plan and the report."""
    out.mkdir()
    words = [
        sys.executable,
        "-m",
        "codegen",
        "gen",
        source,
        "-o",
        str(out / "k.c"),
        "--emit",
        "c,plan,report",
        f"--input-name={kernel}.c",
        f"-I{KERNELS}",
    ]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path, "LC_ALL": "C" if seed == "0" else "C.UTF-8"}
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return [(out / name).read_bytes() for name in ("k.c", "k.plan", "k.report.txt")]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", CHOSEN)
def test_same_bytes(kernel: str, tmp_path: Path) -> None:
    here = artefacts(kernel, "0", KERNELS, f"{kernel}.c", tmp_path / "a")
    assert b"tilewright: region 1" in here[0] and b"region 1" in here[1]
    assert artefacts(kernel, "4242", tmp_path, str(KERNELS / f"{kernel}.c"), tmp_path / "b") == here


def test_same_bytes_twice_in_one_process(tmp_path: Path) -> None:
    from codegen.options import CppOptions, GenOptions
    from codegen.pipeline import Generated, generate

    texts = {k: (KERNELS / f"{k}.c").read_text(encoding="utf-8") for k in ("gemm", "atax")}
    options = GenOptions(cpp=CppOptions(args=(f"-I{KERNELS}",)))

    def once(name: str) -> Generated:
        return replace(generate(str(KERNELS / f"{name}.c"), texts[name], options), seconds=())

    first = {k: once(k) for k in texts}
    for k in reversed(list(texts)):
        assert once(k) == first[k]
