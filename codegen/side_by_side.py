"""Regions of one file at the same time, each in a child process of its own; what comes of them is taken in order."""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import signal
import sys
import warnings
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from codegen.worker import Died, pickled_error

T = TypeVar("T")


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
    if most < 2 or len(works) < 2 or not hasattr(os, "fork"):
        yield from works
        return
    children = _Children(works, most)
    try:
        for k in range(len(works)):
            yield children.answer(k)
    finally:
        children.end()


class _Children:
    """The children of one file, and what they have written so far."""

    def __init__(self, works: Sequence[Callable[[], object]], most: int) -> None:
        self.waiting = list(enumerate(works))
        self.most = most
        self.running: dict[int, tuple[int, int]] = {}  # process and pipe, by the number of the work
        self.written: dict[int, bytes] = {}
        self.selector = selectors.DefaultSelector()

    def answer(self, k: int) -> Callable[[], Any]:
        while k in self.running or any(k == n for n, _ in self.waiting):
            self._start()
            self._listen()
        data = self.written.pop(k)

        def value() -> Any:
            if not data:
                raise Died()
            ok, found = pickle.loads(data)
            if ok:
                return found
            raise found

        return value

    def _start(self) -> None:
        while self.waiting and len(self.running) < self.most:
            k, work = self.waiting.pop(0)
            sys.stdout.flush()
            sys.stderr.flush()
            reader, writer = os.pipe()
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
                child = os.fork()
            if child == 0:
                _answer(work, writer)
            with contextlib.suppress(OSError):  # a group of its own, so that its children end with it
                os.setpgid(child, child)
            os.close(writer)
            self.running[k], self.written[k] = (child, reader), b""
            self.selector.register(reader, selectors.EVENT_READ, k)

    def _listen(self) -> None:
        for key, _ in self.selector.select():
            chunk = os.read(key.fd, 1 << 16)
            self.written[key.data] += chunk
            if not chunk:
                self._gone(key.data)

    def _gone(self, k: int) -> None:
        child, reader = self.running.pop(k)
        self.selector.unregister(reader)
        os.close(reader)
        os.waitpid(child, 0)

    def end(self) -> None:
        """Nobody waits for the rest."""
        for k, (child, _) in list(self.running.items()):
            for end in (os.killpg, os.kill):
                with contextlib.suppress(OSError):
                    end(child, signal.SIGKILL)
            self._gone(k)
        self.selector.close()


def _answer(work: Callable[[], object], writer: int) -> None:
    """The child's whole life."""
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        try:
            data = pickle.dumps((True, work()))
        except BaseException as error:
            data = pickled_error(error)
        with os.fdopen(writer, "wb") as out:
            out.write(data)
    finally:
        os._exit(0)
