"""Points of a space are plans: the default is one of them, each knob changes the text, and most are legal."""

from __future__ import annotations

import random

import pytest

from codegen.diagnostics import TilewrightError
from codegen.options import CppOptions, GenOptions
from codegen.tune.plans.prior import Surrogate
from codegen.tune.plans.space import Point, Space, space_of
from codegen.tune.region import Subject, open_file
from tests.tune.sources import ADD, AXPY, GLOBAL, HEAT, PRODUCT

SOURCES = {"add": ADD, "axpy": AXPY, "product": PRODUCT, "heat": HEAT, "global": GLOBAL}


def opened(source: str, machine: str = "generic") -> Subject:
    options = GenOptions(machine=machine, cpp=CppOptions(enabled=False))
    (subject,) = open_file("in.c", source, options).subjects
    return subject


@pytest.fixture(scope="module")
def spaces() -> dict[str, tuple[Subject, Space]]:
    found = {name: opened(source) for name, source in SOURCES.items()}
    return {name: (subject, space_of(subject, 2)) for name, subject in found.items()}


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_the_first_point_is_the_default_plan(name: str, spaces: dict[str, tuple[Subject, Space]]) -> None:
    subject, space = spaces[name]
    assert space.text(space.start()) == subject.outcome.plan
    assert space.describe(space.start()) == "default"


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_every_choice_of_every_knob_changes_the_plan(name: str, spaces: dict[str, tuple[Subject, Space]]) -> None:
    _, space = spaces[name]
    for base, knobs in enumerate(space.knobs):
        start = space.start(base)
        for k in range(len(knobs)):
            for point in space.along(start, k):
                assert space.text(point) != space.text(start), space.describe(point)


def test_illegal_points_are_refused_and_legal_ones_carried_out(spaces: dict[str, tuple[Subject, Space]]) -> None:
    rng = random.Random(3)
    for name, (subject, space) in spaces.items():
        legal = 0
        for _ in range(6):
            point = space.near(space.start(), rng)
            try:
                outcome = subject.carried_out(space.text(point))
            except TilewrightError:
                continue
            legal += outcome.text is not None
        assert legal >= 2, name


def test_time_tiles_keep_their_diagonals(spaces: dict[str, tuple[Subject, Space]]) -> None:
    """The second size is made a multiple of the first, and the skew is their ratio, so that the plan stays legal."""
    subject, space = spaces["heat"]
    steps = [k.name for k in space.knobs[0]].index("tile S1.t")
    for point in space.along(space.start(), steps):
        if space.knobs[0][steps].choices[point.choices[steps]] != "0":
            assert subject.carried_out(space.text(point)).text is not None


def test_one_thread_has_no_knobs_about_threads() -> None:
    space = space_of(opened(PRODUCT), 1)
    assert not [k.name for knobs in space.knobs for k in knobs if k.name.startswith("threads")]


def test_parallel_loops_follow_their_tiles(spaces: dict[str, tuple[Subject, Space]]) -> None:
    _, space = spaces["add"]
    start = space.start()
    k, knob = next((k, x) for k, x in enumerate(space.knobs[0]) if x.name.startswith("tile "))
    assert "parallel S1.it" in space.text(start)
    whole = space.with_choice(start, k, knob.choices.index("0"))
    assert "parallel S1.i\n" in space.text(whole)


def test_what_was_measured_guides(spaces: dict[str, tuple[Subject, Space]]) -> None:
    _, space = spaces["product"]
    guide = Surrogate(space, lambda plan: 0.0)
    start = space.start()
    good, bad = list(space.along(start, 0))[:2]
    for point, seconds in ((start, 1.0), (good, 0.5), (bad, 4.0)):
        guide.learn(point, seconds)
    assert guide.value(good) < guide.value(start) < guide.value(bad)
    both = Point(0, (good.choices[0], *start.choices[1:]))
    assert guide.value(both) == guide.value(good)


def test_the_region_as_it_was_written_is_a_candidate(spaces: dict[str, tuple[Subject, Space]]) -> None:
    """Where nothing the tool does pays, that is what a search ends with."""
    for subject, space in spaces.values():
        assert space.bases[1].name == "as written"
        text = space.text(space.start(1))
        assert len(text.splitlines()) == 1 and subject.carried_out(text).text is not None
