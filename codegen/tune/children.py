"""Runs work in forked child processes, several at a time, each with a deadline; whatever they started ends with
them."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import sys
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from codegen.children.worker import Died, answer
from codegen.limits import PROGRAM, Limits

T = TypeVar("T")


@dataclass
class _Child:
    key: Hashable
    pid: int
    reader: int
    end: float
    chunks: list[bytes] = field(default_factory=list)


class TimedOut(Exception):
    """A child did not end in its time."""


class Children:
    """At most `limit` at a time. Each is the leader of a process group of its own, so that an interrupt from the
    keyboard reaches the parent alone, which decides what becomes of them."""

    def __init__(self, limit: int) -> None:
        self.limit = max(1, limit)
        self._running: list[_Child] = []
        self._still: list[_Child] = []
        self._since = 0.0

    @property
    def free(self) -> bool:
        return len(self._running) < self.limit

    @property
    def busy(self) -> bool:
        return bool(self._running)

    def start(self, key: Hashable, work: Callable[[], object], seconds: float, limits: Limits = PROGRAM) -> None:
        """Begin; `wait` hands out the result under `key`."""
        assert self.free
        sys.stdout.flush()
        sys.stderr.flush()
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.close(reader)
            answer(work, writer, replace(limits, cpu=60 + seconds * (os.cpu_count() or 1)))
        with contextlib.suppress(OSError):  # the child may have done it, or be gone
            os.setpgid(pid, pid)
        os.close(writer)
        self._running.append(_Child(key, pid, reader, time.monotonic() + seconds))

    def wait(self) -> list[tuple[Hashable, Any]]:
        """Results of those that end next: a value, or the exception that ended it (TimedOut, Died, its own)."""
        done: list[tuple[Hashable, Any]] = []
        while self._running and not done:
            left = max(0.0, min(c.end for c in self._running) - time.monotonic())
            ready, _, _ = select.select([c.reader for c in self._running], [], [], left)
            for c in list(self._running):
                if c.reader in ready:
                    chunk = os.read(c.reader, 1 << 16)
                    if chunk:
                        c.chunks.append(chunk)
                        continue
                    done.append((c.key, self._ended(c)))
                elif time.monotonic() >= c.end:
                    self._kill(c)
                    done.append((c.key, TimedOut()))
        return done

    def hold(self, count: int) -> None:
        """All but the first `count` stand still until `release`, so that a measurement has a processor of its own; that
        time does not count for them."""
        self._still = self._running[max(0, count) :]
        self._since = time.monotonic()
        for c in self._still:
            self._signal(c, signal.SIGSTOP)

    def release(self) -> None:
        """All go on."""
        for c in self._still:
            c.end += time.monotonic() - self._since
            self._signal(c, signal.SIGCONT)
        self._still = []

    def _ended(self, c: _Child) -> Any:
        self._kill(c)
        data = b"".join(c.chunks)
        return pickle.loads(data)[1] if data else Died()

    def _kill(self, c: _Child) -> None:
        self._running.remove(c)
        self._signal(c, signal.SIGKILL)
        os.close(c.reader)
        os.waitpid(c.pid, 0)

    def _signal(self, c: _Child, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(c.pid, number)

    def stop(self) -> None:
        """End all that still run."""
        for c in list(self._running):
            self._kill(c)


def alone(work: Callable[[], T], seconds: float, limits: Limits = PROGRAM) -> T:
    """The result of work in one child; its exceptions are raised here."""
    children = Children(1)
    try:
        children.start(0, work, seconds, limits)
        ((_, result),) = children.wait()
    finally:
        children.stop()
    if isinstance(result, BaseException):
        raise result
    value: T = result
    return value
