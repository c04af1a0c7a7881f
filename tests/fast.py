"""Which tests a run takes. The fast lane, `make test-fast`: every function but those in slow.txt, of which it has a few
cases, and of functions with many cases every third. `make test`: everything but the longest cases; of slow functions,
and of those with many cases, a part, another one after each commit, so that all are seen in a few of them.
`make test-all`: everything.

slow.txt is made from what a whole run took; tests that are not in it count as fast. Its limits are those of a
processor of 2024, sixteen tests at a time; two cores of a small machine take twice as long.

    python -m pytest -n 16 --all --durations=0 -vv tests > times.txt
    python -m tests.fast times.txt
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from zlib import crc32

LIST = Path(__file__).parent / "slow.txt"
SLOW = 0.15  # seconds of its longest case that make a function slow
LEAST = 1.0  # seconds of a case that stands for a module whose functions are all slow
LONG = 2  # seconds of all its cases that make a function long
FEW, THIN = 2, 18  # of long functions with more cases than this, one in so many
MANY, THIRD = 3, 3  # in the fast lane, of functions with more cases than this, one in so many
BROAD = 3  # in a run of all tests, of other functions with more cases than this, one in THIRD
HALF = 2  # of slow functions with fewer cases, one in so many
LONGEST = 5  # seconds of a case that only `make test-all` has, where the function has others
WHOLE = 3000  # tests: a run of all of them, not of a folder
TURN = "TILEWRIGHT_TESTS_TURN"  # which part it is, where that is not to be the commit's
_LINE = re.compile(r"([\d.]+)s (?:setup|call|teardown) +(\S.*)")


def listed() -> frozenset[str]:
    return frozenset(line for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))


def fast_ones(nodeids: Sequence[str], listed: frozenset[str]) -> set[str]:
    """The fast lane: cases of slow functions only with a plus in the list, and of all others every third, spread over
    them, where there are many."""
    out = {nodeid for nodeid in nodeids if f"+{nodeid}" in listed}
    for function, own in _by_function(nodeids).items():
        if function not in listed:
            out |= _spread(own, THIRD if len(own) > MANY else 1)
    return out


def some_of_each(nodeids: Sequence[str], listed: frozenset[str], turn: int) -> set[str]:
    """What a run of all tests takes, as on every change; after the next one it takes others. All fast functions with
    few cases; of those with many one case in `THIRD`, of long ones (with a slash) one in `THIN`, and of other slow
    functions one in `HALF`. Not the longest cases (with a minus). `make test-all` and runs of chosen files take all."""
    out: set[str] = set()
    for function, own in _by_function([x for x in nodeids if f"-{x}" not in listed]).items():
        if f"/{function}" in listed and len(own) > FEW:
            out |= _spread(own, THIN, turn)
        elif len(own) > BROAD:
            out |= _spread(own, THIRD, turn)
        elif function not in listed or (crc32(function.encode()) + turn) % HALF == 0:
            out |= set(own)
    return out


def turn_of_commit() -> int:
    """A number that goes on by one with each commit; 0 without git, as in a package of the source."""
    if TURN in os.environ:
        return int(os.environ[TURN])
    words = ["git", "-C", str(Path(__file__).parent), "rev-list", "--count", "HEAD"]
    try:
        return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    except (OSError, subprocess.CalledProcessError):
        return 0


def _by_function(nodeids: Iterable[str]) -> dict[str, list[str]]:
    cases: dict[str, list[str]] = defaultdict(list)
    for nodeid in nodeids:
        cases[nodeid.partition("[")[0]].append(nodeid)
    return cases


def _spread(cases: Sequence[str], step: int, turn: int = 0) -> set[str]:
    """One case in `step`, the same ones on every machine; each of them in as many turns."""
    return set(sorted(cases, key=lambda n: crc32(n.encode()))[turn % min(step, len(cases)) :: step])


def seconds_of(report: Iterable[str]) -> dict[str, float]:
    """What each case took, with what was set up for it."""
    cases: dict[str, float] = defaultdict(float)
    for line in report:
        found = _LINE.match(line.strip())
        if found:
            cases[found[2]] += float(found[1])
    return cases


def slow(cases: Mapping[str, float]) -> set[str]:
    """The lines of the list: slow functions, with a plus cases of them that are tried nevertheless, with a minus those
    that take longest, and with a slash functions that take long in all."""
    functions: dict[str, dict[str, float]] = defaultdict(dict)
    modules: dict[str, dict[str, float]] = defaultdict(dict)
    for case, seconds in sorted(cases.items()):
        functions[case.partition("[")[0]][case] = seconds
        modules[case.partition("::")[0]][case] = seconds
    out = {function for function, own in functions.items() if max(own.values()) > SLOW}
    for own in modules.values():
        least = min(own, key=lambda c: own[c])
        if all(case.partition("[")[0] in out for case in own) and own[least] < LEAST:
            out.add(f"+{least}")
    out |= {f"/{function}" for function, own in functions.items() if sum(own.values()) > LONG and len(own) > FEW}
    for own in functions.values():
        if min(own.values()) <= LONGEST:
            out |= {f"-{case}" for case, seconds in own.items() if seconds > LONGEST}
    return out


def kept(before: Iterable[str], cases: Mapping[str, float]) -> set[str]:
    """What stays of a list: its longest cases, some of them written in by hand, and what was not run this time."""
    functions = {case.partition("[")[0] for case in cases}
    return {x for x in before if x.startswith("-") or x.lstrip("+/").partition("[")[0] not in functions}


if __name__ == "__main__":
    cases = seconds_of(Path(sys.argv[1]).read_text(encoding="utf-8").splitlines())
    lines = sorted(slow(cases) | kept(listed(), cases))
    head = (
        f"# Functions with a case of more than {SLOW} s; with + cases of them that the fast lane has, with - cases of\n"
        f"# more than {LONGEST} s that have siblings, and others that were written in by hand, which only make\n"
        f"# test-all has, and with / functions of more than {LONG} s, of which make test has one case in {THIN}.\n"
    )
    LIST.write_text(head + "# python -m tests.fast TIMES writes this file.\n" + "".join(f"{x}\n" for x in lines),
                    encoding="utf-8")
