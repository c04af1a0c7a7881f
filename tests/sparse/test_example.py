"""The example as users build it, over several formats, and from a file."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "sparse-matrix"
pytestmark = pytest.mark.skipif(not (shutil.which("make") and shutil.which("cc")), reason="needs make and cc")


def make(out: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    flags = "-std=c11 -O1 -fopenmp -Wall -Wextra -Werror"
    command = ["make", "-C", str(FOLDER), f"TILEWRIGHT={sys.executable} -m codegen", f"OUT={out}", f"CFLAGS={flags}"]
    return subprocess.run([*command, *words], env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("fmt", ("CSR", "BCSR:3x2", "DIA"))
def test_example(fmt: str, tmp_path: Path) -> None:
    done = make(tmp_path, "all", "check", f"FORMAT={fmt}")
    assert done.returncode == 0 and "7840 entries: right" in done.stdout, done.stdout + done.stderr
    done = make(tmp_path, "run", f"FORMAT={fmt}", f"SIZES={FOLDER / 'small.mtx'}")
    assert done.returncode == 0 and "4 x 4, 9 entries: right" in done.stdout, done.stdout + done.stderr
    assert make(tmp_path, "-q", f"FORMAT={fmt}").returncode == 0
    assert make(tmp_path, "run", f"FORMAT={fmt}", "SIZES=missing.mtx").returncode != 0
