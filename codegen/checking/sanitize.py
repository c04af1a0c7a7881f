"""Runs a checked program, built with address and undefined-behaviour sanitizers, over test vectors (sizes and a seed)
and returns a `Complaint` for each vector that fails: the report's error line, the exit status, or that it does not
finish. `subset` selects the vectors that are cheap enough for such slow runs."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from codegen.checking.test_sizes.survey import TestVector
from codegen.limits import Limits, finished, limited, what_passed
from codegen.record import record
from codegen.source.encoding import decode

WORK = 3_000_000  # statement instances of one sanitized run; about 0.1 s
COUNT = 8  # of the ordinary vectors, and of the special ones
SECONDS = 60
SLOW = 5  # seconds for one vector for which the source may do anything
# Frames that outlive their functions are not aligned for vectors of 64 bytes (gcc 13, versions for AVX-512): stores to
# them end in a SEGV.
_FRAMES = "detect_stack_use_after_return=0"
_OPTIONS = {
    "ASAN_OPTIONS": f"detect_leaks=0:{_FRAMES}:allocator_may_return_null=1:hard_rss_limit_mb=4096",
    "UBSAN_OPTIONS": "print_stacktrace=0",
    "OMP_WAIT_POLICY": "passive",
    "LC_ALL": "C",
}


@record
class SanitizedProgram:
    """A sanitized program, and the place of one region among its cases."""

    path: Path
    place: int


@record
class Complaint:
    """What a program said about one vector."""

    vector: TestVector
    message: str

    @property
    def overflow(self) -> bool:
        """A sum left its type; in the programs that are compared it wraps, so their results still count."""
        return self.message.startswith("signed integer overflow")

    @property
    def division(self) -> bool:
        return "division by zero" in self.message


def subset(vectors: Sequence[TestVector]) -> tuple[TestVector, ...]:
    """Some of the vectors: those that are cheap enough, spread over all kinds."""
    cheap = [v for v in vectors if v.work <= WORK and not v.doubtful]
    chosen = [_spread([v for v in cheap if v.special == special], COUNT) for special in (False, True)]
    return (*chosen[0], *chosen[1])


def _spread(vectors: Sequence[TestVector], count: int) -> list[TestVector]:
    step = max(1.0, len(vectors) / count)
    return [vectors[int(k * step)] for k in range(min(count, len(vectors)))]


def complaints(program: SanitizedProgram, vectors: Sequence[TestVector], limit: int) -> tuple[Complaint, ...]:
    """Run a program over the vectors, on past those it fails at, until it has failed `limit` times."""
    todo = list(vectors)
    found: list[Complaint] = []
    while todo and len(found) < limit:
        listed = program.path.with_suffix(".list")
        listed.write_text("".join(_line(k, program.place, v) for k, v in enumerate(todo)))
        text, code = _run(program.path, listed, SLOW * len(todo) if any(v.doubtful for v in todo) else SECONDS)
        if code == 0 and text.rstrip().endswith("tw: done"):
            break
        begun = re.findall(r"^tw: (\d+)$", text, re.M)
        at = int(begun[-1]) if begun else 0
        found.append(Complaint(todo[at], report_line(text, code)))
        del todo[: at + 1]
    return tuple(found)


def _line(k: int, place: int, v: TestVector) -> str:
    return " ".join(map(str, (k, place, v.seed, len(v.ins), *v.ins, len(v.sizes), *v.sizes))) + "\n"


def _run(program: Path, listed: Path, seconds: float) -> tuple[str, int | None]:
    """Standard error and exit status; None when it took too much processor time."""
    # Sanitizers need more addresses than there is memory: that is for _OPTIONS to limit.
    limits = Limits(seconds * (os.cpu_count() or 1), 0)
    words = limited([str(program), str(listed)], limits)
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                                   env={**os.environ, **_OPTIONS}, start_new_session=True)  # fmt: skip
        code = finished(process, limits.wall)
        said.seek(0)
        err = said.read(limits.output)
    return decode(err), None if code is not None and what_passed(code, err, limits) else code


def report_line(text: str, code: int | None) -> str:
    """The line of a sanitizer's report that says what is wrong, without numbers that change from run to run."""
    if code is None:
        return "it does not finish"
    error = re.search(r"runtime error: (.*)$", text, re.M)
    if error:
        return re.sub(r"0x[0-9a-f]{6,}", "...", error.group(1))
    address = re.search(r"ERROR: (AddressSanitizer: [\w-]+)", text)
    if address:
        kind = re.search(r"^((?:READ|WRITE) of size \d+)", text, re.M)
        return address.group(1) + (f", {kind.group(1)}" if kind else "")
    return f"it ends with status {code}"
