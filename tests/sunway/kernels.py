"""Kernels of small regions as they are printed for compute cores, with what the proofs compare them with."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import NamedTuple
from unittest import mock

from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.scop.dependences import Dependences
from codegen.scop.model import Scop
from codegen.source_file import open_source
from codegen.sunway import read_back
from codegen.sunway.plan.tiles import TileModel
from codegen.sunway.region import for_cores
from codegen.verify.cores.check import EntryTask, KernelTask, proven_kernel, wrong_entry, wrong_kernel
from codegen.verify.cores.kernel import KernelReader
from codegen.verify.cores.records import KernelNames


class Printed(NamedTuple):
    """What a proof is asked."""

    scop: Scop
    deps: Dependences
    task: KernelTask
    text: str
    words: KernelNames

    def wrong(self, text: str) -> str:
        return wrong_kernel(self.scop, self.deps, self.task, text, self.words)


class PrintedEntry(NamedTuple):
    """What the proof of a launch is asked."""

    scop: Scop
    deps: Dependences
    task: EntryTask
    text: str
    words: KernelNames

    def wrong(self, text: str) -> str:
        return wrong_entry(self.scop, self.deps, self.task, text, self.words)


SOURCES = {
    "counts": (
        "void f(int n, const signed char A[n][n], long x[n]) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) {\n  x[i] = 0;\n"
        "  for (int j = i + 1; j < n; j++) for (int k = j + 1; k < n; k++) x[i] += A[i][j] & A[j][k] & A[i][k];\n}\n"
        "#pragma endscop\n}\n",
        {},
    ),
    "sums": (
        "void f(int n, double x[n], double y[n], double A[n][n]) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i] += A[i][j] * y[j];\n#pragma endscop\n}\n",
        {},
    ),
    "triangle": (
        "void f(int n, int m, double alpha, double beta, double A[n][m], double C[n][n]) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) {\n  for (int j = 0; j <= i; j++) C[i][j] *= beta;\n"
        "  for (int k = 0; k < m; k++) for (int j = 0; j <= i; j++) C[i][j] += alpha * A[i][k] * A[j][k];\n}\n"
        "#pragma endscop\n}\n",
        {},
    ),
    "product": (
        "void f(int n, int m, int l, double A[n][l], double B[l][m], double C[n][m]) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++)\n"
        "  C[i][j] += A[i][k] * B[k][j];\n#pragma endscop\n}\n",
        {"threads": "4,8"},
    ),
    "grid": (
        "void f(int n, double A[n][n], double B[n][n]) {\n#pragma scop\n"
        "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)\n"
        "  B[i][j] = 0.25 * (A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]);\n#pragma endscop\n}\n",
        {},
    ),
    "layers": (
        "void f(int b, int n, int m, double A[b][n][m], double B[b][n][m]) {\n#pragma scop\n"
        "for (int h = 0; h < b; h++) for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)\n"
        "  B[h][i][j] = A[h][i][j] + 1.5;\n#pragma endscop\n}\n",
        {},
    ),
    "table": (
        "void f(int n, double y[n], double x[n + 6], double w[7]) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++)\n  for (int k = 0; k < 7; k++) y[i] += w[k] * x[i + k];\n#pragma endscop\n}\n",
        {},
    ),
    "rows": (
        "void f(int n, double A[n][n], double B[n][n]) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] = A[i][j] * 2.0;\n#pragma endscop\n}\n",
        {"scheme": "published"},
    ),
    "pro": (
        "void f(int n, double x[n], double y[n], double A[n][n]) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i] += A[i][j] * y[j];\n#pragma endscop\n}\n",
        {"machine": "sw26010-pro-cpe"},
    ),
    "flat": (
        "void f(int n, int m, double *A, double *B) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) B[i * m + j] = A[i * m + j] - 1.0;\n"
        "#pragma endscop\n}\n",
        {},
    ),
}


# Tiles of the kernels whose text is compared, whatever the timing model prefers.
TILES = {
    "sums": (16, 192), "triangle": (48, 96, 8), "product": (48, 96, 8), "grid": (8, 256), "layers": (4, 4, 128),
    "table": (96, 0), "pro": (32, 256), "flat": (8, 256),
}  # fmt: skip


def tiled(*sizes: int) -> AbstractContextManager[object]:
    """Kernels have tiles of these sizes, those of fewer loops of the first of them."""
    return mock.patch.object(TileModel, "best", lambda _, nest: sizes[: len(nest.names)])


@cache
def printed(name: str) -> Printed:
    """The first kernel of a region."""
    source, options = SOURCES[name]
    with tiled(*TILES[name]) if name in TILES else nullcontext():
        return kernels_of(source, **options)[0]


def kernels_of(source: str, **options: object) -> list[Printed]:
    """All kernels of a region."""
    return launched(source, **options)[0]


def launched(source: str, **options: object) -> tuple[list[Printed], list[PrintedEntry]]:
    """All kernels of a region in its usual form, and what every core runs of each launch."""
    chosen = GenOptions(target="sunway", stem="f", **{"scheme": "no-forms", **options})  # type: ignore[arg-type]
    (s,) = open_source("f.c", source, chosen).slices
    model = model_region(s, chosen)
    assert model is not None
    found: list[Printed] = []
    entries: list[PrintedEntry] = []

    def note(*args: object) -> KernelReader:
        found.append(Printed(*args))  # type: ignore[arg-type]
        return proven_kernel(*args)  # type: ignore[arg-type]

    def note_entry(*args: object) -> str:
        entries.append(PrintedEntry(*args))  # type: ignore[arg-type]
        return wrong_entry(*args)  # type: ignore[arg-type]

    with mock.patch.object(read_back, "proven_kernel", note), mock.patch.object(read_back, "wrong_entry", note_entry):
        for_cores(s, model, chosen, source)
    return found, entries
