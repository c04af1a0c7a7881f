"""Building and running what the tensor benchmark measures: generate, compile, link, drive."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = Path(__file__).resolve().parent / "tensor"
KERNELS = ROOT / "examples" / "kernels"
BLAS = ("-lopenblas",)
_NATIVE = "-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"
FLAGS = ("-O3", _NATIVE, "-std=gnu11")
_BUILD_SECONDS, _DRIVE_SECONDS = 300, 900
# Idle workers of OpenBLAS spin this long (2^20 ticks, a few milliseconds) instead of half a second, so that they sleep
# while the other side is measured.
_QUIET = {"OPENBLAS_THREAD_TIMEOUT": "20"}


class Failed(Exception):
    """Something could not be generated, compiled or run."""


@dataclass(frozen=True)
class Generated:
    """A C file that goes through the generator and then to an object file."""

    name: str
    source: Path
    defines: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    renames: tuple[str, ...] = ()  # macros for the compiler alone


@dataclass(frozen=True)
class Program:
    """C files and generated objects that make a program."""

    name: str
    sources: tuple[Path, ...]
    objects: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    threads: tuple[int, ...]
    quick: bool = False
    full: bool = False
    busy: bool = False


@dataclass(frozen=True)
class Timed:
    """A line of a driver: best seconds per call of each side, the generated one first."""

    case: str
    threads: int
    wrong: str
    seconds: tuple[float, ...]


@dataclass
class Workshop:
    """A folder in which everything is built."""

    out: Path
    options: Options
    compiler: str = field(default_factory=lambda: os.environ.get("CC") or shutil.which("gcc") or "cc")
    failed: dict[str, str] = field(default_factory=dict)

    def build(self, generated: Iterable[Generated], programs: Iterable[Program]) -> None:
        """All at once, before anything is measured. What fails is remembered until it is asked for."""
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(lambda g: self._try(g.name, lambda: self._object(g)), _unique(generated)))
            list(pool.map(lambda p: self._try(p.name, lambda: self._program(p)), _unique(programs)))

    def has_blas(self) -> bool:
        source = self.out / "blas.c"
        source.write_text("#include <cblas.h>\nint main(void) { openblas_set_num_threads(1); return 0; }\n")
        command = [self.compiler, str(source), "-o", str(self.out / "blas"), *BLAS]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def version(self) -> str:
        """The first line that the compiler says about itself."""
        return self._run([self.compiler, "--version"], _BUILD_SECONDS).stdout.partition("\n")[0]

    def drive(self, program: str, cases: Sequence[str], threads: Sequence[int] | None = None) -> list[Timed]:
        """Run a driver on these cases."""
        wanted = tuple(threads or self.options.threads)
        samples, seconds = (3, 0.1) if self.options.quick else (7, 1.2 if self.options.busy else 0.4)
        env = {
            **os.environ,
            **_QUIET,
            "BENCH_THREADS": ",".join(map(str, wanted)),
            "BENCH_SAMPLES": str(samples),
            "BENCH_SECONDS": str(seconds),
            "BENCH_BUSY": str(int(self.options.busy)),
            "OMP_NUM_THREADS": str(max(wanted)),
            "OPENBLAS_NUM_THREADS": str(max(wanted)),
        }
        lines = self.run(program, cases, env).stdout.splitlines()
        found = [line.split("\t") for line in lines]
        return [Timed(f[0], int(f[1]), "" if f[2] == "ok" else f[2], tuple(map(float, f[3:]))) for f in found]

    def run(
        self, program: str, words: Sequence[str], env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        if program in self.failed:
            raise Failed(self.failed[program])
        return self._run([str(self.out / program), *words], _DRIVE_SECONDS, env)

    # -- steps ---------------------------------------------------------------------------------------

    def _object(self, g: Generated) -> None:
        text = self.out / f"{g.name}.tw.c"
        defines = [f"-D{d}" for d in g.defines]
        command = [sys.executable, "-m", "codegen", "gen", str(g.source), "--machine", "native", *defines, *g.options]
        done = self._run([*command, "--force", "-o", str(text)], _BUILD_SECONDS)
        said = "\n".join(line for line in done.stderr.splitlines() if "[native-machine]" not in line)
        if said:
            print(f"{g.name}: the generator says\n{said}", file=sys.stderr)
        flags = [*FLAGS, "-fopenmp", *defines, *(f"-D{d}" for d in g.renames), f"-I{g.source.parent}"]
        self._run([self.compiler, *flags, "-c", str(text), "-o", str(self.out / f"{g.name}.o")], _BUILD_SECONDS)

    def _program(self, p: Program) -> None:
        for name in p.objects:
            if name in self.failed:
                raise Failed(self.failed[name])
        objects = [str(self.out / f"{name}.o") for name in p.objects]
        sources = [str(path) for path in p.sources]
        flags = [*FLAGS, "-fopenmp", *(f"-D{d}" for d in p.defines), f"-I{SOURCES}", f"-I{self.out}"]
        command = [self.compiler, *flags, *sources, *objects, "-o", str(self.out / p.name), *p.libraries, "-lm"]
        self._run(command, _BUILD_SECONDS)

    def _try(self, name: str, step: Callable[[], None]) -> None:
        try:
            step()
        except Failed as failure:
            self.failed[name] = str(failure)

    def _run(
        self, command: Sequence[str], seconds: float, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        shown = " ".join(command[:6])
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, cwd=ROOT, env=env, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"{shown} ...: no end after {seconds:g} s") from None
        if done.returncode:
            raise Failed(f"{shown} ...: exit code {done.returncode}\n{done.stderr}")
        return done


def _unique(things: Iterable[Generated] | Iterable[Program]) -> list[Generated | Program]:
    return list({t.name: t for t in things}.values())
