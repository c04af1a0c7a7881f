"""Running work in a child process with a deadline, so that neither isl nor a bad input can hang a build."""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import TypeVar

T = TypeVar("T")
STACK = 64 << 20  # bytes; as much as is used is really taken


class TimedOut(Exception):
    """The child did not finish in time."""


class Died(Exception):
    """The child ended without an answer."""


def run_with_deadline(work: Callable[[], T], seconds: float) -> T:
    """The result of `work`, computed in a forked child. Exceptions of the child are raised here.

    Raises TimedOut after `seconds` (0 means no limit) and Died when the child crashes.
    """
    if not hasattr(os, "fork"):
        return work()
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # In a notebook other threads run too. The child computes and answers; it waits for none of them.
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reader)
        answer(work, writer)
    os.close(writer)
    try:
        data = _read(reader, child, seconds)
    finally:
        os.close(reader)
        os.waitpid(child, 0)
    if not data:
        raise Died()
    ok, value = pickle.loads(data)
    if ok:
        result: T = value
        return result
    raise value


def run_again_after_crashes(work: Callable[[int], T], tries: int, seconds: float) -> T:
    """The result of `work(0)`; should it crash, of `work(1)`, and so on, all in one span of time."""
    start = time.monotonic()
    for crashed in range(tries):
        left = seconds - (time.monotonic() - start) if seconds > 0 and crashed else seconds
        if seconds > 0 >= left:
            raise TimedOut()
        try:
            return run_with_deadline(partial(work, crashed), left)
        except Died:
            continue
    raise Died()


def answer(work: Callable[[], object], writer: int) -> None:
    """The child's whole life: do the work, write what came of it, end.

    In a thread of its own: if the parent has run OpenMP code, the child's first thread would wait for helpers that did
    not come along, while a new thread starts with none.
    """
    threading.stack_size(STACK)
    thread = threading.Thread(target=_answer, args=(work, writer))
    try:
        thread.start()
        thread.join()
    finally:
        os._exit(0)


def _answer(work: Callable[[], object], writer: int) -> None:
    try:
        try:
            data = pickle.dumps((True, work()))
        except BaseException as error:
            data = _pickled_error(error)
        with os.fdopen(writer, "wb") as out:
            out.write(data)
    finally:
        os._exit(0)


def _pickled_error(error: BaseException) -> bytes:
    import traceback

    text = traceback.format_exc()
    try:
        error.__notes__ = [text]
        data = pickle.dumps((False, error))
        pickle.loads(data)
        return data
    except Exception:
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}\n{text}")))


def _read(reader: int, child: int, seconds: float) -> bytes:
    end = time.monotonic() + seconds if seconds > 0 else None
    chunks: list[bytes] = []
    while True:
        left = None if end is None else max(0.0, end - time.monotonic())
        ready, _, _ = select.select([reader], [], [], left)
        if not ready:
            os.kill(child, signal.SIGKILL)
            raise TimedOut()
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
