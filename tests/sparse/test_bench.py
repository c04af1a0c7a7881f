"""The benchmark itself: which kinds it measures at which size, TACO among the peers, what it makes of the figures."""
from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from benchmarks.sparse import main
from benchmarks.sparse_measure import rounds
from benchmarks.sparse_report import kernel_tables, slopes, table, verdicts


def run(folder: Path, *words: str) -> list[dict]:
    assert main([*words, "--repeat", "1", "--busy", "--out", str(folder)]) == 0
    return json.loads((folder / "sparse.json").read_text())


def test_taco_takes_part_where_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                      capsys: pytest.CaptureFixture[str]) -> None:
    fake = tmp_path / "taco"
    script = Path(__file__).with_name("fake_taco.py")
    fake.write_text(f"#!/bin/sh\nexec {sys.executable} {script} \"$@\"\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    rows = run(tmp_path, "--nnz", "2e4", "--kinds", "fem,uniform", "--only", "COO->CSR,CSR->COO")
    took = {(r["pair"], r["kind"]) for r in rows if "taco" in r}
    assert took == {("COO->CSR", "fem")}  # rows in order, and the one pair that it says it can do
    row = next(r for r in rows if "taco" in r)
    assert row["same"] and row["ratio"] == min(row["peer"], row["taco"]) / row["ours"]
    assert "TACO takes part" in capsys.readouterr().out


def test_larger_sizes_take_the_slowest_kind_and_a_common_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                             capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    rows = run(tmp_path, "--nnz", "1e4,2e4", "--kinds", "uniform,banded,fem", "--only", "CSR->COO,COO->DIA,mcoo3")
    first = {r["kind"]: r["ratio"] for r in rows if r["pair"] == "CSR->COO" and r["size"] == 10000}
    assert set(first) == {"uniform", "banded", "fem"}
    later = {r["kind"] for r in rows if r["pair"] == "CSR->COO" and r["size"] == 20000}
    assert later == {"uniform", min(first, key=lambda k: first[k])}
    assert {r["kind"] for r in rows if r["pair"] == "COO->DIA"} == {"banded"}
    assert sum(r["pair"] == "COO3->MCOO3" for r in rows) == 2
    out = capsys.readouterr().out
    assert "TACO: not installed" in out and "time grows as nonzeros" in out
    assert (tmp_path / "sparse.svg").exists() or "matplotlib is not installed" in out


def test_kernels_beside_their_peers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = run(tmp_path, "--nnz", "2e3", "--kinds", "banded", "--only", "SpMM,SpGEMM")
    assert [(r["pair"], r["kind"]) for r in rows] == [("SpMM", "banded"), ("SpGEMM", "banded")]
    assert all(r["same"] and r["ratio"] == min(r[k] for k in ("scipy", "plain") if k in r) / r["ours"] for r in rows)
    out = capsys.readouterr().out
    assert "all kernels     speed / best peer: lowest" in out and "one thread: speed / best peer, about" in out


def row(pair: str, size: int, ours: float, **more: float) -> dict:
    return {"pair": pair, "kind": "uniform", "nnz": size, "size": size, "ours": ours, "peer": 2 * ours, "ratio": 2.0,
            "same": True, "taco installed": False, **more}


def test_figures() -> None:
    rows = [row("COO->CSR", 1000, 1.0, threads=0.5), row("COO->CSR", 4000, 4.0, threads=4.0),
            row("CSR->CSC", 1000, 1.0, threads=0.5),
            row("SpMV DIA", 4000, 2.0, bound=1.0, gathered=1.5, threads=1.0, **{"bound threads": 0.9})]
    assert slopes(rows) == {"COO->CSR uniform": 1.0}
    text = "\n".join(verdicts(rows))
    assert "mean of the pairs 1.68 / 1.60" in text  # of 1.41 and 2.00, not of three rows
    assert "50% of the bound, 75% with x" in text and "more threads 2.00x, 90% of their bound" in text
    assert "at most 1.00 (COO->CSR uniform)" in text
    assert any("2.00 2.00 1.00x" in line for line in table(rows))


def test_kernels_by_kind() -> None:
    rows = [row("SpMV", 1000, 1.0, threads=0.5, kernel=True),
            row("add", 1000, 1.0, threads=0.8, kernel=True) | {"kind": "block"}]
    text = "\n".join(kernel_tables(rows))
    assert "mean 2.00, lowest 2.00" in text and "mean 1.58, lowest 1.25" in text
    assert kernel_tables([row("COO->CSR", 1000, 1.0)]) == []


def test_measurements_end_where_times_have_settled() -> None:
    times = {"ours": 9.0}
    taken = []
    for n in rounds(9, times):
        times["ours"] = (5.0, 4.0, 3.99, 1.0)[n]
        taken.append(n)
    assert taken == [0, 1, 2]


def test_times_that_do_not_grow_are_reported_not_refused() -> None:
    text = "\n".join(verdicts([row("CSR->COO", 1000, 2.0), row("CSR->COO", 4000, 1.0)]))
    assert "to the power -0.50 in the mean" in text
