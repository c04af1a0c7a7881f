"""The programs of the Sunway corpus with their sizes, and how one of them is run against its original."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from benchmarks.tensor_contractions import Contraction, contractions
from codegen.diagnostics import InputError
from codegen.limits import LimitPassed
from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from codegen.record import record
from codegen.sunway.emulation.host import ANY_FORM, compile_program, run_program

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
GRIDS = ("16", "32", "64", "2,8", "4,8", "8,8")
FLAGS = ("-I", str(KERNELS), "-DDRIVER", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-DTW_NO_FMA", ANY_FORM)

# LARGE and EXTRALARGE of every PolyBench program, scaled down so that a run takes moments and kept ragged. The padded
# sets are these rounded up to multiples of 32; the first `steps` numbers are time steps and stay.
SIZES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "2mm": ((80, 90, 110, 120), (160, 180, 220, 240)),
    "3mm": ((80, 90, 100, 110, 120), (160, 180, 200, 220, 240)),
    "adi": ((5, 100), (4, 200)),
    "atax": ((190, 210), (180, 220)),
    "bicg": ((190, 210), (180, 220)),
    "cholesky": ((100,), (200,)),
    "correlation": ((120, 140), (260, 300)),
    "covariance": ((120, 140), (260, 300)),
    "deriche": ((204, 108), (384, 216)),
    "doitgen": ((14, 15, 16), (22, 25, 28)),
    "durbin": ((200,), (400,)),
    "fdtd-2d": ((5, 100, 120), (9, 200, 260)),
    "floyd-warshall": ((140,), (280,)),
    "gemm": ((100, 110, 120), (200, 230, 260)),
    "gemver": ((200,), (400,)),
    "gesummv": ((130,), (280,)),
    "gramschmidt": ((120, 100), (130, 100)),
    "heat-3d": ((5, 30), (9, 50)),
    "jacobi-1d": ((50, 200), (100, 400)),
    "jacobi-2d": ((13, 130), (5, 280)),
    "lu": ((100,), (200,)),
    "ludcmp": ((100,), (200,)),
    "mvt": ((200,), (400,)),
    "nussinov": ((125,), (275,)),
    "seidel-2d": ((5, 100), (10, 200)),
    "symm": ((100, 120), (200, 260)),
    "syr2k": ((100, 120), (200, 260)),
    "syrk": ((100, 120), (200, 260)),
    "trisolv": ((200,), (400,)),
    "trmm": ((100, 120), (200, 260)),
}
STEPPED = frozenset({"adi", "fdtd-2d", "heat-3d", "jacobi-1d", "jacobi-2d", "seidel-2d"})
# Products, convolutions and more of the corpus, at the sizes that their drivers choose.
OTHERS = (
    *("batched-gemm", "cgemm", "contract-4d", "conv2d", "conv2d-nchw", "conv2d-strided", "fdtd-3d", "gauss-jordan"),
    *("gemm-at", "gemm-flat", "gemm-minus", "jacobi-varcoef", "kronecker", "ldlt", "maxplus", "minplus-fmin", "mttkrp"),
    *("softmax-rows", "trmm-right", "trsm"),
)
# Four sets for the contractions: their extents, smaller; ragged, powers of two, and both again larger.
EXTENTS: tuple[dict[int, int], ...] = (
    {1024: 50, 32: 7, 16: 5, 8: 3, 4: 3},
    {1024: 64, 32: 8, 16: 16, 8: 8, 4: 4},
    {1024: 100, 32: 11, 16: 7, 8: 5, 4: 3},
    {1024: 128, 32: 12, 16: 16, 8: 8, 4: 4},
)
PER_FILE = 8  # contractions that share a file


@record
class Subject:
    """A file with a driver, and the arguments that it is run with."""

    name: str
    path: Path
    sizes: tuple[tuple[int, ...], ...]

    def thinned(self) -> Subject:
        """The smaller ragged and padded sizes only."""
        return replace(self, sizes=self.sizes[:2])


@record
class Outcome:
    """What became of a program on a grid: `equal` after so many runs, on the `master`, or `failed`."""

    name: str
    grid: str
    kind: str
    runs: int = 0
    why: str = ""
    stage: str = ""  # where it failed: generate, build, run

    def __str__(self) -> str:
        tail = f" ({self.runs} runs)" if self.runs else ""
        return f"{self.name:20} {self.grid:>4}  {self.kind}{tail}{': ' if self.why else ''}{self.why}"


def size_sets(name: str) -> tuple[tuple[int, ...], ...]:
    """Ragged, padded, and both again larger."""
    steps = 1 if name in STEPPED else 0
    out: list[tuple[int, ...]] = []
    for ragged in SIZES[name]:
        out += [ragged, (*ragged[:steps], *(-(-n // 32) * 32 for n in ragged[steps:]))]
    return tuple(out)


def subjects() -> list[Subject]:
    known = [Subject(n, KERNELS / f"{n}.c", size_sets(n)) for n in SIZES]
    return [*known, *(Subject(n, KERNELS / f"{n}.c", ((),)) for n in OTHERS)]


def contraction_files(folder: Path, rows: Sequence[Contraction] | None = None) -> list[Subject]:
    """The contractions of the TCCG suite, several in a file with a driver that runs them all at one of the sets."""
    rows = contractions() if rows is None else rows
    out = []
    for first in range(0, len(rows), PER_FILE):
        some = rows[first : first + PER_FILE]
        path = folder / f"tccg{first // PER_FILE}.c"
        path.write_text("\n".join(['#include "kernels.h"', *(c.nest() for c in some), _driver(some)]))
        out.append(Subject(path.stem, path, tuple((k,) for k in range(len(EXTENTS)))))
    return out


def _driver(rows: Sequence[Contraction]) -> str:
    """A main function under -DDRIVER: its argument is the number of the set."""
    head = ["int main(int argc, char **argv)", "{", "    const long set = size_arg(argc, argv, 1, 0);"]
    lines = ["#ifdef DRIVER", *head]
    for c in rows:
        sizes = {x: [s[e] for s in EXTENTS] for x, e in c.extents.items()}
        lines += ["    {", *(f"        const long n{x} = (long[]){{{', '.join(map(str, v))}}}[set];"
                             for x, v in sorted(sizes.items()))]  # fmt: skip
        for k, (t, letters) in enumerate(zip("CAB", c.tensors, strict=True)):
            count = " * ".join(f"n{x}" for x in letters)
            lines += [f"        real *{t} = make_reals({count});", f"        fill({t}, {count}, {k + 1});"]
        extents = ", ".join(f"n{x}" for x in c.letters)
        count = " * ".join(f"n{x}" for x in c.tensors[0])
        lines += [f"        {c.function}({extents}, (void *)C, (void *)A, (void *)B);",
                  f'        print_checksum("{c.name}", C, {count});',
                  "        free(A);", "        free(B);", "        free(C);", "    }"]  # fmt: skip
    return "\n".join([*lines, "    return 0;", "}", "#endif", ""])


def run_subject(s: Subject, grid: str, folder: Path, library: Path, scheme: str = "launch") -> Outcome:
    """Generate, build without a warning, run at all sizes, compare with what the original prints."""
    stage = ["generate"]
    try:
        return _run(s, grid, folder, library, scheme, stage)
    except (AssertionError, LimitPassed, InputError) as error:
        return Outcome(s.name, grid, "failed", 0, str(error)[:600], stage[-1])


@cache
def originals(s: Subject, folder: Path, library: Path) -> tuple[str, ...]:
    """What the program itself prints at all of its sizes: the same for all grids."""
    program = folder / f"{s.name}_original{os.getpid()}"
    messages = compile_program([s.path], program, library, FLAGS)
    assert not messages, messages
    ran = [run_program(program, [str(n) for n in sizes]) for sizes in s.sizes]
    assert all(r.code == 0 for r in ran), f"the original fails: {[r.err for r in ran]}"
    return tuple(r.out for r in ran)


def _run(s: Subject, grid: str, folder: Path, library: Path, scheme: str, stage: list[str]) -> Outcome:
    made = generate(str(s.path), s.path.read_text(encoding="utf-8"),
                    GenOptions(target="sunway", stem=s.name, threads=grid, scheme=scheme, timeout=60,
                               cpp=CppOptions(args=("-I", str(KERNELS)))))  # fmt: skip
    reasons = sorted({n.id for d in made.diagnostics for n in d.notes})
    if not any(r.transformed for r in made.regions):
        return Outcome(s.name, grid, "master", 0, ", ".join(reasons) or "without a reason")
    part = sum(not r.transformed for r in made.regions)
    note = f"{part} regions on the master" if part else ""
    stage.append("build")
    work = folder / f"{s.name}_{grid.replace(',', 'x')}"
    work.mkdir(parents=True, exist_ok=True)
    master, slave = work / f"{s.name}_master.c", work / f"{s.name}_slave.c"
    master.write_text(made.text)
    slave.write_text(made.extra.file("_slave.c"))
    (work / f"{s.name}_args.h").write_text(made.extra.file("_args.h"))
    messages = compile_program([master, slave], work / "emulated", library, FLAGS)
    assert not messages, messages
    stage.append("run")
    for sizes, want in zip(s.sizes, originals(s, folder, library), strict=True):
        words = [str(n) for n in sizes]
        got = run_program(work / "emulated", words)
        assert got.code == 0, f"at {words}: {got.err}"
        assert got.out == want, f"at {words}: other results"
    return Outcome(s.name, grid, "equal", len(s.sizes), note)
