"""Compiled modules of the tool, kept together in one file of `__pycache__` and imported from there.

A run imports 450 of them; Python looks for, opens and checks a file for each, which takes a fourteenth of a run. A
module whose source is not what it was when it was kept, and one that is not kept, is imported as Python does it. What
every region needs is read in one piece: names that its modules share, most of all they have, are in it once.

For the command alone, whose process is its own: as a library the tool leaves imports as they are.
"""

from __future__ import annotations

import marshal
import mmap
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source
from types import CodeType, ModuleType

from codegen.resources import write_aside
from codegen.startup.files import kept_file

# A source's path below the package's folder, its size, its time in nanoseconds, where its code lies in the file, the
# path of the file that Python has for it, and its number among those of the piece; -1: it is by itself there.
Entry = tuple[str, int, int, int, int, str, int]
_FORM = 3  # of entries: others are not read
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_NAME = __name__.partition(".")[0]
_FIRST = ("cli.main", "cli.parser", "cli.gen")  # load what commands need
_REGION = "region"  # loads what regions need, which is kept in one piece
_before: set[str] = set()  # names of modules that were there when `use` was called
_HEAD = 16  # bytes before the code in a file of Python's: magic number, flags, time and size of the source


class KeptModules:
    """Finds modules whose code is kept and whose sources have not changed since: a finder of `sys.meta_path`."""

    def __init__(self, entries: dict[str, Entry], code: memoryview) -> None:
        self._entries, self._code = entries, code
        self._pieces: dict[int, Sequence[CodeType]] = {}  # of several modules, by where they begin

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        entry = self._entries.get(fullname)
        if entry is None:
            return None
        file = os.path.join(_PACKAGE, entry[0])
        if _stamp(file) != entry[1:3]:
            return None
        spec = _spec(fullname, file, partial(self._load, *entry[3:5], entry[6]))
        spec.cached = entry[5]  # Python would take longer to find out than to check all else
        return spec

    def _load(self, begin: int, end: int, number: int) -> CodeType:
        if number < 0:
            alone: CodeType = marshal.loads(self._code[begin:end])
            return alone
        if begin not in self._pieces:
            self._pieces[begin] = marshal.loads(self._code[begin:end])
        return self._pieces[begin][number]


class _Kept(SourceFileLoader):
    """Python's loader, for a source that has been compiled: what it says of the source is the source's."""

    load: Callable[[], CodeType]

    def get_code(self, fullname: str) -> CodeType:
        return self.load()


def use() -> None:
    """From now on modules that are kept are imported from the file."""
    _before.update(sys.modules)
    sys.meta_path.insert(0, _read())


def could_be_kept() -> bool:
    """Has this process imported, since `use`, a module whose code is not kept and could be?"""
    new = [m for name, m in sys.modules.items() if name.startswith(f"{_NAME}.") and name not in _before]
    return any(type(m.__loader__) is SourceFileLoader and _compiled(str(m.__file__)) for m in new)


def keep() -> None:
    """Write down all modules of the package that Python has compiled and that are as they were then."""
    found = {_module(f): (f, stamp, code) for f in _sources() if (stamp := _stamp(f)) and (code := _compiled(f))}
    together = [n for n in _of_regions() if n in found]
    pieces = [marshal.dumps([marshal.loads(found[n][2]) for n in together])]
    at, entries = len(pieces[0]), dict[str, Entry]()
    for name, (file, stamp, code) in found.items():
        place = os.path.relpath(file, _PACKAGE), *stamp
        if name in together:
            entries[name] = (*place, 0, len(pieces[0]), cache_from_source(file), together.index(name))
            continue
        pieces.append(code)
        entries[name] = (*place, at, at + len(code), cache_from_source(file), -1)
        at += len(code)
    head = marshal.dumps((_made_by(), entries))
    with suppress(OSError, NotImplementedError):
        write_aside(_file(), b"".join((len(head).to_bytes(8, "little"), head, *pieces)))


def _of_regions() -> list[str]:
    """Modules that regions need and the commands do not, in a fixed order; found by a Python that has loaded nothing
    yet, so that they are the same whatever this one has done."""
    from codegen.limits import QUESTION, LimitPassed, run

    first = (f"import {_NAME}.{x}" for x in _FIRST)
    steps = (f"import sys; sys.path[:] = {sys.path!r}", *first, "before = {*sys.modules}",
             f"import {_NAME}.{_REGION}", "print(*(x for x in sys.modules if x not in before))")  # fmt: skip
    try:
        done = run([sys.executable, "-c", "\n".join(steps)], QUESTION)
    except (LimitPassed, OSError):
        return []
    return [n for n in done.out.decode().split() if n.startswith(f"{_NAME}.")]


def _read() -> KeptModules:
    try:
        with open(_file(), "rb") as opened:
            data = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
        start = 8 + int.from_bytes(data[:8], "little")
        made_by, entries = marshal.loads(data[8:start])
    except (OSError, NotImplementedError, EOFError, ValueError, TypeError):
        return KeptModules({}, memoryview(b""))
    whole = all(start + e[4] <= len(data) for e in entries.values())
    return KeptModules(entries if made_by == _made_by() and whole else {}, data[start:])


def _made_by() -> str:
    """The Python that compiled, the folders, which compiled code and entries name, and the form of entries."""
    return f"{sys.version} {MAGIC_NUMBER!r} {_PACKAGE} {sys.pycache_prefix} {_FORM}"


def _file() -> str:
    return kept_file("all_modules")


def _sources() -> list[str]:
    return sorted(os.path.join(folder, n) for folder, _, names in os.walk(_PACKAGE) for n in names if n[-3:] == ".py")


def _module(file: str) -> str:
    parts = os.path.relpath(file, os.path.dirname(_PACKAGE))[:-3].split(os.sep)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _stamp(file: str) -> tuple[int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _compiled(file: str) -> bytes | None:
    """The code that Python keeps for a source, where it is of this version of it."""
    try:
        with open(cache_from_source(file), "rb") as opened:
            data = opened.read()
        found = os.stat(file)
    except (OSError, NotImplementedError):
        return None
    head = (MAGIC_NUMBER, *(x.to_bytes(4, "little") for x in (0, int(found.st_mtime), found.st_size & 0xFFFFFFFF)))
    return data[_HEAD:] if data[:_HEAD] == b"".join(head) else None


def _spec(name: str, file: str, load: Callable[[], CodeType]) -> ModuleSpec:
    loader = _Kept(name, file)
    loader.load = load
    spec = ModuleSpec(name, loader, origin=file)
    spec.has_location = True
    if os.path.basename(file) == "__init__.py":
        spec.submodule_search_locations = [os.path.dirname(file)]
    return spec
