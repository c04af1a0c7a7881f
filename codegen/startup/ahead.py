"""Runs a command in a child that is forked before anything is loaded. Work of the command that needs a process of its
own, since it may crash, is done right there (`replaceable`): memory that two processes use is copied page by page, and
there is little of it at that time."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_BEGUN, _ENDED = b"(", b")"
_parent: int | None = None  # the pipe to a process that waits for this one


def outcome(life: Callable[[], None]) -> int | None:
    """The exit status of a child with such a life; None where it ended within work that is replaceable: nobody has seen
    anything of it, and all can be done again."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _live(life, writer)
    os.close(writer)
    try:
        _, status = os.waitpid(child, 0)
    except KeyboardInterrupt:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    os.set_blocking(reader, False)  # should the child have left children behind
    with os.fdopen(reader, "rb") as told:
        if (told.read() or b"").endswith(_BEGUN):
            return None
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code  # as shells report a process ended by a signal


def _live(life: Callable[[], None], writer: int) -> None:
    """Does not return."""
    global _parent
    _parent = writer
    try:
        life()
    finally:
        os._exit(1)


def is_waited_for() -> bool:
    """Is this a child of `outcome`?"""
    return _parent is not None


@contextmanager
def replaceable() -> Iterator[None]:
    """Around work that leaves nothing behind: where this process ends within it, the one that waits begins anew."""
    assert _parent is not None
    os.write(_parent, _BEGUN)
    try:
        yield
    finally:
        os.write(_parent, _ENDED)
