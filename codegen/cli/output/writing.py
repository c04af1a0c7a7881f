"""Writes several files; when one cannot be written, those before it are put back as they were."""
from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from codegen.cli.output.artefacts import Artefact
from codegen.source.write import write_if_changed

_Old = tuple[str, bytes | None, tuple[int, int] | None]


def write_all(artefacts: Sequence[Artefact], force: bool) -> None:
    """Write every artefact; when one cannot be written, put the others back as they were and raise."""
    done: list[_Old] = []
    try:
        for artefact in artefacts:
            done.append(_snapshot(artefact.path))
            write_if_changed(artefact.path, artefact.text, force or not artefact.guarded)
    except BaseException:
        for old in done[:-1]:  # the last one is the one that failed, which left its file alone
            _restore(old)
        raise


def _snapshot(path: str) -> _Old:
    try:
        if not os.path.isfile(path):
            return path, None, None
        with open(path, "rb") as stream:
            status = os.fstat(stream.fileno())
            return path, stream.read(), (status.st_atime_ns, status.st_mtime_ns)
    except OSError:  # writing will fail too, with a message of its own
        return path, None, None


def _restore(old: _Old) -> None:
    path, data, times = old
    with contextlib.suppress(OSError):
        if data is not None and times is not None:
            with open(path, "wb") as stream:
                stream.write(data)
            os.utime(path, ns=times)
        elif os.path.isfile(path):
            os.unlink(path)
