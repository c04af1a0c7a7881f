"""Reads where a program spends its time, as users have measured it, into shares of lines (`read_profiles`), and adds
these to nests (`with_shares`). There are three kinds of files:

    gcov's text       123:   45:    a[i] = b[i];      under a line  -:    0:Source:x.c
    a list            12.5% src/x.c:45                as made from perf's figures; `#` begins a comment
    a script          a file that can be executed: it is run, and prints one of the two
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import replace

from codegen.auto import Row
from codegen.diagnostics import InputError, Loc
from codegen.record import record
from codegen.source.encoding import decode
from codegen.source.write import near, reason

_GCOV = re.compile(r"\s*(-|#+|=+|\d[\d.]*[kMGTP]?\*?):\s*(\d+):(.*)")
_LISTED = re.compile(r"\s*(\d+(?:\.\d*)?)\s*%?\s+(\S.*?):(\d+)\s*")
_UNITS = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BESIDE_GCOV = re.compile(r"\s*(?:function|call|branch|unconditional|fallthrough|-+$|\S+:$)")


@record
class Profile:
    """Parts of the whole run time by file and line."""

    shares: Mapping[tuple[str, int], float]


def read_profiles(paths: Iterable[str]) -> Profile:
    """One profile of all files: counts of gcov are parts of their sum, percentages are parts of 100."""
    counts: dict[tuple[str, int], float] = {}
    percents: dict[tuple[str, int], float] = {}
    for path in paths:
        _read(path, _content(path), counts, percents)
    total = sum(counts.values()) or 1.0
    shares = {place: n / total for place, n in counts.items()}
    for place, percent in percents.items():
        shares[place] = shares.get(place, 0.0) + percent / 100
    return Profile(shares)


def with_shares(rows: Iterable[Row], profile: Profile) -> tuple[Row, ...]:
    """The rows, each with its part of the run time."""
    return tuple(replace(r, share=_share(r, profile)) for r in rows)


def _share(r: Row, profile: Profile) -> float:
    own = (share for (file, line), share in profile.shares.items()
           if r.line <= line <= r.last_line and _same_file(file, r.file))
    return min(1.0, sum(own))


def _same_file(a: str, b: str) -> bool:
    """Is one name the end of the other? Profiles may count folders from elsewhere."""
    one, other = (os.path.normpath(x).split(os.sep) for x in (a, b))
    one, other = [w for w in one if w != ".."], [w for w in other if w != ".."]
    count = min(len(one), len(other))
    return one[-count:] == other[-count:]


def _content(path: str) -> str:
    try:
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return _printed(path)
        with open(path, "rb") as stream:
            return decode(stream.read())
    except OSError as error:
        raise InputError("cannot-read", f"cannot read {path}: {reason(error)}", Loc(path), near(path)) from None


def _printed(path: str) -> str:
    """What a script prints. Its messages go where those of the tool go."""
    done = subprocess.run([os.path.abspath(path)], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise InputError("bad-profile", f"the script failed with status {done.returncode}", Loc(path),
                         "it has to print lines like `12.5% src/x.c:45`, or gcov's text, and end with status 0")
    return decode(done.stdout)


def _read(
    path: str, text: str, counts: dict[tuple[str, int], float], percents: dict[tuple[str, int], float]
) -> None:
    source = ""
    for number, line in enumerate(text.splitlines(), 1):
        gcov, listed = _GCOV.fullmatch(line), _LISTED.fullmatch(line)
        if gcov is not None:
            if gcov[2] == "0":
                source = gcov[3].removeprefix("Source:") if gcov[3].startswith("Source:") else source
            elif gcov[1][0].isdigit():
                _add(counts, (source or _named(path), int(gcov[2])), _number(gcov[1]))
        elif listed is not None:
            _add(percents, (listed[2], int(listed[3])), float(listed[1]))
        elif line.strip() and not line.lstrip().startswith("#") and not _BESIDE_GCOV.match(line):
            raise InputError("bad-profile", f"not a line of a profile: `{line.strip()[:60]}`", Loc(path, number),
                             "lines are gcov's (`123:   45:code`) or say `12.5% src/x.c:45`")


def _add(to: dict[tuple[str, int], float], place: tuple[str, int], value: float) -> None:
    to[place] = to.get(place, 0.0) + value


def _number(text: str) -> float:
    digits = text.rstrip("*")
    unit = _UNITS.get(digits[-1], 0.0)
    return float(digits[:-1]) * unit if unit else float(digits)


def _named(path: str) -> str:
    return os.path.basename(path).removesuffix(".gcov")
