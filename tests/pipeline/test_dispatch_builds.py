"""Builds with `--dispatch`: rules for make and `tilewright-cc`, for this processor and for another one."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

import pytest

from tests.pipeline.tools import BUILDERS, Tree, plant
from tests.run.test_dispatch import QEMU, X86

HERE, THERE = ("cc", ()), (X86, (QEMU, "-L", f"/usr/{X86.removesuffix('-gcc')}"))
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(BUILDERS[0].missing()), reason="needs make and cc")]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return plant(tmp_path)


@pytest.mark.parametrize("compiler, runner", [HERE, THERE], ids=["here", "x86-64"])
@pytest.mark.parametrize("wrapped", [False, True], ids=["rules", "tilewright-cc"])
def test_a_project(compiler: str, runner: tuple[str, ...], wrapped: bool, tree: Tree) -> None:
    if not all(map(shutil.which, (compiler, *runner[:1]))):
        pytest.skip("no x86-64 compiler and emulator")
    flags, program = "-O1 -Wall -Werror -Wno-unknown-pragmas", tree.folder / "build" / "smooth"
    if wrapped:
        program.parent.mkdir()
        words = ["tilewright-cc", "--dispatch", "--", compiler, *flags.split(), "main.c", "smooth.c"]
        tree.ok(*words, "-lm", "-o", program)
    else:
        tree.ok("make", f"CC={compiler}", f"CFLAGS={flags}", "TILEWRIGHT_FLAGS=--dispatch")
        assert "smooth_avx512(" in program.with_name("smooth.tw.c").read_text(encoding="utf-8")
    assert tree.ok(*runner, program) == "smooth: ok\n"
    x86 = bool(runner) or platform.machine() == "x86_64"
    assert (b"smooth_avx2" in program.read_bytes()) == x86


def test_cxx_beside_it(tree: Tree) -> None:
    """One version of C++ sources, which stops no build."""
    nest = "#pragma scop\n  for (int i = 0; i < n; i++)\n    a[i] = 2 * a[i];\n#pragma endscop\n"
    (tree.folder / "f.cpp").write_text(f"void f(int n, double *a)\n{{\n{nest}}}\n", encoding="utf-8")
    done = tree.run("tilewright-cc", "--dispatch", "--", "g++", "-c", "f.cpp")
    assert done.returncode == 0 and "f.cpp: no --dispatch, which is for C files" in done.stderr
    rules = (tree.folder / "Makefile").read_text(encoding="utf-8").replace("smooth.c main.c", "f.cpp")
    (tree.folder / "Makefile").write_text(f"{rules}\nobjects: $(TILEWRIGHT_OBJECTS)\n", encoding="utf-8")
    tree.ok("make", "objects", "TILEWRIGHT_FLAGS=--dispatch --reassociate")
    made = (tree.folder / "build" / "f.tw.cpp").read_text(encoding="utf-8")
    assert "--reassociate" in made and "--dispatch" not in made
