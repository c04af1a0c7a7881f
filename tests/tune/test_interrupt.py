"""An interrupt keeps the best so far and writes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codegen.children.worker import Died
from codegen.tune.children import Children, TimedOut, alone
from tests.tune.sources import AXPY, HEAT, PRODUCT


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_what_was_found_is_written(sign: int, tmp_path: Path) -> None:
    # Of each there are more plans than can be tried before the signal.
    heat = HEAT.replace("int steps, ", "").replace("steps", "n")
    (tmp_path / "a.c").write_text(heat if sign == signal.SIGINT else PRODUCT)
    (tmp_path / "b.c").write_text(AXPY)
    words = ["tune", "a.c", "b.c", "-o", "out/", "--size", "n=60", "--budget", "60", "--records", "r.jsonl",
             "--cflags=-O1", "--threads", "1", "--jobs", "1"]  # fmt: skip
    run = subprocess.Popen(
        [sys.executable, "-m", "codegen", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background may ignore it
    )  # fmt: skip
    records = tmp_path / "r.jsonl"
    for _ in range(600):
        if records.exists() and records.read_text().count("\n") >= 2:
            break
        time.sleep(0.05)
    run.send_signal(sign)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130 and "the search was interrupted" in err, err  # b.c was not tuned
    assert "b.c: error: interrupted before it was tuned [interrupted]" in err
    assert "region 1 digest" in (tmp_path / "out" / "a.plan").read_text()
    assert not (tmp_path / "out" / "b.plan").exists()
    assert '"confirmed"' not in records.read_text()  # a search that was cut short is gone on with


def test_children_stand_still_while_something_is_measured(tmp_path: Path) -> None:
    def work(name: str) -> None:
        for _ in range(10_000):
            with open(tmp_path / name, "a") as stream:
                stream.write("x")
            time.sleep(0.002)

    def length(name: str) -> int:
        return (tmp_path / name).stat().st_size if (tmp_path / name).exists() else 0

    def grows(name: str) -> bool:
        first, end = length(name), time.monotonic() + 10
        while length(name) == first and time.monotonic() < end:
            time.sleep(0.01)
        return length(name) > first

    children = Children(2)
    for name in ("one", "two"):
        children.start(name, lambda name=name: work(name), 60.0)  # type: ignore[misc]
    try:
        assert grows("one") and grows("two")
        children.hold(1)
        time.sleep(0.1)
        still = length("two")
        assert grows("one") and length("two") == still
        children.release()
        assert grows("two")
    finally:
        children.stop()


def test_children_end_in_every_way() -> None:
    def crash() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    children = Children(4)
    children.start("value", lambda: 42, 5.0)
    children.start("late", lambda: time.sleep(30), 0.2)
    children.start("crash", crash, 5.0)
    children.start("raise", lambda: 1 // 0, 5.0)
    found = {}
    while children.busy:
        found.update(children.wait())
    assert found["value"] == 42
    assert isinstance(found["late"], TimedOut) and isinstance(found["crash"], Died)
    assert isinstance(found["raise"], ZeroDivisionError)
    assert alone(lambda: "x" * 200_000, 5.0) == "x" * 200_000
    with pytest.raises(ZeroDivisionError):
        alone(lambda: 1 // 0, 5.0)
