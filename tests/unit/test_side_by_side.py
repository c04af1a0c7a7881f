"""Regions of a file at the same time: results in order, exceptions where they belong, no child left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial

import pytest

from codegen import pipeline
from codegen.diagnostics import InputError, Loc
from codegen.options import GenOptions
from codegen.worker import Died, at_once, side_by_side

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
    assert len({pid for _, pid in got} | {os.getpid()}) == 8


def test_one_at_a_time_is_done_here_and_when_asked() -> None:
    assert [value()[1] for value in side_by_side([partial(_late, k) for k in range(2)], 1)] == [os.getpid()] * 2


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
