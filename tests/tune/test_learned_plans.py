"""The cost model of plans: what it is told about a plan, the trees it is made of, and how they are fitted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.options import CppOptions, GenOptions
from codegen.plan_reader.parse import parse
from codegen.tune.plans.learned.__main__ import main, samples_of
from codegen.tune.plans.learned.facts import RegionFacts, facts_of
from codegen.tune.plans.learned.fit import Fitter, Fitting, correlation, folds
from codegen.tune.plans.learned.forest import Forest, Forests, Tree, read, saved
from codegen.tune.plans.learned.model import model_of, shipped
from codegen.tune.plans.learned.nests import nests_of
from codegen.tune.plans.learned.traffic import cost_of, turns_of
from codegen.tune.plans.learned.traits import traits
from codegen.tune.plans.space import space_of
from codegen.tune.records import MeasurementSetting, PlanRecord, Records
from codegen.tune.region import Subject, open_file
from codegen.tune.timing import Timing
from tests.tune.sources import HEAT, PRODUCT

ADDED = """void f(int n, int m, double a[n][m], double b[m][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = b[j][i] + a[i][j];
#pragma endscop
}
"""


def opened(source: str) -> Subject:
    options = GenOptions(machine="generic", cpp=CppOptions(enabled=False))
    return open_file("in.c", source, options).subjects[0]


def facts(subject: Subject, threads: int = 1, **sizes: int) -> RegionFacts:
    program = subject.model.program
    return facts_of(program.scop, program.tree, sizes, subject.machine, threads)


@pytest.fixture(scope="module")
def added() -> tuple[Subject, RegionFacts]:
    subject = opened(ADDED)
    return subject, facts(subject, n=1000, m=2000)


def planned(subject: Subject, text: str):
    scop = subject.model.program.scop
    return parse(f"region 1\n{text}", "p", {1: scop})[0]


def test_facts_of_a_statement(added: tuple[Subject, RegionFacts]) -> None:
    _, known = added
    (s,) = known.statements.values()
    assert (s.extents, s.instances, s.operations) == ((1000, 2000), 2e6, 1.0)
    assert [(a.array, a.step(0), a.step(1)) for a in s.accesses] == [
        ("a", "far", "unit"), ("b", "unit", "far"), ("a", "far", "unit")
    ]  # fmt: skip
    assert len(s.boxes) == 2 and known.bytes == 2 * 8 * 2e6


def test_loops_are_cut_and_reordered(added: tuple[Subject, RegionFacts]) -> None:
    subject, known = added
    nest = nests_of(known, planned(subject, "tile S1.i:8, S1.j:0\norder S1.j, S1.i\nvector S1.i\n")).around["S1"]
    assert [lp.name for lp in nest] == ["it", "j", "i"]
    assert (nest[0].tile, nest[2].inner, nest[2].width) == (8, 8, 1)
    turns = turns_of(known.statements["S1"], nest)
    assert [t.trips for t in turns] == [125, 2000, 8] and [t.moves for t in turns] == [None, 1, 0]
    assert [t.widths for t in turns] == [(1000, 2000), (8, 2000), (8, 1)]


def test_tiles_save_lines(added: tuple[Subject, RegionFacts]) -> None:
    """Across b each row of a fetches a line for every element, unless tiles use all of it."""
    subject, known = added
    s, machine = known.statements["S1"], subject.machine
    plain, tiled = (
        cost_of(s, nests_of(known, planned(subject, text)).around["S1"], machine)
        for text in ("", "tile S1.i:32, S1.j:32\n")
    )
    assert tiled.lines[0] < 0.5 * plain.lines[0]
    assert plain.steps == ("unit", "far", "unit")


def test_skewed_loops_move_one_iterator() -> None:
    subject = opened(HEAT)
    known = facts(subject, **{p.text: 100 for p in subject.model.program.scop.params})
    plan = planned(subject, subject.outcome.plan.partition("\n")[2])
    for name, around in nests_of(known, plan).around.items():
        turns = turns_of(known.statements[name], around)
        assert turns[-1].moves == len(known.statements[name].extents) - 1


def test_every_candidate_has_finite_traits_and_an_estimate() -> None:
    for source in (HEAT, PRODUCT):
        subject = opened(source)
        space = space_of(subject, 2)
        known = facts(subject, 2, **{p.text: 64 for p in subject.model.program.scop.params})
        model = model_of(known, space.bases[0].plan)
        for base in range(len(space.bases)):
            start = space.start(base)
            points = [start, *(next(space.along(start, k)) for k in range(len(start.choices)))]
            for point in points:
                found = traits(known, space.plan(point))
                assert np.isfinite(list(found.values())).all(), space.describe(point)
                assert abs(model.slowdown(space.plan(point))) < 4


def test_knobs_change_traits(added: tuple[Subject, RegionFacts]) -> None:
    """Else the model could not tell candidates apart."""
    subject, known = added
    space = space_of(subject, 1)
    own = traits(known, space.plan(space.start()))
    for k, knob in enumerate(space.knobs[0]):
        assert any(traits(known, space.plan(p)) != own for p in space.along(space.start(), k)), knob.name


def test_forests_are_kept_as_text() -> None:
    tree = Tree((0, -1, -1), (0.5, -1.0, 2.0), (1, 0, 0))
    forests = Forests("two", ("a", "b"), {"time": Forest(0.25, (tree, tree)), "fails": Forest(0.0, ())})
    text = saved(forests)
    assert read(text) == forests and saved(read(text)) == text
    assert forests.forests["time"]([0.5]) == -1.75 and forests.forests["time"]([0.6]) == 4.25


def test_what_the_package_ships_is_as_it_was_written() -> None:
    path = Path(__file__).parents[2] / "codegen/tune/plans/learned/data/plans.json"
    assert saved(shipped()) == path.read_text()


def test_a_fit_finds_what_is_there_and_is_repeatable() -> None:
    draw = np.random.default_rng(3)
    inputs = draw.random((600, 4))
    wanted = np.where(inputs[:, 1] > 0.5, 1.0, 0.0) + inputs[:, 2]
    made = [Fitter(inputs, wanted, np.ones(600), Fitting(trees=80, rate=0.2)).forest() for _ in range(2)]
    assert made[0] == made[1]
    found = [made[0](row) for row in inputs.tolist()]
    assert correlation(found, wanted.tolist()) > 0.97
    assert np.abs(np.array(found) - wanted).mean() < 0.1


def test_orders_and_folds() -> None:
    assert correlation([1, 2, 3], [10, 30, 20]) == 0.5
    assert correlation([1, 1, 1], [1, 2, 3]) == 0.0
    parts = list(folds(["a", "b", "a", "c"], 2))
    assert parts == [([1], [0, 2, 3]), ([0, 2, 3], [1])]


def test_records_become_a_model(tmp_path: Path) -> None:
    """From the file of records to the file of forests; figures that are not steady do not count."""
    (tmp_path / "in.c").write_text(ADDED)
    subject = open_file(str(tmp_path / "in.c"), ADDED, GenOptions(machine="generic")).subjects[0]
    space = space_of(subject, 1)
    records = Records(str(tmp_path / "r.jsonl"))
    setting = MeasurementSetting("x/in.c", 1, "f", subject.model.digest, "", "", "", "", 1, {"n": 100, "m": 100})
    points = [space.start(), *(q for k in range(len(space.knobs[0])) for q in space.along(space.start(), k))]
    for k, point in enumerate(points):
        seconds = 1.0 + 0.1 * k
        records.add(setting, PlanRecord(space.text(point), timing=Timing(seconds, seconds, 0.01, 5)))
    records.add(setting, PlanRecord(space.text(points[-1]), timing=Timing(9.0, 15.0, 0.9, 5)))
    records.add(setting, PlanRecord(space.text(points[0]), why="refused: no"))
    found = list(samples_of(f"{records.path}@generic", tmp_path))
    assert found[0].slower == 0.0 and len(found) == len(points) + 1 and found[-1].slower is None
    assert max(s.slower for s in found if s.slower is not None) < 3.0
    assert main(["--records", f"{records.path}@generic", "--sources", str(tmp_path), "--out", str(tmp_path)]) == 0
    assert set(read((tmp_path / "plans.json").read_text()).forests) == {"time", "fails"}
