"""Cache of measured loop trees, in memory and as lines of JSON in a file that is only ever added to. A figure is used
again where tree, machine, compiler, flags and clock are equal."""

from __future__ import annotations

import json

from codegen.record import record
from codegen.tune.records import append, read
from codegen.tune.timing import Timing

FORMAT = "tree-1"


@record
class MeasuredTree:
    """A tree's figure, or why there is none: `gflops` is None exactly for failures."""

    gflops: float | None
    timing: Timing | None = None
    noisy: bool = False
    why: str = ""


class MeasurementCache:
    """In memory, and in a file where there is a path; the lines of other settings are left alone. A figure that was
    disturbed is not written, so that the next run measures again."""

    def __init__(self, setting: str, path: str = "") -> None:
        self.setting, self.path = setting, path
        self.known: dict[str, MeasuredTree] = {}
        for row in read(path) if path else ():
            if row.get("tree_format") == FORMAT and row.get("setting") == setting:
                self.known[str(row["tree"])] = _measured(row)

    def add(self, key: str, found: MeasuredTree) -> None:
        self.known[key] = found
        if self.path and not found.noisy:
            append(self.path, json.dumps(self._row(key, found)) + "\n")

    def _row(self, key: str, found: MeasuredTree) -> dict[str, object]:
        row: dict[str, object] = {
            "format": 1, "tree_format": FORMAT, "role": "tree", "setting": self.setting, "tree": key,
            "ok": found.gflops is not None,
        }  # fmt: skip
        if found.timing is not None:
            t = found.timing
            row |= {"gflops": found.gflops, "best": t.best, "median": t.median, "spread": t.spread, "runs": t.runs}
        return row | ({"why": found.why} if found.why else {})


def _measured(row: dict[str, object]) -> MeasuredTree:
    def number(name: str) -> float:
        value = row.get(name, 0.0)
        return float(value) if isinstance(value, (int, float)) else 0.0

    if not row.get("ok"):
        return MeasuredTree(None, why=str(row.get("why", "")))
    figures = Timing(number("best"), number("median"), number("spread"), int(number("runs")))
    return MeasuredTree(number("gflops"), figures)
