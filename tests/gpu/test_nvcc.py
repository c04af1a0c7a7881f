"""The real compiler, where it is installed: everything compiles, and no kernel spills registers."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.corpus import KERNELS


@cache
def nvcc() -> str:
    """The compiler of the packages nvidia-cuda-nvcc and its like, else one on the path."""
    found = importlib.util.find_spec("nvidia")
    for folder in found.submodule_search_locations or () if found else ():
        tools = sorted(Path(folder).glob("cu*/bin/nvcc"))
        if tools:
            return str(tools[-1])
    return shutil.which("nvcc") or ""


@pytest.mark.skipif(not nvcc(), reason="no CUDA compiler")
@pytest.mark.slow
@pytest.mark.parametrize(("name", "architecture"), [("heat-3d", "sm_80"), ("softmax-rows", "sm_90")])
def test_compiles_without_spills(tmp_path: Path, name: str, architecture: str) -> None:
    path = KERNELS / f"{name}.c"
    made = generate(str(path), path.read_text(), GenOptions(target="cuda", stem=name))
    for ending, text in made.extra.files:
        (tmp_path / f"{name}{ending}").write_text(text)
    words = [nvcc(), f"-arch={architecture}", "-Xptxas", "-v", "-c", f"{name}.tw.cu", "-o", "out.o"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    spills = re.findall(r"(\d+) bytes spill stores", done.stdout + done.stderr)
    assert spills and set(spills) == {"0"}
