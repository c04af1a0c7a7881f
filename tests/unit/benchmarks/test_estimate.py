"""Estimates of the corpus, and how their error is told."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path

import pytest

from benchmarks.estimate import arguments, main
from benchmarks.estimate_model import models, named_sizes, source_seconds
from benchmarks.estimate_report import Row, orders, spread, summary, table
from benchmarks.kernels_cases import case, corpus, thirty
from codegen.machine import load

MACHINE = load("neoverse-n1")
ROWS = [
    Row("a", "tile", 2.0, 1.0, 0.5, 4.0),
    Row("b", "order", 1.0, 2.0, 2.5, 1.2),
    Row("c", "order", 1.0, 1.0, 0.8, 0.9),
    Row("d", "product", 3.0, 1.0, 0.99, None),
]


@pytest.mark.parametrize("name", [*thirty(), *corpus()])
def test_estimates_are_times_and_grow_with_sizes(name: str) -> None:
    cases = [case(name, size) for size in ("small", "medium")]
    regions = models(cases[0])
    small, medium = (source_seconds(regions, named_sizes(c), MACHINE) for c in cases)
    assert 0 < small < medium and isfinite(medium)


def test_sizes_have_the_names_of_parameters() -> None:
    assert named_sizes(case("gemm", "large")) == (("ni", 1000), ("nj", 1100), ("nk", 1200))


def test_spread_of_ratios() -> None:
    found = spread([2.0, 0.5, 1.0, 1.0])
    assert (found.mean, found.half, found.most) == pytest.approx((1.0, 1.5, 2.0))
    assert spread([3.0, 3.0]).deviation == pytest.approx(1.0)


def test_wrong_orders_are_named() -> None:
    found = orders(ROWS)
    assert (found.known, found.right, found.losses, found.missed) == (3, 1, ("b",), ("c",))


def test_report_names_what_is_slower() -> None:
    assert table(ROWS).splitlines()[1].split()[:4] == ["d", "3", "1", "3.00"]
    text = summary(ROWS)
    assert "1 of 3 right" in text and text.endswith("slower than the source: b 0.80")
    assert summary([]) == "nothing measured"


def test_parts_are_all_kernels_once() -> None:
    parts = [arguments(["--part", f"{k}/3"]).only for k in (1, 2, 3)]
    assert sorted(name for part in parts for name in part) == sorted([*thirty(), *corpus()])
    for wrong in (["--part", "4/3"], ["--steps", "guess"], ["--only", "nothing"]):
        with pytest.raises(SystemExit):
            arguments(wrong)


def test_earlier_seconds_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--only", "axpy", "--size", "small", "--out", str(tmp_path)]
    assert not main([*words, "--steps", "build,measure"])
    assert not main([*words, "--steps", "estimate"])
    row = json.loads((tmp_path / "estimate-small.json").read_text())["rows"][0]
    assert row["kernel"] == "axpy" and row["estimated"] > 0 and row["measured"] > 0
    assert "axpy" in capsys.readouterr().out
