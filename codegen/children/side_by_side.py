"""Carries out several functions (the regions of a file) in children, results in order. A child stays and does one after
another: what the first needs (modules, patterns, templates, records) is there for the rest. Work that a child does not
survive is done anew in a child of its own."""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import signal
import sys
import warnings
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, NoReturn, TypeVar

from codegen.children.worker import Died, pickled_answer, stay

T = TypeVar("T")
_WORD = 8  # bytes of a number in a pipe


def at_once() -> int:
    """How many children may run: one for each core, unless somebody else keeps the cores busy with other files."""
    if "jobserver" in os.environ.get("MAKEFLAGS", ""):
        return 1
    pool = sys.modules.get("multiprocessing")
    if pool is not None and pool.parent_process() is not None:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def side_by_side(works: Sequence[Callable[[], T]], most: int) -> Generator[Callable[[], T], None, None]:
    """For each piece of work, in order, what gives its result, or raises its exception. Up to `most` are carried out at
    a time; with one, each only when it is asked for."""
    if len(works) < 2 or not hasattr(os, "fork"):
        yield from works
        return
    crew = _Crew(works, most)
    try:
        for k in range(len(works)):
            yield crew.answer(k)
    finally:
        crew.end()


class _Helper:
    """A child: what it is doing, and what it has said of that so far."""

    def __init__(self, works: Sequence[Callable[[], object]], staying: bool) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        orders, self.orders = os.pipe()
        self.answers, answers = os.pipe()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            self.process = os.fork()
        if self.process == 0:
            os.close(self.orders)
            os.close(self.answers)
            _help(works, orders, answers, staying)
        with contextlib.suppress(OSError):  # a group of its own, so that its children end with it
            os.setpgid(self.process, self.process)
        os.close(orders)
        os.close(answers)
        self.staying, self.work, self.said = staying, -1, b""

    def ask(self, k: int) -> None:
        self.work, self.said = k, b""
        with contextlib.suppress(BrokenPipeError):  # it has ended: its answer is none
            os.write(self.orders, k.to_bytes(_WORD, "little"))

    @property
    def done(self) -> bool:
        return len(self.said) >= _WORD and len(self.said) == _WORD + int.from_bytes(self.said[:_WORD], "little")

    def end(self) -> None:
        for end in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                end(self.process, signal.SIGKILL)
        os.close(self.orders)
        os.close(self.answers)
        os.waitpid(self.process, 0)


def _help(works: Sequence[Callable[[], object]], orders: int, answers: int, staying: bool) -> NoReturn:
    """A child's whole life, in a process group of its own."""
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)

    def life() -> None:
        while number := os.read(orders, _WORD):
            data = pickled_answer(works[int.from_bytes(number, "little")])
            with os.fdopen(answers, "wb", closefd=False) as out:
                out.write(len(data).to_bytes(_WORD, "little") + data)

    stay(life, staying)


class _Crew:
    """The children of one file, and what they have answered so far."""

    def __init__(self, works: Sequence[Callable[[], object]], most: int) -> None:
        self.works, self.most = works, max(1, most)
        self.waiting = list(range(len(works)))
        self.again: list[int] = []  # work that a child did not survive
        self.answered: dict[int, bytes] = {}  # nothing: twice not
        self.helpers: list[_Helper] = []
        self.selector = selectors.DefaultSelector()

    def answer(self, k: int) -> Callable[[], Any]:
        while k not in self.answered:
            self._share_out(k)
            self._listen()
        return partial(_value, self.answered.pop(k))

    def _share_out(self, asked: int) -> None:
        """Give each child something to do; a single one no more than what is asked for."""
        busy = sum(h.work >= 0 for h in self.helpers)
        while busy < self.most and (self.again or (self.waiting and (self.most > 1 or self.waiting[0] <= asked))):
            again = bool(self.again)
            k = (self.again or self.waiting).pop(0)
            idle = next((h for h in self.helpers if h.work < 0 and h.staying != again), None)
            (idle or self._new(not again)).ask(k)
            busy += 1

    def _new(self, staying: bool) -> _Helper:
        helper = _Helper(self.works, staying)
        self.helpers.append(helper)
        self.selector.register(helper.answers, selectors.EVENT_READ, helper)
        return helper

    def _listen(self) -> None:
        for key, _ in self.selector.select():
            helper: _Helper = key.data
            chunk = os.read(key.fd, 1 << 16)
            helper.said += chunk
            if helper.done:
                self.answered[helper.work] = helper.said[_WORD:]
                helper.work = -1
            elif chunk:
                continue
            elif helper.work >= 0:
                self._lost(helper)
            if not chunk or not helper.staying:
                self._dismiss(helper)

    def _lost(self, helper: _Helper) -> None:
        if helper.staying:
            self.again.append(helper.work)
        else:
            self.answered[helper.work] = b""

    def _dismiss(self, helper: _Helper) -> None:
        self.helpers.remove(helper)
        self.selector.unregister(helper.answers)
        helper.end()

    def end(self) -> None:
        """Nobody waits for the rest."""
        for helper in list(self.helpers):
            self._dismiss(helper)
        self.selector.close()


def _value(data: bytes) -> Any:
    if not data:
        raise Died()
    ok, found = pickle.loads(data)
    if ok:
        return found
    raise found
