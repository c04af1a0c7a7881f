"""Which tests a run takes. The fast lane, `make test-fast`: everything but the functions in slow.txt, and a few cases
of those. `make test`: everything but the longest cases, and of slow functions with many cases a part. `make test-all`:
everything.

slow.txt is made from what a whole run took; tests that are not in it count as fast.

    python -m pytest --durations=0 -vv tests > times.txt
    python -m tests.fast times.txt
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from zlib import crc32

LIST = Path(__file__).parent / "slow.txt"
SLOW = 0.4  # seconds of its longest case that make a function slow
LEAST = 2.5  # seconds of a case that stands for a module whose functions are all slow
FEW, THIN = 4, 6  # of slow functions with more cases than this, one in so many
LONGEST = 12  # seconds of a case that only `make test-all` has
WHOLE = 3000  # tests: a run of all of them, not of a folder
_LINE = re.compile(r"([\d.]+)s (?:setup|call|teardown) +(\S.*)")


def is_fast(nodeid: str, listed: frozenset[str]) -> bool:
    return nodeid.partition("[")[0] not in listed or f"+{nodeid}" in listed


def listed() -> frozenset[str]:
    return frozenset(line for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))


def some_of_each(nodeids: Sequence[str], listed: frozenset[str]) -> set[str]:
    """All tests but the longest (with a minus in the list), and of slow functions with many cases every sixth case,
    spread over them: a run of all tests, as on every change, takes those. `make test-all` and runs of chosen files take
    all."""
    cases: dict[str, list[str]] = defaultdict(list)
    for nodeid in nodeids:
        if f"-{nodeid}" in listed:
            continue
        cases[nodeid.partition("[")[0]].append(nodeid)
    out: set[str] = set()
    for function, own in cases.items():
        many = function in listed and len(own) > FEW
        out |= set(sorted(own, key=lambda n: crc32(n.encode()))[:: THIN if many else 1])
    return out


def slow(report: Iterable[str]) -> list[str]:
    """The lines of the list: slow functions, and with a plus cases of them that are tried nevertheless."""
    cases: dict[str, float] = defaultdict(float)
    for line in report:
        found = _LINE.match(line.strip())
        if found:
            cases[found[2]] += float(found[1])
    functions: dict[str, float] = defaultdict(float)
    for case, seconds in cases.items():
        function = case.partition("[")[0]
        functions[function] = max(functions[function], seconds)
    out = {function for function, seconds in functions.items() if seconds > SLOW}
    for module in sorted({f.partition("::")[0] for f in functions}):
        own = {c: s for c, s in cases.items() if c.startswith(f"{module}::")}
        least = min(sorted(own), key=lambda c: own[c])
        if all(f in out for f in functions if f.startswith(f"{module}::")) and own[least] < LEAST:
            out.add(f"+{least}")
    return sorted(out | {f"-{case}" for case, seconds in cases.items() if seconds > LONGEST})


if __name__ == "__main__":
    lines = slow(Path(sys.argv[1]).read_text(encoding="utf-8").splitlines())
    head = f"# Functions with a case of more than {SLOW} s, with + cases of them that the fast lane has, and with -\n"
    head += f"# cases that take more than {LONGEST} s, which only make test-all has:\n"
    LIST.write_text(head + "# python -m tests.fast TIMES writes this file.\n" + "".join(f"{x}\n" for x in lines),
                    encoding="utf-8")
