"""Regions of a file at the same time: results in order, exceptions where they belong, no child left behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from codegen import pipeline
from codegen.children.side_by_side import at_once, side_by_side
from codegen.children.worker import Died, run_limited
from codegen.diagnostics import InputError, Loc
from codegen.limits import LimitPassed, Limits
from codegen.options import GenOptions

REGION = """void f%d(int n, double *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = %d * a[i];
#pragma endscop
}
"""


def _late(k: int) -> tuple[int, int]:
    time.sleep(0.05 * (3 - k % 3))
    return k, os.getpid()


def test_results_come_in_order_from_children() -> None:
    got = [value() for value in side_by_side([partial(_late, k) for k in range(7)], 3)]
    assert [k for k, _ in got] == list(range(7))
    assert 1 <= len({pid for _, pid in got} - {os.getpid()}) <= 3  # who is done takes what is left


def test_one_at_a_time_is_done_when_asked(tmp_path: Path) -> None:
    made = side_by_side([partial(os.mkdir, tmp_path / str(k)) for k in range(3)], 1)
    for k in range(3):
        assert len(list(tmp_path.iterdir())) == k
        next(made)()
    made.close()


def _in_a_child(k: int, limits: Limits) -> tuple[int, int]:
    """Work of one region: a child for it, which crashes, or takes too long, where it is not the first."""

    def work() -> int:
        while k == 2:
            pass
        if k == 1:
            signal.raise_signal(signal.SIGKILL)
        return os.getpid()

    try:
        return run_limited(work, limits), os.getpid()
    except (LimitPassed, Died) as error:
        return -1, len(str(error))


def test_limits_hold_for_each_work_and_who_passes_them_is_alone() -> None:
    """A child that stays does limited work itself. What ends it is done again in a child that has one for it."""
    works = [partial(_in_a_child, k, Limits(1 if k == 2 else 30, 0)) for k in range(5)]
    got = [value() for value in side_by_side(works, 1)]
    assert [a == b for a, b in got] == [True, False, False, True, True]
    assert got[1][0] == got[2][0] == -1


def test_exceptions_and_crashes_are_raised_where_the_result_is_taken() -> None:
    def wrong() -> int:
        raise InputError("bad-plan", "no such loop", Loc("in.c", 3))

    works: list[Callable[[], object]] = [partial(_late, 0), wrong, partial(os._exit, 3), partial(bytes, 300_000)]
    with closing(side_by_side(works, 2)) as made:
        assert isinstance(next(made)(), tuple)
        with pytest.raises(InputError, match="no such loop"):
            next(made)()
        with pytest.raises(Died):
            next(made)()
        assert next(made)() == bytes(300_000)  # more than a pipe holds


def test_the_rest_is_ended_when_nobody_waits() -> None:
    begun = time.monotonic()
    with closing(side_by_side([partial(time.sleep, 0), partial(time.sleep, 60)], 2)) as made:
        next(made)()
    assert time.monotonic() - begun < 30
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_build_with_jobs_of_its_own_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEFLAGS", " -j8 --jobserver-auth=3,4")
    assert at_once() == 1


def test_the_same_text_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(REGION % (k, k + 2) for k in range(3))
    made = []
    for most in (1, 3):
        monkeypatch.setattr(pipeline, "at_once", partial(int, most))
        made.append(pipeline.generate("in.c", text, GenOptions()))
    assert made[0].text == made[1].text and made[0].diagnostics == made[1].diagnostics
