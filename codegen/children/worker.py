"""Runs a function in a forked child and returns its result or raises its exception (`run_limited`): LimitPassed beyond
limits of time, memory or output, Died after a crash; `run_again_after_crashes` tries again. A child that does one piece
of work after another (`stay`) needs no children of its own for that, and one that is forked early (`run_ahead`) has
little to copy."""

from __future__ import annotations

import faulthandler
import gc
import os
import pickle
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn, TypeVar

from codegen.limits import HOUR, MIB, LimitPassed, Limits, allow, resident, restrict
from codegen.startup.ahead import is_waited_for, replaceable

T = TypeVar("T")
STACK = 64 << 20  # bytes; as much as is used is really taken
SELDOM = 100_000  # objects between two searches for garbage: a child has little of it, and ends soon
# Processor time that work gets of a child that stays, as a part of what it may take; past it, the child ends, and the
# work begins anew in one of its own. Regions take a tenth of it.
SOON = 6
_AFTERWARDS = Limits(HOUR, 0)  # for what follows such work in the same process
_AHEAD = Limits(0, 0, 1024 * MIB, 24 * HOUR)  # it sets its own for parts of its work
ORPHAN = 1.0  # seconds between two looks of a child at who its parent is
_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL)


_staying = False  # is this a child that does one piece of work after another?


class Died(Exception):
    """The child crashed, or ended without an answer."""


def run_limited(work: Callable[[], T], limits: Limits) -> T:
    """The result of `work`, computed in a forked child. Exceptions of the child are raised here.

    Raises LimitPassed when the child uses too much, and Died when it crashes.
    """
    if not hasattr(os, "fork"):
        return work()
    if _staying:
        return _done_here(work, limits)
    before = resident()  # a child begins with what its parent has
    data, code, used = _forked(partial(answer, work, limits=limits), limits)
    if not data:
        raise _end(code, used - before, limits)
    try:
        result: T = _told(data)
    except MemoryError as error:
        raise LimitPassed(_memory(limits)) from error
    return result


def run_ahead(work: Callable[[], T], again: bool = False) -> T:
    """The result of `work`, parts of which need children, from a child that does all of it and has none. Forked before
    much is loaded: memory that both use is copied page by page, which for all that an analysis needs takes a tenth of
    the time of a small one. Where that child does not survive, `work` is done here, with a child for each such part.
    In a process that is such a child itself (`startup/ahead.py`), all is done here where it can be done `again`."""
    if not hasattr(os, "fork") or _staying:
        return work()
    if again and is_waited_for():
        return _replaceable(work)
    try:
        data, _, _ = _forked(lambda writer: stay(partial(_answer, work, writer)), _AHEAD)
    except LimitPassed:
        data = b""
    result: T = _told(data) if data else work()
    return result


def _replaceable(work: Callable[[], T]) -> T:
    """The result of `work`, in this process, which stays while that is done, and goes on without its limits."""
    global _staying
    with replaceable():
        _staying = True
        try:
            return work()
        finally:
            _staying = False
            allow(_AFTERWARDS)


def _forked(life: Callable[[int], None], limits: Limits) -> tuple[bytes, int, int]:
    """What a forked child writes into the pipe that it is given, how it ended, and bytes of memory that it had."""
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # In a notebook other threads run too. The child computes and answers; it waits for none of them.
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reader)
        life(writer)
    os.close(writer)
    try:
        data = _read(reader, limits)
    except BaseException:
        os.kill(child, signal.SIGKILL)  # its answer is not waited for any more
        raise
    finally:
        os.close(reader)
        _, status, used = os.wait4(child, 0)
    return data, os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024


def _told(data: bytes) -> Any:
    """What a child answers: the result of its work, or the exception, which is raised."""
    ok, value = pickle.loads(data)
    if ok:
        return value
    raise value


def _done_here(work: Callable[[], T], limits: Limits) -> T:
    """The result of `work`, in a child that stays. What passes a limit ends it, so that whoever waits does the work
    anew: how much others have left behind must not choose between results."""
    allow(replace(limits, cpu=limits.cpu / SOON))
    try:
        return work()
    except MemoryError:
        os._exit(1)


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


def answer(work: Callable[[], object], writer: int, limits: Limits) -> NoReturn:
    """The child's whole life: do the work, write what came of it, end.

    In a thread of its own: if the parent has run OpenMP code, the child's first thread would wait for helpers that did
    not come along, while a new thread starts with none.
    """
    restrict(limits)
    _alone(partial(_answer, work, writer))


def stay(life: Callable[[], None], limited_here: bool = True) -> NoReturn:
    """The whole life of a child that does work for others until it is told to end. With `limited_here`, limits hold for
    each piece of it, and end the child; else such work is done in children of its own."""
    global _staying
    _staying = limited_here
    _alone(life)


def _alone(life: Callable[[], None]) -> NoReturn:
    """Ends with `life`, or soon after its parent was ended, who would have had the answer."""
    parent = os.getppid()
    try:
        faulthandler.disable()  # who waits for the answer says what a crash means
        gc.set_threshold(SELDOM)
        threading.stack_size(STACK)
        thread = threading.Thread(target=life)
        thread.start()
        while thread.is_alive() and os.getppid() == parent:
            thread.join(ORPHAN)
    finally:
        os._exit(0)


def _answer(work: Callable[[], object], writer: int) -> None:
    try:
        data = pickled_answer(work)
        with os.fdopen(writer, "wb") as out:
            out.write(data)
    finally:
        os._exit(0)


def pickled_answer(work: Callable[[], object]) -> bytes:
    """What came of it: True and the result, or False and the exception."""
    try:
        return pickle.dumps((True, work()))
    except BaseException as error:
        return pickled_error(error)


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


def _read(reader: int, limits: Limits) -> bytes:
    end, size = time.monotonic() + limits.wall, 0
    chunks: list[bytes] = []
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, end - time.monotonic()))
        chunk = os.read(reader, 1 << 16) if ready else b""
        size += len(chunk)
        if not ready or size > limits.output:
            much = f"wrote more than {limits.output // MIB} MiB"
            raise LimitPassed(much if ready else f"did not end within {limits.wall:g} s")
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
