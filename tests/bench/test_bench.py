"""Before and after: figures, sentences, chart, and one real run."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.bench.model import Ceilings, MeasuredRegion, Race
from codegen.bench.roofline import believed, beyond, sentence
from codegen.bench.show import chart, data, text
from codegen.cli.exitcodes import BAD_INPUT
from codegen.cli.main import main
from codegen.machine.believable import Work
from codegen.tune.timing import timing

TOP = Ceilings(one=10e9, all=15e9, operations=30e9, cache=1_000_000)
RACE = Race(1, timing([0.2, 0.3]), timing([0.1, 0.12]))
SUM = MeasuredRegion(1, 3, "region 1 (sum, line 3)", {"n": 100}, (RACE,), bytes=900_000_000, by_statement={"S1": 10**6})

SOURCE = """#include <math.h>
void scale(int n, double a[n], const double b[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 3 * b[i] + a[i];
#pragma endscop
}
double other(double);
void left(int n, double a[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = other(a[i]);
#pragma endscop
}
void partly(int n, double a[n])
{
#pragma scop
  a[0] = other(a[0]);
  for (int i = 0; i < n; i++)
    a[i] = 2 * a[i];
#pragma endscop
}
"""


def test_memory_bound() -> None:
    assert sentence(SUM, RACE, TOP) == (
        "memory-bound: 90 % of what one thread of this machine can stream (9 GB/s with every array moved once)"
    )
    two = replace(RACE, threads=2)
    assert "60 % of what 2 threads" in sentence(SUM, two, TOP)  # two threads share what all can stream


def test_data_that_stay_in_caches() -> None:
    """More than memory can deliver is no share of it."""
    said = sentence(replace(SUM, bytes=SUM.bytes * 2), RACE, TOP)
    assert said == ("faster than memory on one thread: the data stay in the caches between runs "
                    "(18 GB/s with every array moved once)")


def test_compute_bound() -> None:
    much = replace(SUM, bytes=100, by_statement={"S1": 2 * 10**9, "S2": 4 * 10**8})
    assert sentence(much, RACE, TOP).startswith("compute-bound: 80 % of what one thread")
    more = replace(much, by_statement={k: 2 * n for k, n in much.by_statement.items()})
    assert sentence(more, RACE, TOP).startswith("faster than one thread could compute what is written")
    assert "40 %" in sentence(replace(much, element_bytes=4), RACE, TOP)  # twice as many lanes
    partial = replace(much, uncounted=("S3",))
    assert sentence(partial, RACE, TOP).endswith("24 billion operations per second; S3 not counted)")


def test_far_from_both() -> None:
    little = replace(SUM, bytes=100_000_000, by_statement={"S1": 10**8})
    assert sentence(little, RACE, TOP) == (
        "far from both roofs on one thread: 10 % of what memory could stream and 3 % of what the cores could compute"
    )
    assert sentence(replace(SUM, bytes=0, by_statement={}), RACE, TOP) == ""


def test_a_product_does_all_that_is_written() -> None:
    """Faster than the peak as it was measured: the peak was disturbed, or the figure was."""
    product = replace(SUM, bytes=100, by_statement={"S1": 4 * 10**9}, work=Work(2 * 10**9, 8))
    assert beyond(product, RACE, TOP) and not beyond(replace(product, work=Work(10**9, 8)), RACE, TOP)
    assert sentence(product, RACE, TOP).startswith("compute-bound: as fast as one thread of this machine can compute")
    assert beyond(replace(product, element_bytes=4, work=Work(4 * 10**9, 4)), RACE, TOP)
    assert not beyond(product, replace(RACE, threads=2), TOP)
    assert believed(product, TOP) == product
    much = believed(replace(product, work=Work(4 * 10**9, 8)), TOP)
    assert not much.races and much.note == "one thread: the machine is too busy to measure"
    assert "too busy" in text([much], "gcc 12", TOP) and " ms" not in text([much], "gcc 12", TOP)
    higher = TOP.highest(replace(TOP, operations=50e9, one=1e9))
    assert not beyond(product, RACE, higher) and higher.one == TOP.one


def test_a_machine_that_is_too_busy(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    """No figures, and a word on why."""
    monkeypatch.setattr("codegen.bench.measure.SECONDS", 0.05)
    monkeypatch.setattr("codegen.tune.plans.bench.disturbed", lambda best, median: True)
    file = tmp_path / "in.c"
    file.write_text(SOURCE[: SOURCE.index("double other")])
    assert main(["bench", str(file), "--sizes", "n=1000", "--threads", "1", "-w"]) == BAD_INPUT
    shown = capsys.readouterr().out
    assert "the machine is too busy to measure" in shown and " us" not in shown


def test_for_people() -> None:
    refused = MeasuredRegion(2, 9, "region 2", note="`f` may do more")
    lines = text([SUM, refused], "gcc 12", TOP).splitlines()
    assert lines[2] == "region 1 (sum, line 3) at n = 100"
    assert lines[4].split() == ["1", "200", "ms", "100", "ms", "2x"]
    assert lines[5].startswith("  memory-bound: 90 % of what one thread") and lines[-1] == "region 2: `f` may do more"
    slow = replace(SUM, races=(replace(RACE, original=RACE.result),), advice="--reassociate allows another order")
    assert "  --reassociate allows another order\n" in text([slow], "gcc 12", TOP)
    assert "--reassociate" not in text([replace(SUM, advice=slow.advice)], "gcc 12", TOP)
    both = text([replace(SUM, races=(RACE, replace(RACE, threads=2)))], "gcc 12", TOP)
    assert "of what one thread" in both and "of what 2 threads" in both


def test_chart_is_a_picture() -> None:
    other = replace(SUM, title="region 2 (a<b, line 9)", races=(RACE, replace(RACE, threads=4)))
    root = ET.fromstring(chart([SUM, other]))
    words = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "sum, line 3, 1 thread" in words and "a<b, line 9, 4 threads" in words


def test_data_is_json() -> None:
    (region,) = json.loads(data([SUM], "gcc", TOP))["regions"]
    assert region["runs"][0]["gain"] == 2 and region["bound"].startswith("memory-bound")


def test_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.bench.measure.SECONDS", 0.05)
    monkeypatch.setattr("codegen.cli.bench._ceilings", lambda: TOP)
    file, picture = tmp_path / "in.c", tmp_path / "gain.svg"
    file.write_text(SOURCE)
    words = ["bench", str(file), "--sizes", "n=1000", "--threads", "2", "--format", "json", "--chart", str(picture)]
    assert main([*words, "-w", "--auto"]) == 0
    first, second, third = json.loads(capsys.readouterr().out)["regions"]
    assert first["sizes"] == {"n": 1000} and [r["threads"] for r in first["runs"]] == [1, 2]
    assert all(r["before"]["best"] > 0 and r["after"]["best"] > 0 for r in first["runs"])
    assert first["operations"] == 2000 and first["bytes"] == 24000
    assert second["runs"] == [] and "`other` may do more" in second["note"]
    assert third["title"] == "region 3 (partly, line 21)" and third["operations"] == 1000
    assert "times as fast" in picture.read_text()


def test_nothing_to_measure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "in.c"
    file.write_text("int x;\n")
    assert main(["bench", str(file)]) == 1
    assert "or give --auto" in capsys.readouterr().err
    assert main(["bench", "--auto", str(file)]) == 1
    assert "tilewright scan" in capsys.readouterr().err
    assert main(["bench", str(file), "--sizes", "n"]) == 2
