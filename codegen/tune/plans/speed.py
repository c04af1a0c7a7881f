"""The speed of every region of a file, as it is and as it is generated, on one thread of this machine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from codegen.diagnostics import TilewrightError
from codegen.options import GenOptions
from codegen.report.counting import region_operations
from codegen.report.speed import Speed
from codegen.tune.plans.bench import open_bench
from codegen.tune.plans.build import FLAGS, Failed, open_shop, result_text
from codegen.tune.plans.sizes import Sizes, spelled
from codegen.tune.plans.subject import Subject, open_file
from codegen.tune.timing import Effort

SECONDS = 1.0


def speeds(
    path: str, text: str, options: GenOptions, sizes: Mapping[str, int], say: Callable[[str], None]
) -> dict[int, Speed]:
    """By the number of the region; regions that are left as they are have none."""
    found = {}
    for subject in open_file(path, text, options).subjects:
        say(f"{subject.title}: measuring")
        with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
            try:
                found[subject.index] = _speed(subject, Path(folder), sizes)
            except (Failed, TilewrightError) as error:
                why = error.message if isinstance(error, TilewrightError) else str(error)
                found[subject.index] = Speed({}, note=f"could not be measured: {why}")
    return found


def _speed(subject: Subject, folder: Path, sizes: Mapping[str, int]) -> Speed:
    shop = open_shop(subject, folder, FLAGS)
    mine = {i.text for i in subject.harness.memory.ints}
    bench, _ = open_bench(subject, shop, Sizes({k: v for k, v in sizes.items() if k in mine}), 1, False)
    result = shop.compile("result", result_text(subject, subject.outcome))
    bench.time_of(result, Effort(1, 1, 0.0), None)  # compares what it computes
    original, made = bench.compete([bench.original, result], SECONDS)
    at = spelled(subject, bench.vector)
    return Speed(at, original.best, made.best, region_operations(subject.model.program.scop, at))
