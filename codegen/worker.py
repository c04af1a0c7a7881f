"""Runs a function in a forked child and returns its result or raises its exception (`run_limited`): LimitPassed beyond
limits of time, memory or output, Died after a crash; `run_again_after_crashes` tries again. `side_by_side` runs several
functions (the regions of a file) in parallel children, results in order, without limits of its own."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import pickle
import select
import selectors
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, TypeVar

from codegen.limits import MIB, LimitPassed, Limits, resident, restrict

T = TypeVar("T")
STACK = 64 << 20  # bytes; as much as is used is really taken
SELDOM = 100_000  # objects between two searches for garbage: a child has little of it, and ends soon
_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL)


class Died(Exception):
    """The child crashed, or ended without an answer."""


def run_limited(work: Callable[[], T], limits: Limits) -> T:
    """The result of `work`, computed in a forked child. Exceptions of the child are raised here.

    Raises LimitPassed when the child uses too much, and Died when it crashes.
    """
    if not hasattr(os, "fork"):
        return work()
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    before = resident()  # a child begins with what its parent has
    with warnings.catch_warnings():
        # In a notebook other threads run too. The child computes and answers; it waits for none of them.
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reader)
        answer(work, writer, limits)
    os.close(writer)
    try:
        data = _read(reader, child, limits)
    finally:
        os.close(reader)
        _, status, used = os.wait4(child, 0)
    if not data:
        raise _end(os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024 - before, limits)
    ok, value = pickle.loads(data)
    if ok:
        result: T = value
        return result
    if isinstance(value, MemoryError):
        raise LimitPassed(_memory(limits)) from value
    raise value


def run_again_after_crashes(work: Callable[[int], T], tries: int, limits: Limits) -> T:
    """The result of `work(0)`; should it crash, of `work(1)`, and so on."""
    for crashed in range(tries):
        try:
            return run_limited(partial(work, crashed), limits)
        except Died:
            continue
    raise Died()


def _end(code: int, used: int, limits: Limits) -> Exception:
    """Why a child gave no answer. One that crashed with half the memory it may have was perhaps refused more."""
    if -code in (signal.SIGXCPU, signal.SIGKILL):
        return LimitPassed(f"took more than {limits.cpu:g} s of processor time, or was ended from outside")
    if limits.memory and -code in _CRASHES and used > limits.memory // 2:
        return LimitPassed(_memory(limits))
    return Died()


def _memory(limits: Limits) -> str:
    return f"took more than {limits.memory // MIB} MiB of memory"


def answer(work: Callable[[], object], writer: int, limits: Limits) -> None:
    """The child's whole life: do the work, write what came of it, end.

    In a thread of its own: if the parent has run OpenMP code, the child's first thread would wait for helpers that did
    not come along, while a new thread starts with none.
    """
    try:
        faulthandler.disable()  # who waits for the answer says what a crash means
        restrict(limits)
        gc.set_threshold(SELDOM)
        threading.stack_size(STACK)
        thread = threading.Thread(target=_answer, args=(work, writer))
        thread.start()
        thread.join()
    finally:
        os._exit(0)


def _answer(work: Callable[[], object], writer: int) -> None:
    try:
        try:
            data = pickle.dumps((True, work()))
        except BaseException as error:
            data = pickled_error(error)
        with os.fdopen(writer, "wb") as out:
            out.write(data)
    finally:
        os._exit(0)


def pickled_error(error: BaseException) -> bytes:
    """An exception as the answer of a child, with its traceback as a note."""
    import traceback

    text = traceback.format_exc()
    try:
        error.__notes__ = [text]
        data = pickle.dumps((False, error))
        pickle.loads(data)
        return data
    except Exception:
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}\n{text}")))


def _read(reader: int, child: int, limits: Limits) -> bytes:
    end, size = time.monotonic() + limits.wall, 0
    chunks: list[bytes] = []
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, end - time.monotonic()))
        chunk = os.read(reader, 1 << 16) if ready else b""
        size += len(chunk)
        if not ready or size > limits.output:
            os.kill(child, signal.SIGKILL)
            much = f"wrote more than {limits.output // MIB} MiB"
            raise LimitPassed(much if ready else f"did not end within {limits.wall:g} s")
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)


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
                _answer_alone(work, writer)
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


def _answer_alone(work: Callable[[], object], writer: int) -> None:
    """The child's whole life, in a process group of its own."""
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)
    _answer(work, writer)
