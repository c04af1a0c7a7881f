"""Proofs of printed text that were carried out before, so that a build does not do them again.

What is kept is a digest of the text, of all that it was compared with, and of the code that did it: other text, other
tables or another version of the tool are proven anew. Digests are in one file, in the folder named by TILEWRIGHT_CACHE
or in the user's cache; `TILEWRIGHT_CACHE=off`, or a folder that cannot be written to, costs time and nothing else. Only
what was proven is written down, never what was not.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from codegen import __version__
from codegen.resources import templates_dir

if TYPE_CHECKING:
    from codegen.target.emit import RegionText

FILE = "proven"
LENGTH = 32  # bytes of a digest
MOST = 4096  # digests that are kept; with one more, the older half is forgotten
# What a proof of text consists of: itself, the printers that say what to compare with, and their tables.
_PARTS = ("verify", "target", "scop")


def proven_before(key: bytes) -> bool:
    """Was this shown by an earlier run?"""
    path = _path()
    if path is None:
        return False
    try:
        known = path.read_bytes()
    except OSError:
        return False
    return any(known[k : k + LENGTH] == key for k in range(0, len(known), LENGTH))


def remember_proof(key: bytes) -> None:
    """Write down that it was shown. Runs of a build do this at the same time: each appends one digest at once."""
    path = _path()
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size >= MOST * LENGTH:
            aside = path.with_name(f"{FILE}.{os.getpid()}")
            aside.write_bytes(path.read_bytes()[-(MOST // 2) * LENGTH :])
            os.replace(aside, path)
        with open(path, "ab", buffering=0) as file:
            file.write(key)
    except OSError:
        return


def key_of(emitted: RegionText) -> bytes:
    """A digest of everything that a proof of this text looks at."""
    from codegen.target.isa.load import load as load_isa

    isas = sorted({(name, bits) for name, bits, _ in emitted.kernels})
    parts = [_stamp(), *(repr(load_isa(*isa)) for isa in isas)]
    for name, value in sorted(vars(emitted).items()):
        parts.append(f"{name}: {sorted(map(repr, value)) if isinstance(value, frozenset) else value!r}")
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).digest()


@cache
def _stamp() -> str:
    """Identifies the code as Python does for compiled modules: by the sizes of files and when they were changed."""
    package = Path(__file__).resolve().parent.parent
    folders = [*(package / part for part in _PARTS), templates_dir()]
    return f"{__version__} {[x for folder in folders for x in _files(str(folder))]}"


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        if entry.is_dir():
            yield from _files(entry.path) if entry.name != "__pycache__" else ()
        else:
            found = entry.stat()
            yield entry.path, found.st_size, found.st_mtime_ns


def _path() -> Path | None:
    chosen = os.environ.get("TILEWRIGHT_CACHE", "")
    if chosen == "off":
        return None
    if chosen:
        return Path(chosen) / FILE
    user = os.environ.get("XDG_CACHE_HOME", "") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(user) / "tilewright" / FILE if os.path.isabs(user) else None
