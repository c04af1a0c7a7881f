"""Generating, building and running files for a device, as the original and on the emulator."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.gpu.dialect import CUDA
from codegen.gpu.emulation import FLAGS, emulator_folder
from codegen.gpu.region import made_for_device
from codegen.limits import PROGRAM, run
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from codegen.region import ProvenRegion
from codegen.region_model import model_region
from codegen.source_file import open_source
from tests.corpus import KERNELS

C = ("-std=gnu11", "-O1", "-DTW_DEVICE_ALWAYS", "-ffp-contract=off", "-fwrapv", "-Wall", "-Wextra", "-Werror",
     "-Wno-unknown-pragmas")  # fmt: skip
CXX = tuple(f for f in FLAGS if f not in ("-w", "-fvisibility=hidden"))
needs_cxx = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")


def compiled(words: Sequence[str]) -> None:
    """Run a compiler, which has nothing to say."""
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode or done.stdout or done.stderr:
        raise AssertionError(done.stdout + done.stderr)


def build_emulator(folder: Path) -> Path:
    out = folder / "emulator.o"
    source = emulator_folder() / "emulator.c"
    compiled(["gcc", *C, "-O2", "-I", str(emulator_folder()), "-c", str(source), "-o", str(out)])
    return out


@dataclass
class Ran:
    code: int
    out: str
    err: str
    counts: Mapping[str, int]


def run_program(program: Path, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> Ran:
    counts = program.with_suffix(".counts")
    counts.unlink(missing_ok=True)
    env = {**os.environ, "EMU_COUNTS": str(counts), **(environment or {})}
    done = run([str(program), *arguments], PROGRAM, env=env)
    lines = counts.read_text().splitlines() if counts.exists() else []
    found = {line.split()[0]: int(line.split()[1]) for line in lines}
    return Ran(done.code, done.out.decode(), done.err.decode(), found)


@dataclass
class Built:
    made: Generated
    original: Path
    emulated: Path

    def agree(self, *sizes: int, env: Mapping[str, str] | None = None) -> Ran:
        """Both print the same; what the emulator's run was."""
        words = [str(s) for s in sizes]
        want, got = run_program(self.original, words), run_program(self.emulated, words, env)
        assert (got.code, got.out) == (0, want.out), got.err
        return got


def link(folder: Path, name: str, host: str, device: str, header: str, emulator: Path, flags: Sequence[str]) -> Path:
    """The program for the emulator. Nothing of it may cause a warning."""
    (folder / f"{name}.tw.c").write_text(host)
    (folder / f"{name}.tw.cu").write_text(device)
    (folder / f"{name}.tw.h").write_text(header)
    files = [folder / f"{name}.host.o", folder / f"{name}.cu.o", emulator]
    compiled(["gcc", *C, *flags, "-c", str(folder / f"{name}.tw.c"), "-o", str(files[0])])
    words = ["g++", "-x", "c++", *CXX, "-Wall", "-Wextra", "-fsanitize=thread", "-I", str(emulator_folder())]
    compiled([*words, "-c", str(folder / f"{name}.tw.cu"), "-o", str(files[1])])
    program = folder / f"{name}_emulated"
    compiled(["g++", *map(str, files), "-lm", "-lpthread", "-o", str(program)])
    return program


def build(
    name: str, folder: Path, emulator: Path, text: str = "", defined: Sequence[str] = (), **options: object
) -> Built:
    """Both programs, of a kernel of the corpus or of a text with a `main` of its own."""
    path = KERNELS / f"{name}.c" if not text else folder / f"{name}.c"
    if text:
        path.write_text(text)
    made = generate(str(path), path.read_text(), GenOptions(target="cuda", stem=name, **options))  # type: ignore[arg-type]
    assert any(r.transformed for r in made.regions), made.diagnostics
    flags = ("-I", str(KERNELS), "-DDRIVER")
    original = folder / f"{name}_original"
    compiled(["gcc", *C, *flags, str(path), "-lm", "-o", str(original)])
    device, header = made.extra.file(".tw.cu"), made.extra.file(".tw.h")
    return Built(made, original, link(folder, name, made.text, device, header, emulator, (*flags, *defined)))


def device_region(text: str, options: GenOptions, path: str = "f.c") -> ProvenRegion:
    """The one region of a text, in the order and with the proofs of a device."""
    (found,) = open_source(path, text, options).slices
    model = model_region(found, options)
    assert model is not None
    return made_for_device(model, options, CUDA)


def why_refused(text: str, plan: str) -> str:
    """What is said of a plan for a region that cannot be carried out."""
    with pytest.raises(InputError) as error:
        generate("f.c", text, GenOptions(target="cuda", stem="f", plan_text=plan))
    return error.value.message
