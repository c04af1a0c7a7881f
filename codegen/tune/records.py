"""Records of measurements: one line of JSON each, only ever added to, by as many processes as there may be.

A line says what was measured (`key`, and in words: file, region, digest, sizes, threads), where (machine, compiler,
flags), by which method, what came out (ok, best, median, spread, runs; or why there is no figure), and the plan.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping

from codegen import __version__
from codegen.diagnostics import InputError, Loc
from codegen.record import record
from codegen.tune.timing import Timing

FORMAT = 1
CANDIDATE, CONFIRMED = "candidate", "confirmed"


@record
class MeasurementSetting:
    """Under which conditions something is measured; figures of equal settings can be compared."""

    file: str
    region: int
    function: str
    digest: str
    options: str
    machine: str
    compiler: str
    flags: str
    threads: int
    sizes: Mapping[str, int]
    clock: str = "time"
    arrays: str = ""  # their types and declared sizes, which the digest of the code does not tell

    @property
    def key(self) -> str:
        """Equal for equal conditions, wherever the file lies."""
        parts = [self.digest, self.options, self.machine, self.compiler, self.flags, self.threads,
                 sorted(self.sizes.items()), self.clock, self.arrays]  # fmt: skip
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


@record
class PlanRecord:
    """What is known of a plan: its time, or why there is none. `method` is who asked; `base` is the default's time."""

    plan: str
    role: str = CANDIDATE
    timing: Timing | None = None
    why: str = ""
    method: str = ""
    at: float = 0.0  # seconds since the search began
    base: float = 0.0
    original: float = 0.0


@record
class KnownPlans:
    """All entries of a setting that a file of records holds."""

    entries: tuple[PlanRecord, ...] = ()

    def timings(self) -> dict[str, PlanRecord]:
        """The newest entry of every candidate, by its plan."""
        return {e.plan: e for e in self.entries if e.role == CANDIDATE}

    def confirmed(self) -> PlanRecord | None:
        """The newest plan that a search ended with."""
        return next((e for e in reversed(self.entries) if e.role == CONFIRMED), None)


@record
class Records:
    """A file of records; no file, nothing is kept."""

    path: str = ""

    def add(self, setting: MeasurementSetting, entry: PlanRecord) -> None:
        """Append one line, in one write and under a lock, so that writers never mix."""
        if self.path:
            append(self.path, line_of(setting, entry))

    def known(self, setting: MeasurementSetting) -> KnownPlans:
        """What is known for a setting. Lines that cannot be read, such as one cut short, are passed over."""
        if not self.path:
            return KnownPlans()
        return KnownPlans(tuple(_entry(r) for r in read(self.path) if r.get("key") == setting.key))


def append(path: str, text: str) -> None:
    """Add whole lines to the end of a file."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            with contextlib.suppress(OSError):  # where locks are not supported, one write has to do
                fcntl.flock(handle, fcntl.LOCK_EX)
            data = text.encode("utf-8", "replace")
            while data:
                data = data[os.write(handle, data) :]
        finally:
            os.close(handle)
    except OSError as error:
        raise InputError("cannot-write", f"cannot write {path}: {error.strerror}", Loc(path)) from None


def line_of(setting: MeasurementSetting, entry: PlanRecord) -> str:
    figures = {}
    if entry.timing is not None:
        t = entry.timing
        figures = {"best": t.best, "median": t.median, "spread": round(t.spread, 4), "runs": t.runs}
    row = {
        "format": FORMAT, "tool": __version__, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "key": setting.key, "role": entry.role, "ok": entry.timing is not None, **figures,
        **({"why": entry.why} if entry.why else {}), "method": entry.method, "at": round(entry.at, 3),
        **({"default": entry.base, "original": entry.original} if entry.base else {}),
        "file": setting.file, "region": setting.region, "function": setting.function, "digest": setting.digest,
        "options": setting.options, "machine": setting.machine, "compiler": setting.compiler, "flags": setting.flags,
        "threads": setting.threads, "clock": setting.clock, "sizes": dict(setting.sizes), "arrays": setting.arrays,
        "plan": entry.plan,
    }  # fmt: skip
    return json.dumps(row) + "\n"


def read(path: str) -> Iterator[dict[str, object]]:
    """The records of a file, oldest first."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                with contextlib.suppress(ValueError):
                    row = json.loads(line)
                    if isinstance(row, dict) and row.get("format") == FORMAT:
                        yield row
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError("cannot-read", f"cannot read {path}: {error.strerror}", Loc(path)) from None


def _entry(row: Mapping[str, object]) -> PlanRecord:
    def number(name: str) -> float:
        value = row.get(name, 0.0)
        return float(value) if isinstance(value, (int, float)) else 0.0

    timing = Timing(number("best"), number("median"), number("spread"), int(number("runs"))) if row.get("ok") else None
    return PlanRecord(str(row.get("plan", "")), str(row.get("role", "")), timing, str(row.get("why", "")),
                 str(row.get("method", "")), number("at"), number("default"), number("original"))  # fmt: skip
