"""The timing model against what is public, and what it says about regions before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.sunway_product import shares
from benchmarks.sunway_programs import KERNELS
from benchmarks.sunway_transfers import modelled
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.sunway.emulation.figures import figures
from codegen.sunway.emulation.host import emulator_folder
from codegen.sunway.plan.machine import groups
from tests.sunway.estimates import estimated


def test_transfers_take_what_was_measured(tmp_path, library):
    """Small, large, contiguous and strided requests of 64 cores."""
    errors = {str(row): rate / row.measured - 1 for row, rate in modelled(tmp_path, library).items()}
    assert max(map(abs, errors.values())) < 0.03, errors


def test_the_emulator_has_the_figures_of_the_machines():
    """Its table is made from the same files that the planner reads."""
    made = Path(emulator_folder() / "sw_figures.h").read_text(encoding="utf-8")
    assert made == figures(), "run python -m codegen.sunway.emulation.figures"


def test_assumptions_are_about_figures():
    """What is marked as an assumption is there; `put` says how puts are counted."""
    for g in groups().values():
        for name, why in g.assumptions:
            where, figure = name.split(".")
            holder = g.management if where == "management" else g
            assert hasattr(holder, figure) or name == "transfers.put", name
            assert why


PRODUCT = """void f(int n, double c[n][n], double a[n][n], double b[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}"""


def test_what_would_be_slower_stays_where_it_is():
    """With both times; it can be launched all the same."""
    path = KERNELS / "durbin.c"
    made = generate(str(path), path.read_text(encoding="utf-8"), GenOptions(target="sunway", stem="f"))
    (note,) = [n for d in made.diagnostics for n in d.notes]
    assert note.id == "sunway-slower" and "times slower" in note.message and "on the management core" in note.message
    assert not made.regions[0].transformed
    forced = GenOptions(target="sunway", stem="f", scheme="launch")
    assert generate(str(path), path.read_text(encoding="utf-8"), forced).regions[0].transformed


def test_what_is_faster_says_how_much():
    made = generate("f.c", PRODUCT, GenOptions(target="sunway", stem="f"))
    (text,) = [d.message for d in made.diagnostics if d.id == "predicted"]
    assert "times as fast" in text and "with parameters of 1000" in text


@pytest.mark.parametrize("name, sizes", [("mvt", {"n": 300}), ("atax", {"m": 190, "n": 210})])
def test_the_estimate_is_close_to_the_model(name, sizes, tmp_path, library):
    """Without running a loop, within a third of what the emulator finds."""
    from codegen.sunway.emulation.predict import model_program, predict

    program = model_program(str(KERNELS / f"{name}.c"), GenOptions(), tmp_path, library)
    found = predict(program, sizes).seconds
    assert 2 / 3 < estimated(KERNELS / f"{name}.c", sizes).cores / found < 1.5


def test_products_are_below_what_the_controller_allows():
    """Small ones have much to fetch for what they multiply: 80 % of the peak is out of reach for them."""
    small, large = shares(1000, 1100, 1200), shares(2048, 2304, 2624)
    assert 0.65 < small[1] < small[0] < 0.72 and 0.8 < large[1] < large[0] < 0.95


def test_a_model_that_takes_too_long_says_so(monkeypatch, capsys):
    """With the estimate in place of the time line."""
    from codegen.cli.main import main
    from codegen.limits import LimitPassed

    def late(*_):
        raise LimitPassed("took more than 30 s of processor time")

    monkeypatch.setattr("codegen.sunway.emulation.predict.predict", late)
    assert main(["inspect", "--target", "sunway", str(KERNELS / "mvt.c"), "--sizes", "n=4000"]) == 0
    out = capsys.readouterr().out
    assert "the timing model took more than 30 s" in out and "estimated:" in out and "on the management core" in out


@pytest.mark.parametrize("name, sizes, most, least", [
    ("conv2d", {"h": 101, "w": 101, "kh": 5, "kw": 5}, 400, 10),
    ("mttkrp", {"ni": 50, "nj": 40, "nk": 30, "rank": 25}, 20000, 3),
    ("contract-4d", {"na": 12, "nb": 11, "nc": 10, "nd": 9, "ne": 8, "nf": 7}, 10000, 1.5),
])  # fmt: skip
def test_several_loops_that_add_up_in_order(name, sizes, most, least):
    """Boxes are fetched for tiles of points, not for every point: transfers, and the gain over the management core."""
    found = estimated(KERNELS / f"{name}.c", sizes)
    assert found.commands < most and found.factor > least
