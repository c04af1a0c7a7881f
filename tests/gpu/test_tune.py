"""`tune --target cuda`: knobs and plans to begin with, and whole searches with the emulator in place of a device."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.gpu import tuning as bench
from codegen.gpu.dialect import CUDA, Dialect
from codegen.gpu.emit import DevicePart
from codegen.gpu.emulation import ALWAYS, FLAGS, emulator_folder
from codegen.gpu.plan import knobs
from codegen.gpu.plan.knobs import SHAPES
from codegen.gpu.stream.choose import TILES
from codegen.options import GenOptions
from codegen.plan.model import Grid, Registers, StageShared, Tile, TimeSteps
from codegen.region import RegionOutcome
from codegen.source.language import CXX, compiler_for
from codegen.targets.tuning import DeviceTuning
from codegen.tune.plans.space import space_of
from codegen.tune.region import Subject, open_file
from tests.gpu.programs import needs_cxx
from tests.tune.sources import ADD, AXPY, PRODUCT

JACOBI = """\
void jacobi(int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]);
#pragma endscop
}
"""
STEPS = """\
void jacobi(int t, int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int s = 0; s < t; s++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i - 1][j] + B[i + 1][j]);
    }
#pragma endscop
}
"""
OPTIONS = GenOptions(target="cuda", device="h200")


def emulated(options: GenOptions) -> DeviceTuning:
    """The emulator in place of a device: what it computes is right, what its clock says means nothing."""
    folder = str(emulator_folder())
    words = (*(compiler_for(CXX) or ["c++"]), "-x", "c++", *FLAGS, "-fsanitize=thread", "-I", folder)
    return DeviceTuning("an emulated device", "c++", CUDA.ending, words, (), ("-I", folder, ALWAYS), ("-lstdc++",),
                        bench.HEAD, lambda outcome: bench.timed(outcome, CUDA),
                        lambda model: bench.authors(model, options, CUDA), bench.ALL_KNOBS, knobs.expected,
                        (str(emulator_folder() / "emulator.c"),), False, 10_000, 1 << 20)  # fmt: skip


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "device_tuning", lambda dialect, options: emulated(options))


@pytest.fixture
def tune(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """tune(source, *words) -> exit status and messages; the source is in.c of an empty working folder."""
    monkeypatch.chdir(tmp_path)

    def go(source: str, *words: str) -> tuple[int, str]:
        Path("in.c").write_text(source, encoding="utf-8")
        code = main(["tune", "in.c", "--target", "cuda", "--device", "h200", "-o", "in.plan", *words])
        return code, capsys.readouterr().err

    return go


def _subject(source: str) -> Subject:
    (found,) = open_file("in.c", source, OPTIONS).subjects
    return found


def test_it_says_that_there_is_no_device(tune, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "device_there", lambda compiler: False)
    code, err = tune(AXPY)
    assert code == 1 and "there is none here" in err and "[no-device]" in err and not Path("in.plan").exists()


@pytest.mark.parametrize("words", [("--busy",), ("--threads", "2"), ("--method", "fixed")])
def test_what_is_about_processors_is_refused(words: tuple[str, ...], tune) -> None:
    code, err = tune(AXPY, *words)
    assert code == 2 and "the device is measured" in err


@pytest.mark.usefixtures("device")
def test_a_product_has_knobs_for_its_tiles_and_staging() -> None:
    space = space_of(_subject(PRODUCT), 1)
    assert [b.name for b in space.bases][:2] == ["default", "one thread for each element"]
    names = [k.name for k in space.knobs[0]]
    assert names[0] == "tile S1" and {"depth S1", "stages S1", "pad A of S1", "shared memory S1"} <= {*names}
    point = space.with_choice(space.start(), 0, 1)
    made = [d for d in space.plan(point).directives if isinstance(d, Registers)]
    down, right, rows, columns = SHAPES[0]
    assert [(d.threads, [n for _, n in d.loops]) for d in made] == [((down, right), [rows, columns])]
    deep = space.with_choice(space.start(), names.index("depth S1"), 0)
    assert {d.size for d in space.plan(deep).directives if isinstance(d, StageShared)} == {4}
    plain = space.with_choice(space.start(), names.index("shared memory S1"), 1)
    assert not any(isinstance(d, (Registers, StageShared)) for d in space.plan(plain).directives)


@pytest.mark.usefixtures("device")
def test_a_stencil_has_knobs_for_its_blocks_and_strips() -> None:
    space = space_of(_subject(JACOBI), 1)
    names = [k.name for k in space.knobs[0]]
    assert names == ["threads S1.it", "threads S1.j", "iterations S1.i"]
    point = space.with_choice(space.with_choice(space.start(), 1, 4), 2, 0)
    directives = space.plan(point).directives
    (grid,) = (d for d in directives if isinstance(d, Grid))
    (tile,) = (d for d in directives if isinstance(d, Tile))
    assert [n for _, n in grid.loops] == [4, 16] and tile.loops[0][1] == 1


@pytest.mark.usefixtures("device")
def test_time_steps_have_knobs_for_their_number_and_tiles() -> None:
    space = space_of(_subject(STEPS), 1)
    names = [k.name for k in space.knobs[0]]
    assert {"steps S1.s", "time tile S1.s", "tiles over time S1.s"} <= {*names}

    def steps(knob: str, choice: int) -> list[TimeSteps]:
        point = space.with_choice(space.start(), names.index(knob), choice)
        return [d for d in space.plan(point).directives if isinstance(d, TimeSteps)]

    (default,) = steps("time tile S1.s", 0)
    assert [d.steps for k in range(6) for d in steps("steps S1.s", k)] == [1, 2, 3, 4, 6, 8]
    (other,) = steps("time tile S1.s", 1)
    assert (other.sides, other.threads) in TILES[2].shapes and other.steps == default.steps
    assert (other.sides, other.threads) != (default.sides, default.threads)
    assert not steps("tiles over time S1.s", 1)


@pytest.mark.usefixtures("device")
def test_time_steps_are_tried_where_they_are_predicted_to_be_slower() -> None:
    """The device that is called generic gains nothing from them by its description."""
    generic = replace(OPTIONS, device="generic")
    (subject,) = open_file("in.c", STEPS, generic).subjects
    made = dict(bench.authors(subject.model, generic, CUDA))["time steps in tiles"]()
    assert any(isinstance(d, TimeSteps) for d in made.plan.directives)
    assert "\n  steps " not in subject.outcome.plan


@needs_cxx
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("source, sizes, points", [(ADD, "n=9,m=7", 4), (JACOBI, "n=9", 8)])
def test_a_search_measures_compares_and_keeps_records(
    source: str, sizes: str, points: int, tune, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All points of a small space."""
    monkeypatch.setattr(knobs, "THREADS", (32,))
    monkeypatch.setattr(knobs, "STRIPS", (4,))
    words = ("--budget", "60", "--size", sizes, "--records", "r.jsonl", "--cflags=-O1", "--jobs", "2")
    code, err = tune(source, *words)
    assert code == 0 and "times as fast as the original" in err, err
    rows = [json.loads(line) for line in Path("r.jsonl").read_text().splitlines()]
    assert len(rows) == points + 1
    assert rows[-1]["role"] == "confirmed" and rows[-1]["plan"] in Path("in.plan").read_text()
    assert all(r["clock"] == "time of the device" and r["machine"].startswith("an emulated device") for r in rows)
    assert any(r["ok"] and r["plan"] != rows[0]["plan"] for r in rows[:-1])
    assert main(["gen", "in.c", "--target", "cuda", "--device", "h200", "--plan", "in.plan", "-o", "out/"]) == 0
    code, err = tune(source, *words)
    assert code == 0 and "taken from the records" in err


@needs_cxx
@pytest.mark.parametrize("old, new, said", [
    ("tw_device_end();", "", "runs on the host at these sizes"),  # whoever does not end was not on the device
    ("tw_device_end();", "tw_device_end(); tw_A[0] = 7;", "computes something else"),
])  # fmt: skip
def test_candidates_that_fail_are_not_chosen(
    old: str, new: str, said: str, tune, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The launcher is damaged behind all proofs: measuring finds it."""
    clocked = bench.timed

    def damaged(outcome: RegionOutcome, dialect: Dialect) -> RegionOutcome:
        made = clocked(outcome, dialect)
        assert isinstance(made.part, DevicePart)
        after = [x for x in made.part.after if x != old] + [new]
        return replace(made, part=replace(made.part, after=tuple(after)))

    monkeypatch.setattr(bench, "timed", damaged)
    monkeypatch.setattr(bench, "device_tuning", lambda dialect, options: emulated(options))
    code, err = tune(ADD, "--method", "default", "--size", "n=9,m=7", "--records", "r.jsonl", "--cflags=-O1")
    assert code == 0 and f"not tuned: the default plan's result {said}" in err
    assert said in json.loads(Path("r.jsonl").read_text().splitlines()[0])["why"]
