"""What the commands for a GPU do where there is none: plans, tables, and a word about it."""

from __future__ import annotations

import sys

import pytest

from benchmarks import gpu_corpus, gpu_polybench
from benchmarks.kernels_cases import KERNELS, sizes, thirty
from codegen.options import CppOptions, GenOptions


def test_sizes_of_polybench() -> None:
    """As many as each program takes, and larger than the large ones."""
    assert set(gpu_polybench.EXTRALARGE) == set(thirty())
    for name, found in gpu_polybench.EXTRALARGE.items():
        large = sizes(KERNELS / f"{name}.c", "large")
        assert len(found) == len(large) and sum(found) >= sum(large)


def test_simple_kernels_have_threads_and_nothing_else() -> None:
    path = KERNELS / "gemm.c"
    options = GenOptions(target="cuda", stem="k", device="h200", cpp=CppOptions(args=(f"-I{KERNELS}",)))
    plan = gpu_polybench.simple_plan(path, path.read_text(), options)
    words = {line.split()[0] for line in plan.splitlines() if line}
    assert "grid" in words and not words & {"registers", "stage", "tile"}


def test_results_that_are_close() -> None:
    nan = float("nan")
    assert gpu_polybench.close((1.0, nan, 3.0), (1.0 + 1e-9, nan, 3.0))
    assert not gpu_polybench.close((1.0,), (1.1,)) and not gpu_polybench.close((1.0,), (1.0, 2.0))


def test_tables() -> None:
    found = [gpu_corpus.Found("a", "equal"), gpu_corpus.Found("b", "wrong", "x is 1"), gpu_corpus.Found("c", "host")]
    assert gpu_corpus.table(found) == ["   1 equal", "   1 host: c", "   1 wrong: b", "  b: x is 1"]
    assert gpu_corpus.spread(["a", "b", "c", "d"], 2) == ["a", "c"]


@pytest.mark.parametrize("module", [gpu_corpus, gpu_polybench], ids=lambda m: m.__name__)
def test_no_gpu(module: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(module, "missing", lambda: "no GPU here")
    monkeypatch.setattr(sys, "argv", ["x"])
    assert module.main() == 0  # type: ignore[attr-defined]
    assert "no GPU here" in capsys.readouterr().out
