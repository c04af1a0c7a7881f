"""Generates, builds and runs a file of the matrix: what it prints, as each build of its target does. Compilers may not
say a word."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from codegen.checking.ranks.run import MORE_THAN_CORES
from codegen.gpu.emulation import FLAGS as DEVICE_FLAGS
from codegen.gpu.emulation import emulator_folder
from codegen.options import CppOptions, GenOptions
from codegen.pipeline import Generated, generate
from codegen.sunway.emulation.host import ANY_FORM, build_library, compile_program, run_program
from tests.combinations.design import File, program, targets
from tests.gpu.test_opencl import driver

WARNINGS = ("-Wall", "-Wextra", "-Werror")
HOST = {"arm64": "aarch64", "amd64": "x86_64"}.get(platform.machine(), platform.machine())
SECONDS = 300
Row = Mapping[str, Any]


def options(row: Row, stem: str) -> GenOptions:
    given = {"target": "openmp", **row["options"]}
    return GenOptions(stem=stem, cpp=CppOptions(), **given)


def made(file: File) -> Generated:
    """What is generated for a file of the matrix."""
    return generate("in.c", program(file.techniques), options(targets()[file.target], "in"))


def outputs(file: File, result: Generated, folder: Path) -> dict[str, list[str]]:
    """What the results print, by the words of the build. Builds whose tools are not here are left out."""
    row = targets()[file.target]
    (folder / "in.tw.c").write_text(result.text, encoding="utf-8")
    for ending, text in result.extra.files:
        (folder / f"in{ending}").write_text(text, encoding="utf-8")
    found = {}
    for build in row["builds"]:
        words = _KINDS[row["kind"]](row, build, folder)
        if words is not None:
            found[" ".join((build.get("family", ""), *build["command"], build.get("march", ""))).strip()] = words
    return found


def original(file: File, folder: Path) -> list[str]:
    """What the source prints."""
    (folder / "in.c").write_text(program(file.techniques), encoding="utf-8")
    _compiled(["gcc", "-O1", "-std=c11", *WARNINGS, "-Wno-unknown-pragmas", "in.c", "-lm", "-o", "original"], folder)
    return _said(["./original"], folder)


def _compiled(words: Sequence[str], folder: Path) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and not said, f"{' '.join(words)}\n{said[:6000]}"


def _linked(words: Sequence[str], folder: Path) -> None:
    """A program of the one file; linkers may say something about libraries."""
    _compiled([*words, "-c", "in.tw.c", "-o", "in.o"], folder)
    words = [*words, "in.o", "-lm", "-o", "program"]
    subprocess.run(words, cwd=folder, capture_output=True, timeout=SECONDS, check=True)


def _said(words: Sequence[str], folder: Path, threads: int = 2, **env: str) -> list[str]:
    given = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive", **env}
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=SECONDS, env=given)
    assert done.returncode == 0, f"{' '.join(words)}: status {done.returncode}\n{done.stderr[-3000:]}"
    return done.stdout.splitlines()


def _flags(row: Row, build: Row) -> list[str]:
    small = row["flags"] if build.get("small") else ()
    march = (f"-march={build['march']}",) if "march" in build else ()
    return [*WARNINGS, *march, *small]


def _command(build: Row) -> tuple[list[str] | None, list[str]]:
    """The compiler for a family of processors, and what runs its programs, if that is anything; None without one."""
    family, (compiler, *flags) = build.get("family", HOST), build["command"]
    if family == HOST:
        return None if shutil.which(compiler) is None else [compiler, *flags], _runner(build, family)
    compiler = f"{family}-linux-gnu-{compiler}"
    return None if shutil.which(compiler) is None else [compiler, *flags, "-static"], _runner(build, family)


def _runner(build: Row, family: str) -> list[str]:
    """Empty: this processor. `false`: nothing here runs it."""
    wanted = build.get("needs", "")
    if family == HOST and (not wanted or re.search(rf"\b{wanted}\b", _processor())):
        return []
    qemu = shutil.which(f"qemu-{family}") or shutil.which(f"qemu-{family}-static")
    return ["false"] if qemu is None or wanted.startswith("avx512") else [qemu, "-cpu", "max"]


@cache
def _processor() -> str:
    path = Path("/proc/cpuinfo")
    return path.read_text() if path.exists() else ""


def _host(row: Row, build: Row, folder: Path) -> list[str] | None:
    command, runner = _command(build)
    if command is None:
        return None
    _linked([*command, *_flags(row, build)], folder)
    return None if runner == ["false"] else _said([*runner, "./program"], folder)


def _ranks(row: Row, build: Row, folder: Path) -> list[str] | None:
    """All ranks say the same; each line is there as often as there are ranks."""
    command, runner = _command(build)
    if command is None or runner == ["false"] or shutil.which("mpirun") is None:
        return None
    ranks = row["ranks"]
    _linked([*command, *_flags(row, build)], folder)
    said = _said(["mpirun", "-n", str(ranks), *runner, "./program"], folder, **MORE_THAN_CORES)
    found = list(dict.fromkeys(said))
    assert all(said.count(line) == ranks for line in found), "ranks differ"
    return found


def _device(row: Row, build: Row, folder: Path) -> list[str] | None:
    """On the emulator; the real compiler has a look at it, too, where it is there."""
    if shutil.which("g++") is None:
        return None
    source = next(p for ending in (".tw.cu", ".tw.hip") if (p := folder / f"in{ending}").exists())
    emulated = ["-I", str(emulator_folder())]
    flags = [*_flags(row, build), "-DTW_DEVICE_ALWAYS"]
    _compiled([*build["command"], *flags, "-c", "in.tw.c", "-o", "host.o"], folder)
    device = [f for f in DEVICE_FLAGS if f not in ("-w", "-fvisibility=hidden")]
    words = ["g++", "-x", "c++", *device, *WARNINGS, "-fsanitize=thread", *emulated]
    _compiled([*words, "-c", source.name, "-o", "device.o"], folder)
    _compiled(["gcc", "-O2", *emulated, "-c", str(emulator_folder() / "emulator.c"), "-o", "emulator.o"], folder)
    _compiled(["g++", "host.o", "device.o", "emulator.o", "-lm", "-lpthread", "-o", "program"], folder)
    if source.suffix == ".cu" and shutil.which("nvcc"):
        _compiled(["nvcc", "-arch=sm_80", "-Werror", "all-warnings", "-c", source.name, "-o", "real.o"], folder)
    return _said(["./program"], folder)


def _opencl(row: Row, build: Row, folder: Path) -> list[str] | None:
    if not driver():
        return None
    flags = [*_flags(row, build), "-DTW_DEVICE_ONLY", "-DTW_DEVICE_ALWAYS", "-Wno-deprecated-declarations"]
    _compiled([*build["command"], *flags, "in.tw.c", "in.tw.cl.c", "-lOpenCL", "-lm", "-o", "program"], folder)
    return _said(["./program"], folder)


def _cores(row: Row, build: Row, folder: Path) -> list[str] | None:
    flags = ("-Wall", "-Wextra", ANY_FORM)
    (folder / "in_master.c").write_text((folder / "in.tw.c").read_text())
    files = [p for n in ("in_master.c", "in_slave.c") if (p := folder / n).exists()]
    messages = compile_program(files, folder / "program", build_library(Path(_kept().name)), flags)
    assert messages == "", messages[:6000]
    ran = run_program(folder / "program")
    assert ran.code == 0, ran.err[-3000:]
    return ran.out.splitlines()


@cache
def _kept() -> tempfile.TemporaryDirectory[str]:
    """A folder for what all files need, for as long as this process runs."""
    return tempfile.TemporaryDirectory()


_KINDS = {"host": _host, "ranks": _ranks, "device": _device, "opencl": _opencl, "cores": _cores}
