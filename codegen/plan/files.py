"""Reads plan files, within limits; a path in a pragma must not lead out of the source's folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from codegen.diagnostics import InputError, Loc
from codegen.source.encoding import decode
from codegen.source.write import near, reason

LARGEST = 1 << 20  # bytes; the plans of a file with a hundred regions take a tenth of that


def read_plan(path: str) -> str:
    """The text of a plan that the user names. Raises InputError, also for what is far too long to be one."""
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise InputError("cannot-read", f"cannot read {path}: {reason(error)}", Loc(path), near(path)) from error
    return _text(data, path, Loc(path))


def read_hinted(path: str, source: str, allowed: Sequence[str], loc: Loc) -> str:
    """The text of a plan that a source names: a plain file below the folder of the source, or below one of those that
    the command line allows, wherever links lead. A source is not always its user's own, and must not make the tool
    open what else is there."""
    real = os.path.realpath(path)
    folders = (os.path.dirname(source) or ".", os.path.dirname(os.path.realpath(source)), *allowed)
    if not any(_below(real, os.path.realpath(folder)) for folder in folders):
        raise InputError(
            "bad-hint",
            "the plan lies outside the folder of the source",
            loc,
            "move it there, name it with --plan, or allow its folder with --plan-path DIR",
        )
    try:
        handle = os.open(real, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe nobody writes to would block
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError("cannot-read", f"cannot read {path}: it is not a plain file", loc, "name a plan")
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise InputError("cannot-read", f"cannot read {path}: {reason(error)}", loc, near(path)) from error
    return _text(data, path, loc)


def _below(path: str, folder: str) -> bool:
    return os.path.commonpath((path, folder)) == folder


def _text(data: bytes, path: str, loc: Loc) -> str:
    if len(data) > LARGEST:
        hint = "split the source, or leave out the blocks of regions whose plan is the default"
        raise InputError("bad-plan", f"{path} has more than {LARGEST} bytes, which no plan has", loc, hint)
    return decode(data)
