"""The confirming run: which plans of the searches meet there, and what it takes of a short budget."""

from codegen.tune.plans.settings import SearchRun
from codegen.tune.plans.study import TriedPlan
from codegen.tune.plans.tuner import finalists
from codegen.tune.timing import Timing


def _tried(plan: str, seconds: float | None) -> TriedPlan:
    return TriedPlan(1, 0.0, plan, plan, None if seconds is None else Timing(seconds, seconds, 0.0, 3))


def _run(method: str, **seconds: float | None) -> SearchRun:
    return SearchRun(method, 1.0, tuple(_tried(plan, t) for plan, t in seconds.items()), None)


def test_the_fastest_three_with_the_method_that_found_them_first() -> None:
    runs = [_run("guided", own=1.0, a=0.9, b=0.5, failed=None), _run("greedy", b=0.4, c=0.7, d=0.8)]
    assert finalists(runs, "own") == [("b", "guided"), ("c", "greedy"), ("d", "greedy")]


def test_plans_far_behind_the_default_do_not_take_its_time() -> None:
    assert finalists([_run("guided", own=1.0, slow=12.0, near=1.05)], "own") == [("near", "guided")]


def test_without_a_figure_of_the_default_all_may_meet() -> None:
    assert finalists([_run("guided", own=None, slow=12.0)], "own") == [("slow", "guided")]
