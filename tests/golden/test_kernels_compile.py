"""Kernels of the corpus come out as C that compilers have nothing to say about; `make corpus` takes all."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from codegen.source.write import read_source
from tests.compilers import with_openmp
from tests.corpus import COMPILED, KERNELS, kernels, lost

FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-fsyntax-only"]


def complaints(compiler: str, path: Path, *flags: str) -> list[str]:
    """What the compiler says, in order, without the places."""
    words = [compiler, *FLAGS, *flags, f"-I{KERNELS}", str(path)]
    done = subprocess.run(words, text=True, capture_output=True)
    said = [line.split(": ", 1)[1] for line in done.stderr.splitlines() if " error: " in line or " warning: " in line]
    assert said or done.returncode == 0, done.stderr
    return said


# Known to fail where a variable of the function becomes one of the region: its declaration is left unused.
@pytest.mark.slow
@pytest.mark.parametrize("name", [p.stem for p in kernels(*COMPILED)])
def test_kernel(name: str, tmp_path: Path) -> None:
    path = KERNELS / f"{name}.c"
    made = generate(str(path), read_source(str(path)), GenOptions(cpp=CppOptions(args=(f"-I{KERNELS}",))))
    out = tmp_path / f"{name}.c"
    out.write_text(made.text, encoding="utf-8")
    assert all(r.transformed for r in made.regions), [n.message for d in made.diagnostics for n in d.notes]
    assert not lost(name, made.diagnostics)
    for compiler in with_openmp():
        said = complaints(compiler, out)
        # What a compiler says about the source is the source's own affair; pragmas of ours are gone.
        known = complaints(compiler, path, "-Wno-unknown-pragmas") if said else ()
        assert [c for c in said if c not in known] == []
