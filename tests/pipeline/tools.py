"""The two-file project of examples/builds, and the ways to build it."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "examples" / "builds"


@dataclass(frozen=True)
class Tree:
    """A copy of the project with a `tilewright` on PATH that writes down each file it is asked to generate."""

    folder: Path
    bin: Path

    @property
    def env(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "CC", "CFLAGS", "NINJA"))}
        here = os.path.dirname(sys.executable)  # meson, cmake and ninja from the environment of the tests
        path = os.pathsep.join([str(self.bin), kept["PATH"], here])
        return kept | {"PATH": path, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(w) for w in words], cwd=self.folder, env=self.env, capture_output=True, text=True,
                              check=False, timeout=120)

    def ok(self, *words: str | Path) -> str:
        done = self.run(*words)
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def generated(self) -> list[str]:
        """The sources generated since the last call."""
        log = self.bin / "log"
        names = log.read_text(encoding="utf-8").split() if log.exists() else []
        log.unlink(missing_ok=True)
        return sorted(names)

    def written(self) -> dict[str, int]:
        """The time of every file that generator, compiler and linker made."""
        found = [p for p in self.folder.rglob("*") if p.name.endswith((".tw.c", ".o")) or p.name == "smooth"]
        return {str(p): p.stat().st_mtime_ns for p in found if p.is_file()}


def plant(base: Path) -> Tree:
    """The project in a new folder."""
    tree = Tree(base / "a project", base / "bin")  # not every rule survives a space; these have to
    if not tree.folder.exists():
        shutil.copytree(PROJECT, tree.folder)
        tree.bin.mkdir()
        logged = 'for w; do case "$w" in *smooth.c|*main.c) echo "${w##*/}" >> "${0%/*}/log";; esac; done'
        script(tree.bin / "tilewright", f'[ "$1" = gen ] && {logged}\nexec "{sys.executable}" -m codegen "$@"')
        script(tree.bin / "tilewright-cc", f'exec "{sys.executable}" -m codegen.cli.wrap.wrapper "$@"')
    return tree


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


@dataclass(frozen=True)
class Builder:
    """How one build system is set up and asked to build; `binary` is where the program appears."""

    name: str
    needs: tuple[str, ...]
    setup: Callable[[Tree], object]
    build: tuple[str, ...]
    binary: str

    def missing(self) -> str:
        here = os.path.dirname(sys.executable)
        path = os.pathsep.join([os.environ.get("PATH", ""), here])
        return ", ".join(n for n in self.needs if shutil.which(n, path=path) is None)


def _cmake(generator: str) -> Callable[[Tree], object]:
    return lambda t: t.ok("cmake", "-G", generator, "-S", ".", "-B", "out", "-DCMAKE_C_FLAGS=-O1",
                          "-DTilewright_DIR=" + t.ok("tilewright", "--print-cmake-dir").strip())


def _ninja(tree: Tree) -> None:
    (tree.folder / "rules.ninja").symlink_to(tree.ok("tilewright", "--print-ninja").strip())


BUILDERS = (
    Builder("make", ("make", "cc"), lambda t: None, ("make", "-j8", "CFLAGS=-O1 -fopenmp"), "build/smooth"),
    Builder("ninja", ("ninja", "cc"), _ninja, ("ninja", "-j8"), "build/smooth"),
    Builder("cmake-ninja", ("cmake", "ninja", "cc"), _cmake("Ninja"), ("cmake", "--build", "out", "-j8"),
            "out/smooth"),
    Builder("cmake-make", ("cmake", "make", "cc"), _cmake("Unix Makefiles"), ("cmake", "--build", "out", "-j8"),
            "out/smooth"),
    Builder("meson", ("meson", "ninja", "cc"), lambda t: t.ok("meson", "setup", "out", "-Doptimization=1"),
            ("ninja", "-C", "out", "-j8"), "out/smooth"),
)
