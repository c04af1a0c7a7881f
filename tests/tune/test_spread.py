"""Files over several hosts: parcels by themselves, and with a Dask cluster on this one where Dask is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.tune.plans.settings import Settings, TunedFile
from codegen.tune.remote import pack, tune_parcel
from tests.tune.sources import AXPY

QUICK = Settings(("default",), 1.0, 1, 1, {"n": 50}, "-O1", "r.jsonl", confirm=0.05)


def test_a_parcel_takes_its_headers_and_records_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "real.h").write_text("typedef double real;\n")
    monkeypatch.chdir(tmp_path / "here")
    text = '#include "../real.h"\n' + AXPY.replace("double", "real")
    parcel = pack("in.c", text, GenOptions(machine="native"), QUICK)
    assert list(parcel.headers) == ["../real.h"]
    (tmp_path / "real.h").unlink()
    answer = tune_parcel(parcel)
    assert isinstance(answer.result, TunedFile) and answer.result.regions[0].tuned is not None
    rows = [json.loads(line) for line in answer.records.decode().splitlines()]
    assert [r["role"] for r in rows] == ["candidate", "confirmed"]


def test_errors_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    parcel = pack("in.c", AXPY, GenOptions(), Settings(sizes={"m": 5}))
    answer = tune_parcel(parcel)
    assert isinstance(answer.result, InputError) and answer.result.id == "unknown-parameter"


def test_no_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("codegen.tune.dask_workers.SECONDS", 1)
    Path("in.c").write_text(AXPY)
    assert main(["tune", "in.c", "--scheduler", "tcp://127.0.0.1:1"]) == 1
    assert "[no-scheduler]" in capsys.readouterr().err


def test_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(AXPY)
    Path("b.c").write_text(AXPY.replace("axpy", "b").replace("a * x", "x[i] * x"))
    Path("broken.c").write_text("#pragma scop\nint x;\n")
    words = ["--method", "default", "--size", "n=50", "--cflags=-O1", "--threads", "1", "--records", "r.jsonl"]
    with distributed.LocalCluster(1, threads_per_worker=2, dashboard_address=None) as cluster:
        code = main(["tune", "a.c", "b.c", "broken.c", "-o", "out/", "--scheduler", cluster.scheduler_address, *words])
    err = capsys.readouterr().err
    assert code == 1 and "unbalanced-scop" in err, err
    assert sorted(p.name for p in Path("out").iterdir()) == ["a.plan", "b.plan"]
    rows = [json.loads(line) for line in Path("r.jsonl").read_text().splitlines()]
    assert sorted(r["function"] for r in rows if r["role"] == "confirmed") == ["axpy", "b"]
