"""Records: append-only lines that many processes may write at the same time."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import replace
from pathlib import Path

from codegen.tune.records import CONFIRMED, MeasurementSetting, PlanRecord, Records, append, line_of, read
from codegen.tune.timing import Timing

SETTING = MeasurementSetting("in.c", 1, "f", "abc", "--target=openmp", "here", "cc 1", "-O3", 2, {"n": 10})


def _write(path: str, who: int) -> None:
    for k in range(200):
        append(path, line_of(SETTING, PlanRecord(f"plan {who} {k} " + "x" * 3000)))


def test_writers_do_not_mix(tmp_path: Path) -> None:
    path = str(tmp_path / "r.jsonl")
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write, args=(path, who)) for who in range(4)]
    for w in writers:
        w.start()
    for w in writers:
        w.join()
    plans = [str(row["plan"]).split()[1:3] for row in read(path)]
    assert len(plans) == 800 and len({tuple(p) for p in plans}) == 800


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    records = Records(str(tmp_path / "r.jsonl"))
    first = PlanRecord("a", timing=Timing(1e-3, 2e-3, 0.1, 7), method="greedy", at=1.5)
    failed = PlanRecord("b", why="refused: no", method="greedy", at=2.0)
    chosen = PlanRecord("a", CONFIRMED, Timing(1e-3, 1e-3, 0.0, 9), method="greedy", base=2e-3, original=3e-3)
    for entry in (first, failed, chosen):
        records.add(SETTING, entry)
    records.add(replace(SETTING, threads=1), replace(chosen, plan="c"))
    known = records.known(SETTING)
    assert known.entries == (first, failed, chosen)
    assert known.confirmed() == chosen and set(known.timings()) == {"a", "b"}
    assert records.known(replace(SETTING, digest="other")).entries == ()
    assert Records().known(SETTING).entries == ()


def test_lines_cut_short_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(line_of(SETTING, PlanRecord("a")) + '{"format": 1, "ke\n[1]\n{"format": 99}\n')
    assert [row["plan"] for row in read(str(path))] == ["a"]


def test_the_key_is_about_conditions_and_not_about_places() -> None:
    assert replace(SETTING, file="elsewhere/in.c", region=3).key == SETTING.key
    for other in (replace(SETTING, compiler="cc 2"), replace(SETTING, flags="-O2"), replace(SETTING, sizes={"n": 11}),
                  replace(SETTING, clock="processor time"), replace(SETTING, machine="there"),
                  replace(SETTING, arrays="float32 a[n]")):  # fmt: skip
        assert other.key != SETTING.key


def test_a_line_holds_everything() -> None:
    row = json.loads(line_of(SETTING, PlanRecord("p", timing=Timing(1.0, 2.0, 0.5, 3), method="random")))
    wanted = {"format", "tool", "time", "key", "role", "ok", "best", "median", "spread", "runs", "method", "file",
              "region", "function", "digest", "options", "machine", "compiler", "flags", "threads", "clock", "sizes",
              "plan"}  # fmt: skip
    assert wanted <= set(row)
