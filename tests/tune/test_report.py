"""The page about a search, from figures made up for it."""

from __future__ import annotations

from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from codegen.plan_reader.parse import parse
from codegen.report.tuning.axes import ChartAxis
from codegen.report.tuning.charts import profile
from codegen.report.tuning.nest import nest_picture
from codegen.report.tuning.page import describe_tuning, page
from codegen.transform.apply import apply_plan
from codegen.tune.plans.settings import SearchRun, Settings, TunedFile, TunedRegion
from codegen.tune.plans.study import TriedPlan
from codegen.tune.region import open_file
from codegen.tune.timing import Timing, timing
from tests.report.pages import read
from tests.tune.sources import ADD, PRODUCT

OPTIONS = GenOptions(cpp=CppOptions(enabled=False))


def _time(seconds: float) -> Timing:
    return Timing(seconds, seconds * 1.01, 0.02, 5)


def _tuned() -> TunedFile:
    own = generate("in.c", ADD, OPTIONS).plan
    other = own.replace(":64", ":32").replace(":16", ":8") + "  jam S1.i by 2\n"
    assert other != own
    steps = (
        TriedPlan(1, 0.5, "default", own, _time(2e-3)),
        TriedPlan(2, 1.0, "default; <jam> S1: 2", other, _time(1e-3)),
        TriedPlan(3, 1.5, "default; jam S1: 8", own + "# 8", None, "refused: loop `i` is parallel already & so on"),
    )
    runs = (SearchRun("evolve", 2.0, steps, 1e-3), SearchRun("random", 2.0, steps[:1], 2e-3))
    region = TunedRegion(1, "region 1 (add, line 3)", "", own, own, {"n": 30}, _time(4e-3), _time(2e-3), _time(2e-3),
                         runs, 100, "default")  # fmt: skip
    return TunedFile("in.c", own, (region,), (), "here: a machine", "cc 1", "-O3", 2)


def test_the_page_fits_together() -> None:
    text = describe_tuning([(_tuned(), ADD, OPTIONS)], Settings(("evolve", "random")))
    found = read(text)
    assert len(text.encode()) < 300_000 and len(set(found.ids)) == len(found.ids)
    links = [str(a["href"]) for t, a in found.tags if "href" in a]
    assert all(x == "data:," or x[1:] in found.ids for x in links)
    assert not any("src" in a for _, a in found.tags) and "url(" not in text and "<script" not in text
    assert "&lt;jam&gt;" in text and "<jam>" not in text  # everything is escaped


def test_the_page_tells_what_was_measured() -> None:
    p = page([(_tuned(), ADD, OPTIONS)], Settings(("evolve", "random")))
    assert p.overview.rows[0][2:7] == ("4 ms", "2 ms", "2 ms", "2.00", "1.00")
    assert p.comparison is not None
    assert [row[:2] for row in p.comparison.rows] == [("evolve", "2.000"), ("random", "1.000")]
    (region,) = p.regions
    assert region.failures is not None and len(region.failures.rows) == 1
    assert region.best is not None and region.best.rows[0][0] == "2.000"
    assert len(region.pictures) == 4 and region.nest is not None
    dots = [s for s in region.pictures[0].shapes if s.tag == "circle"]
    crosses = [s for s in region.pictures[0].shapes if s.cls.startswith("failed")]
    assert (len(dots), len(crosses)) == (3, 1)


def test_a_nest_for_certain_sizes_is_drawn() -> None:
    own = generate("in.c", PRODUCT, OPTIONS).plan
    assert "  product S1 " in own
    plan = own + "    or nest i:2 threads pack right, j:2 + 4, k:8, i:4, j:8\n"
    scop = open_file("in.c", PRODUCT, OPTIONS).subjects[0].model.program
    drawn = nest_picture(apply_plan(scop, parse(plan, "p", {1: scop.scop})[0]).tree)
    words = [s.text for s in drawn.shapes if s.cls == "loop-name"]
    assert words[-5:] == ["loop i, 2 times, right packed", "loop j, 2 times, then 4 more", "loop k, 8 times",
                          "loop i, 4 times", "loop j, 8 times"]  # fmt: skip
    assert [s.cls for s in drawn.shapes if s.tag == "rect"][-6] == "box loop threads"


def test_profiles_count_regions() -> None:
    """Of four regions, `a` wins one; on the others it takes twice the time of `b`, which fails on the first."""
    made = profile({"a": [1.0, 2.0, 2.0, 2.0], "b": [None, 1.0, 1.0, 1.0]}, ["a", "b"])
    assert made is not None
    titles = [s.title for s in made.shapes if s.cls.startswith("best")]
    assert titles == ["a: 1 of 4 fastest", "b: 3 of 4 fastest"]


def test_profiles_are_drawn_where_they_say_something() -> None:
    assert profile({"a": [1.0] * 4}, ["a"]) is None
    assert profile({"a": [1.0, 2.0, 2.0], "b": [1.0, 1.0, 1.0]}, ["a", "b"]) is None


def test_axes_have_round_numbers() -> None:
    assert ChartAxis(0.0, 10.0).ticks() == [0, 2, 4, 6, 8, 10]
    assert ChartAxis(0.9, 1100.0, True).ticks() == [1, 10, 100, 1000]
    ticks = ChartAxis(0.93, 1.41, True).ticks()
    assert len(ticks) >= 4 and all(0.93 <= t <= 1.41 for t in ticks)
    assert ChartAxis(1.0, 100.0, True).at(10.0) == 0.5


def test_figures_of_runs() -> None:
    assert timing([3.0, 1.0, 2.0, 10.0, 2.5]) == Timing(1.0, 2.5, 0.4, 5)
    assert timing([2.0]) == Timing(2.0, 2.0, 0.0, 1)
