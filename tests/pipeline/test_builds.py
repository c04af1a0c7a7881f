"""Make, Ninja, CMake and Meson on a project of two files, with the rules that are shipped."""
from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codegen import __version__
from codegen.resources import share_dir
from tests.corpus import ALL
from tests.pipeline.tools import BUILDERS, PROJECT, ROOT, Builder, Tree, plant

BOTH = ["main.c", "smooth.c"]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return plant(tmp_path)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("builder", [b for b in BUILDERS if ALL or b.name != "cmake-make"], ids=lambda b: b.name)
def test_build(builder: Builder, tree: Tree) -> None:
    if builder.missing():
        pytest.skip(f"needs {builder.missing()}")
    # An input that cannot be read fails the build and leaves nothing that looks like a result.
    source = tree.folder / "smooth.c"
    edit(source, "#pragma endscop", "")
    builder.setup(tree)
    failed = tree.run(*builder.build)
    assert failed.returncode != 0 and "smooth.c:6" in failed.stdout + failed.stderr
    assert not [p for p in tree.written() if "smooth.tw" in p or p.endswith("/smooth")]

    # Mended, it builds and runs. The second time there is nothing to do.
    edit(source, "[j + 1]);\n", "[j + 1]);\n#pragma endscop\n")
    tree.ok(*builder.build)
    assert tree.ok(tree.folder / builder.binary) == "smooth: ok\n"
    assert set(tree.generated()) == set(BOTH)
    before = tree.written()
    assert len(before) == 5
    tree.ok(*builder.build)
    assert tree.generated() == [] and tree.written() == before

    # A header that changed reaches both generated files and the program.
    edit(tree.folder / "grid.h", "#define CENTRE 0.5", "#define CENTRE 0.25")
    tree.ok(*builder.build)
    assert tree.generated() == BOTH
    after = tree.written()
    assert after[str(tree.folder / builder.binary)] > before[str(tree.folder / builder.binary)]
    assert tree.ok(tree.folder / builder.binary) == "smooth: ok\n"
    tree.ok(*builder.build)
    assert tree.generated() == [] and tree.written() == after


@pytest.mark.slow
@pytest.mark.skipif(bool(BUILDERS[0].missing()), reason="needs make and cc")
def test_make_rules(tree: Tree) -> None:
    """Sources in folders; headers that change the object alone; results that someone deleted."""
    (tree.folder / "deep" / "er").mkdir(parents=True)
    for name in ("smooth.c", "grid.h"):
        shutil.move(tree.folder / name, tree.folder / "deep" / "er" / name)
    (tree.folder / "Makefile").write_text(
        "TILEWRIGHT_SOURCES := deep/er/smooth.c\nTILEWRIGHT_OUT := o\ninclude $(shell tilewright --print-make)\n"
        ".DEFAULT_GOAL := all\nall: $(TILEWRIGHT_OBJECTS)\n", encoding="utf-8")
    tree.ok("make", "CFLAGS=-O1")
    made, built = tree.folder / "o/deep/er/smooth.tw.c", tree.folder / "o/deep/er/smooth.tw.o"
    assert '#line 1 "smooth.c"' in made.read_text() and "#pragma omp" not in made.read_text()  # no -fopenmp in CFLAGS
    before = made.stat().st_mtime_ns, built.stat().st_mtime_ns
    edit(tree.folder / "deep/er/grid.h", "#endif", "#define UNUSED 1\n#endif")
    tree.ok("make", "CFLAGS=-O1")
    assert made.stat().st_mtime_ns == before[0] and built.stat().st_mtime_ns > before[1]
    assert "tilewright" not in tree.ok("make", "CFLAGS=-O1")
    made.unlink()
    (tree.folder / "o/deep/er/smooth.tw.stamp").unlink()
    tree.ok("make", "CFLAGS=-O1 -fopenmp", "TILEWRIGHT_FLAGS=--no-line")
    assert "#pragma omp" in made.read_text() and "#line" not in made.read_text()
    tree.ok("make", "tilewright-clean")
    assert not list((tree.folder / "o").rglob("*.*"))


@pytest.mark.slow
@pytest.mark.skipif(bool(BUILDERS[0].missing()), reason="needs make and cc")
def test_make_hands_flags_on(tree: Tree) -> None:
    """Those that change the meaning of C."""
    (tree.folder / "Makefile").write_text(
        "TILEWRIGHT_SOURCES := smooth.c\nTILEWRIGHT_OUT := o\ninclude $(shell tilewright --print-make)\n"
        ".DEFAULT_GOAL := all\nall: $(TILEWRIGHT_GENERATED)\n", encoding="utf-8")
    done = tree.run("make", "CFLAGS=-O1 -ftrapv -g")
    assert done.returncode == 0 and "[compiler-flag]" in done.stderr


@pytest.mark.slow
def test_cmake_hands_flags_on(tree: Tree) -> None:
    if not shutil.which("cmake") or not shutil.which("make"):
        pytest.skip("needs cmake and make")
    edit(tree.folder / "CMakeLists.txt", "tilewright_generate(", "target_compile_options(smooth PRIVATE -ftrapv)\n"
         "target_compile_options(smooth PRIVATE $<$<CONFIG:Debug>:-g>)\ntilewright_generate(")
    tree.ok("cmake", "-S", ".", "-B", "b", f"-DTilewright_DIR={share_dir() / 'cmake'}", "-DCMAKE_C_FLAGS=-fwrapv -Wall")
    done = tree.run("cmake", "--build", "b")
    said = done.stdout + done.stderr
    assert "-ftrapv" in said and "[compiler-flag]" in said


@pytest.mark.slow
def test_eight_at_once(tree: Tree) -> None:
    """Runs that write the same file at the same time: each leaves a whole one, and nothing else."""
    command = [sys.executable, "-m", "codegen", "gen", "smooth.c", "-o", "same.c", "-MD"]
    runs = [subprocess.Popen(command, cwd=tree.folder, env=tree.env) for _ in range(8)]
    assert [run.wait(timeout=120) for run in runs] == [0] * 8
    assert (tree.folder / "same.c").read_text(encoding="utf-8") == tree.ok(*command[:5])
    made = {p.name for p in tree.folder.iterdir()} - {p.name for p in PROJECT.iterdir()}
    assert made == {"same.c", "same.d"}


def test_what_is_shipped() -> None:
    """The CMake package tells the version of the Python one, and setup.cfg ships every file."""
    version = (share_dir() / "cmake" / "TilewrightConfigVersion.cmake").read_text(encoding="utf-8")
    assert f'set(PACKAGE_VERSION "{__version__}")' in version
    shipped = {".mk", ".ninja", ".cmake"}
    own = {share_dir() / "man", share_dir() / "completions"}  # shipped whole
    assert {p.suffix for p in share_dir().rglob("*") if p.is_file() and p.parent not in own} == shipped
    config = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    assert all(f"*{suffix}" in config for suffix in shipped)
    assert all(f"share/{p.name}/*" in config for p in own)
