"""A temporary folder for generated sources whose name is a hash of their names and texts and the current folder, so
that compiler caches (ccache) see the same command and `#line`s for the same text. Removed afterwards; locked while in
use."""
from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


@contextmanager
def source_folder(parts: Iterable[tuple[bytes, bytes]]) -> Iterator[str]:
    """An empty folder of this user's alone, for files with these names and texts; gone afterwards. Whoever wants the
    same one meanwhile waits."""
    digest = hashlib.sha256()
    for part in (os.getcwd().encode("utf-8", "surrogateescape"), *(p for pair in parts for p in pair)):
        digest.update(len(part).to_bytes(8, "little") + part)
    base = os.path.join(tempfile.gettempdir(), f"tilewright-{os.getuid()}")
    if not _own(base):
        with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
            yield folder
        return
    folder = os.path.join(base, digest.hexdigest()[:20])
    with _locked(f"{folder}.lock"):
        shutil.rmtree(folder, ignore_errors=True)  # of one that was killed
        os.mkdir(folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _own(base: str) -> bool:
    """Make it, or see that it is a folder that only this user writes to: its name can be guessed."""
    try:
        os.makedirs(base, mode=0o700, exist_ok=True)
        found = os.lstat(base)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


@contextmanager
def _locked(path: str) -> Iterator[None]:
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            if os.fstat(handle).st_ino == os.stat(path).st_ino:
                break
        except FileNotFoundError:  # the one before has removed it
            pass
        os.close(handle)
    try:
        yield
    finally:
        os.unlink(path)
        os.close(handle)
