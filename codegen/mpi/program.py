"""What a program that uses MPI itself says of its ranks: finds such uses in a file, reads the communicator whose ranks
hold the same data (`--comm EXPR`, `#pragma tilewright comm(EXPR)`), and refuses regions that name none."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.diagnostics import InputError, Loc, Unsupported
from codegen.options import GenOptions
from codegen.patterns import pattern
from codegen.record import record
from codegen.source.layout.lexis import CHAR, STRING, blank, blank_comments
from codegen.source.layout.linemap import LineMap
from codegen.source.preprocess import Preprocessed
from codegen.source.region_slice import RegionSlice
from codegen.source.regions import Region

if TYPE_CHECKING:
    from codegen.source_file import Opened

WORLD = "MPI_COMM_WORLD"
_HEADER = "mpi.h"
_USE = pattern(r"\bP?MPI_[A-Z][a-z]\w*")  # a function or a type, also behind the profiling interface
_INCLUDED = pattern(r'^[ \t]*#[ \t]*include[ \t]*[<"](?:[^">\n]*/)?mpi\.h[">]', re.M)
_QUOTED = pattern(f"{STRING}|{CHAR}")
_CLAUSE = pattern(r"\s*comm\s*\((.*)\)\s*", re.S)
_WORD = pattern(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
_CHANGES = pattern(r"\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=")
_ADVICE = (
    "name a communicator whose ranks all hold the same data with `--comm EXPR` or `#pragma tilewright comm(EXPR)`; "
    "if each rank has data of its own, use --target openmp"
)


@record
class Communicator:
    """A C expression for a communicator, evaluated in front of a region, and where it was given."""

    text: str
    loc: Loc


def opened(source: Opened, options: GenOptions) -> Opened:
    """The file, with a refusal at each region of a program with MPI of its own that names no communicator. Raises
    InputError where none does, and for communicators that are no expressions of the file."""
    named = {s.region.index: communicator(s.region, source.name, options) for s in source.slices}
    for comm in {c.text: c for c in named.values() if c is not None}.values():
        _check(comm, source)
    use = None if all(named.values()) else mpi_use(source)
    if use is None:
        return source
    if not any(named.values()):
        message = "the program uses MPI itself: its arrays may be each rank's own, not the same on all ranks"
        raise InputError("mpi-program", message, use, _ADVICE)
    return replace(source, slices=tuple(s if named[s.region.index] else _refused(s, use) for s in source.slices))


def communicator(region: Region, file: str, options: GenOptions) -> Communicator | None:
    """What a region or the command line names; the region's own counts."""
    for hint in region.hints:
        found = _CLAUSE.fullmatch(hint.text)
        if found is not None:
            return Communicator(found[1].strip(), Loc(file, hint.line, 1))
    return Communicator(options.comm.strip(), Loc("--comm")) if options.comm else None


def mpi_use(source: Opened) -> Loc | None:
    """The first place at which a file, or a header of the user's, uses MPI; None if it does not."""
    found = _used(source.pre, source.name)
    if found is not None:
        return found
    own = blank_comments(source.text)
    lines = [own.count("\n", 0, m.start()) + 1 for m in _INCLUDED.finditer(own)]
    if source.pre.deps:
        included = any(os.path.basename(d) == _HEADER for d in source.pre.deps)
        return Loc(source.name, lines[0] if lines else 1, 1) if included else None
    return Loc(source.name, lines[0], 1) if lines else None


def _used(pre: Preprocessed, name: str) -> Loc | None:
    """A call or a type in the preprocessed text of the user's own files, that of the file itself first."""
    if "MPI_" not in pre.text:
        return None
    where, headers = LineMap(pre.text, name), []
    for m in _USE.finditer(_QUOTED.sub(lambda q: blank(q.group()), pre.text)):
        loc = where.locate(m.start())
        if loc.file == name:
            return loc
        if loc.file not in pre.system_headers and not os.path.basename(loc.file).startswith(("mpi", "pmpi")):
            headers.append(loc)
    return headers[0] if headers else None


def _refused(s: RegionSlice, use: Loc) -> RegionSlice:
    note = Unsupported("no-communicator", "the program uses MPI itself here", use)
    message = "the program uses MPI itself, and the region names no communicator"
    refusal = Unsupported("no-communicator", message, Loc(s.file, s.region.first_line, 1), _ADVICE, (note,))
    return replace(s, named=None, refusal=s.refusal or refusal)


def _check(comm: Communicator, source: Opened) -> None:
    """Raises InputError for what is no expression, changes something, or speaks of names that the file has not."""
    text = _QUOTED.sub("0", comm.text)
    problem = ""
    if not text or "\n" in text or "\\" in text or re.search(r"[;{}#@`$\"']|/\*|//", text) or not _balanced(text):
        problem = f"`{comm.text}` is no C expression"
    elif _CHANGES.search(text):
        problem = f"`{comm.text}` changes something: it is evaluated whenever the region is reached"
    else:
        known = {"sizeof", WORLD}
        for word in _WORD.findall(text):
            if word not in known and not word.startswith("MPI_") and not _has(source, word):
                problem = f"`{word}` is nowhere in this file"
    if problem:
        hint = "name a variable, a member or a call that gives an MPI_Comm"
        raise InputError("bad-communicator", problem, comm.loc, hint)


def _has(source: Opened, word: str) -> bool:
    text = _QUOTED.sub("", source.pre.text)
    lines = re.sub(r"^[ \t]*#[ \t]*pragma\b.*", "", text, flags=re.M)
    found = re.search(rf"\b{word}\b", lines) is not None
    return found or any(re.match(rf"#define {word}\b", c.text) for c in source.pre.changes)


def _balanced(text: str) -> bool:
    depth: list[str] = []
    for c in text:
        if c in "([":
            depth.append(c)
        elif (c == "," and not depth) or (c in ")]" and (not depth or depth.pop() + c not in ("()", "[]"))):
            return False
    return not depth

