"""`python -m codegen.tune.plans.learned`: fits the cost model of plans to records of `tilewright tune --records`.

Plans of the records are compared with the default plan of their region, which has to be among them. How well the model
does is judged on files that it has not seen: they are left out in turns.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import log2
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from codegen.diagnostics import TilewrightError
from codegen.options import CppOptions, GenOptions
from codegen.plan_reader.parse import parse
from codegen.record import record
from codegen.tune.plans.learned.facts import facts_of
from codegen.tune.plans.learned.fit import Fitter, Fitting, correlation, folds
from codegen.tune.plans.learned.forest import Forests, saved
from codegen.tune.plans.learned.model import NAME
from codegen.tune.plans.learned.traits import Traits, names_of, surroundings, traits, vector
from codegen.tune.records import read
from codegen.tune.region import Subject, open_file

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

FOLDS = 8
SLOWEST, FASTEST = 1.5, -1.5  # powers of two that count at most
STEADY = 0.15  # of the median, that the middle half of the runs may lie apart


@record
class Sample:
    """A plan of the records: its traits, and how many times the default's time it takes as a power of two, or None
    where it failed. `group` are plans that can be compared, `file` where they come from."""

    group: str
    file: str
    plan: Traits
    default: Traits
    around: Traits
    slower: float | None


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m codegen.tune.plans.learned", description=__doc__)
    parser.add_argument("--records", action="append", required=True, metavar="FILE[@MACHINE]",
                        help="measurements, and the processor: a name or a TOML file (default native)")  # fmt: skip
    parser.add_argument("--sources", type=Path, default=Path("examples/kernels"), metavar="DIR",
                        help="where the files of the records lie (default examples/kernels)")  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "data", metavar="DIR")
    parser.add_argument("--judge", action="store_true", help="judge only, and write nothing")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    given = arguments(words)
    samples = [s for text in given.records for s in samples_of(text, given.sources)]
    names = (*names_of([s.around for s in samples]), *names_of([s.plan for s in samples]))
    about = f"{len(samples)} plans of {len({s.file for s in samples})} files; {judged(samples, names)}"
    print(about)
    if not given.judge:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / NAME).write_text(saved(fitted(samples, names, about)), encoding="utf-8")
    return 0


def samples_of(text: str, sources: Path) -> Iterator[Sample]:
    """The plans of a file of records, region by region."""
    path, _, machine = text.partition("@")
    groups: dict[tuple[str, int, str], list[dict[str, object]]] = defaultdict(list)
    for row in read(path):
        if row.get("role") == "candidate":
            groups[Path(str(row["file"])).name, int(str(row["region"])), str(row["key"])].append(row)
    options = GenOptions(machine=machine or "native", cpp=CppOptions(args=(f"-I{sources}",)))
    opened: dict[str, dict[int, Subject]] = {}
    for (name, region, key), rows in sorted(groups.items()):
        if name not in opened:
            file = sources / name
            opened[name] = {s.index: s for s in open_file(str(file), file.read_text(), options).subjects}
        subject = opened[name].get(region)
        if subject is not None and subject.model.digest == rows[0]["digest"]:
            yield from _group(subject, rows, f"{key} {machine}")


def _group(subject: Subject, rows: Sequence[Mapping[str, object]], group: str) -> Iterator[Sample]:
    scop = subject.model.program.scop
    sizes, threads = rows[0]["sizes"], int(str(rows[0]["threads"]))
    assert isinstance(sizes, dict)
    facts = facts_of(scop, subject.model.program.tree, sizes, subject.machine, threads)
    own = subject.outcome.plan.strip()
    base = min((_seconds(r) for r in rows if str(r["plan"]).strip() == own and _steady(r)), default=0.0)
    if not base:
        print(f"{subject.source.name}: the default plan has no steady figure in the records", file=sys.stderr)
        return
    around, default = surroundings(facts), traits(facts, parse(own, "<default>", {scop.region: scop})[0])
    for row in rows:
        # What was given up for lack of time says nothing, nor does what other work disturbed.
        if not _steady(row) if row["ok"] else "than there was time" in str(row.get("why", "")):
            continue
        try:
            found = traits(facts, parse(str(row["plan"]), "<records>", {scop.region: scop})[0])
        except TilewrightError:
            continue
        slower = log2(_seconds(row) / base) if row["ok"] else None
        yield Sample(group, subject.source.name, found, default, around, slower)


def _seconds(row: Mapping[str, object]) -> float:
    return float(str(row["best"]))


def _steady(row: Mapping[str, object]) -> bool:
    return bool(row["ok"]) and _seconds(row) > 0 and float(str(row["spread"])) <= STEADY


def _inputs(samples: Sequence[Sample], names: Sequence[str]) -> NDArray[numpy.float64]:
    import numpy as np

    return np.array([vector(s.plan, s.default, s.around, names) for s in samples])


def fitted(samples: Sequence[Sample], names: tuple[str, ...], about: str) -> Forests:
    import numpy as np

    ran = [s for s in samples if s.slower is not None]
    times = np.clip([s.slower for s in ran if s.slower is not None], FASTEST, SLOWEST)
    failed = np.array([float(s.slower is None) for s in samples])
    weights = np.exp2(-np.maximum(times, 0.0))  # what is fast counts more than what is slow
    time = Fitter(_inputs(ran, names), times, weights, Fitting()).forest()
    fails = Fitter(_inputs(samples, names), failed, np.ones(len(samples)), Fitting(trees=60)).forest()
    return Forests(about, names, {"time": time, "fails": fails})


def judged(samples: Sequence[Sample], names: tuple[str, ...]) -> str:
    """In words: how well plans of files that were left out are put in order."""
    orders, kept = list[float](), list[float]()
    for fit, judge in folds([s.file for s in samples], FOLDS):
        forests = fitted([samples[n] for n in fit], names, "")
        groups: dict[str, list[Sample]] = defaultdict(list)
        for n in judge:
            if samples[n].slower is not None:
                groups[samples[n].group].append(samples[n])
        for rows in groups.values():
            wanted = [s.slower for s in rows if s.slower is not None]
            guess = [forests.forests["time"](row) for row in _inputs(rows, names).tolist()]
            if len(rows) < 5:
                continue
            orders.append(correlation(guess, wanted))
            first = sorted(range(len(rows)), key=lambda k: guess[k])[:5]
            kept.append(2.0 ** (min(wanted) - min(wanted[k] for k in first)))
            fastest = f"which is {2.0 ** -min(wanted):.2f} times as fast as the default"
            print(f"{rows[0].file:40} {len(rows):4} plans, rank correlation {orders[-1]:5.2f}, best of first five "
                  f"{kept[-1]:.3f} of the best, {fastest}")  # fmt: skip
    if not orders:
        return "too few to judge by"
    return f"on files left out rank correlation {mean(orders):.2f}, best of first five {mean(kept):.3f} of the best"


if __name__ == "__main__":
    sys.exit(main())
