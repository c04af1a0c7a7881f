"""Which figures are believed, with clocks that tick, jump and stand still."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from codegen.machine import load
from codegen.machine.believable import Work, disturbed, least_seconds, most_gain, resolved, settled

TICK = 0.004


def clock(took: float, runs: int, tick: float) -> list[float]:
    """What a clock with such a tick tells of runs that all take the same time."""
    at, out = 0.0, []
    for _ in range(runs):
        start, at = at, at + took
        out.append(at // tick * tick - start // tick * tick)
    return out


def test_a_fine_clock_is_believed() -> None:
    times = clock(20e-6, 10, 1e-9)
    assert resolved(times, 1e-9) == times


@pytest.mark.parametrize("took", [20e-6, 0.001, 0.003, 0.017])
def test_a_clock_that_ticks_is_right_on_the_mean_of_many(took: float) -> None:
    runs = int(2 + 40 * TICK / took)
    found = resolved(clock(took, runs, TICK), TICK)
    assert found is not None and min(found) == pytest.approx(took, rel=0.06)


@pytest.mark.parametrize("tick", [TICK, 0.0])
def test_a_clock_that_has_hardly_ticked_tells_nothing(tick: float) -> None:
    assert resolved(clock(20e-6, 3, TICK), tick) is None  # all are zero
    assert resolved(clock(20e-6, 300, TICK), tick) is None  # one jump


def test_no_machine_computes_faster_than_all_its_units() -> None:
    product = Work(160 * 184 * 160, 8)
    assert 1e-9 < least_seconds(product, 1) < 1e-4
    assert least_seconds(product, 4) == least_seconds(product, 1) / 4
    assert least_seconds(Work(product.updates, 4), 1) == least_seconds(product, 1) / 2
    assert least_seconds(product, 1, 30e9) == pytest.approx(2 * product.updates / 30e9)
    assert least_seconds(Work(0, 8), 1) == 0


def test_predictions_have_a_bound() -> None:
    machine = load("haswell")
    assert most_gain(machine, 1, 8) < 100 and most_gain(machine, 4, 4) == 8 * most_gain(machine, 1, 8)


def test_what_cannot_be_believed_is_measured_again() -> None:
    figures: Iterator[float] = iter([1e-9, 1e-9, 0.002])
    assert settled(lambda: next(figures), lambda t: t > 1e-4) == 0.002
    assert settled(lambda: 1e-9, lambda t: t > 1e-4) is None


def test_runs_far_from_each_other() -> None:
    assert disturbed(0.003, 0.07) and not disturbed(0.003, 0.007)
