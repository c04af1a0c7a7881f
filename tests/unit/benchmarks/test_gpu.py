"""What the commands for a GPU do where there is none: plans, tables, and a word about it."""

from __future__ import annotations

import sys

import pytest

from benchmarks import gpu_corpus, gpu_polybench
from benchmarks.kernels_cases import KERNELS, sizes, thirty
from codegen.options import CppOptions, GenOptions


def test_sizes_of_polybench() -> None:
    """As many as each program takes, and larger than the large ones, but for steps of time."""
    assert set(gpu_polybench.EXTRALARGE) == set(thirty())
    for name, found in gpu_polybench.EXTRALARGE.items():
        large = sizes(KERNELS / f"{name}.c", "large")
        first = int(found[0] == gpu_polybench.STEPS)
        assert len(found) == len(large) and sum(found[first:]) >= sum(large[first:])


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


def test_table_of_polybench() -> None:
    """A ratio where both ran, both sentences where one did not, and a word where results differ."""
    found = {("a", True): gpu_polybench.Timed(2.0, (1.0,)), ("a", False): gpu_polybench.Timed(0.5, (1.0,)),
             ("b", True): gpu_polybench.Timed(1.0, (1.0,)), ("b", False): gpu_polybench.Timed(1.0, (2.0,)),
             ("c", True): gpu_polybench.Timed(1.0), ("c", False): gpu_polybench.Timed(problem="too slow")}  # fmt: skip
    lines = gpu_polybench.table(["a", "b", "c"], found)
    assert lines[1].split() == ["a", "2000.000", "500.000", "4.00"] and lines[2].endswith("1.00  DIFFERENT RESULTS")
    assert lines[3].split("  ")[-1].strip() == "simple: 1000.000 ms; ours: too slow"
    assert lines[4].startswith("2 of 3: geometric mean 2.00 (asked 5), least 1.00 (b;")


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
