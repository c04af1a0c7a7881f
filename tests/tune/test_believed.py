"""Figures of `tune` that nobody could believe: they are measured again, and then there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codegen.machine.believable import Work
from codegen.options import GenOptions
from codegen.tune.build import FLAGS, open_region_compiler
from codegen.tune.plans import bench as module
from codegen.tune.plans.bench import Bench, TooBusy, open_bench
from codegen.tune.plans.sizes import Sizes
from codegen.tune.region import open_file
from codegen.tune.timing import Runs, Timing

SOURCE = """void sums(int n, double *restrict a, const double *restrict b)
{
#pragma scop
  for (int k = 0; k < 10; k++)
    for (int i = 0; i < n; i++)
      a[i] += b[i];
#pragma endscop
}
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    (subject,) = open_file("in.c", SOURCE, GenOptions()).subjects
    compiler = open_region_compiler(subject, tmp_path_factory.mktemp("built"), FLAGS)
    return open_bench(subject, compiler, Sizes({"n": 4000}), 1, True)[0]


def test_what_a_run_has_to_do(bench: Bench) -> None:
    assert bench.work == Work(40_000, 8)
    assert 0 < bench.least <= bench.time_of(bench.original, Runs(3, 10, 0.01), None).best


def test_a_candidate_faster_than_the_machine(bench: Bench) -> None:
    with pytest.raises(TooBusy, match="too busy"):
        replace(bench, work=Work(10**15, 8)).time_of(bench.original, Runs(3, 10, 0.01), None)


def test_figures_in_turns_are_measured_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = Timing(0.002, 0.0021, 0.1, 9), Timing(0.002, 0.02, 2.0, 9)
    figures = iter([(good, bad), (Timing(1e-9, 1e-9, 0.0, 9), good), (good, good)])
    monkeypatch.setattr(Bench, "_turns", lambda *_: next(figures))
    monkeypatch.setattr(module, "_child", lambda work, *_: work())
    assert bench.compete([bench.original] * 2, 0.1) == (good, good)
    monkeypatch.setattr(Bench, "_turns", lambda *_: (good, bad))
    with pytest.raises(TooBusy):
        bench.compete([bench.original] * 2, 0.1)


def test_a_long_original_is_timed_by_the_clock_of_the_candidates(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake clock: the first run takes a second of the wall, and none of them more than 3 ms of processor time."""
    monkeypatch.setattr(module, "LONG", -1.0)
    took = iter([0.003, 0.002])
    monkeypatch.setattr(Bench, "_once", lambda *_: next(took))
    found, _, _ = bench.reference()
    assert (found.best, found.runs) == (0.002, 2)
