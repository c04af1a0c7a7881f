"""Chooses parameter values to measure at: the user's, else large enough for the caches to matter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from codegen.checking.harness.shared_object import Library
from codegen.checking.test_sizes.survey import RunLimits, TestVector, vector_at
from codegen.diagnostics import InputError, Loc
from codegen.record import record
from codegen.scop.types import CType
from codegen.tune.build import Failed
from codegen.tune.region import Subject

LADDER = tuple(round(m * 10**e) for e in range(1, 7) for m in (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.4, 8))
WORK = 200_000_000  # statement instances of one run by default; about a fifth of a second for the original
BYTES = 1 << 24  # of memory by default, or twice the last cache; more only when sizes ask for it
GIVEN = RunLimits(1 << 62, 1 << 36)


@record
class Sizes:
    """`given` by C text of the parameter; `work` and `bytes` are how much the others may make of it."""

    given: Mapping[str, int]
    work: int = WORK
    bytes: int = BYTES


def check_known(given: Mapping[str, int], subjects: Sequence[Subject], file: str) -> None:
    """A size that no region has, or that its type cannot hold, is a mistake. Raises InputError."""
    types: dict[str, list[CType]] = {}
    for i in (i for s in subjects for i in s.harness.memory.ints):
        types.setdefault(i.text, []).append(i.ctype)
    for name, value in given.items() if subjects else ():
        if name not in types:
            hint = f"sizes: {', '.join(sorted(types)) or 'none'}"
            raise InputError("unknown-parameter", f"no region of {file} has a size `{name}`", Loc("--sizes"), hint)
        for t in types[name]:
            low, high = t.range() if t.is_int else (value, value)
            if not low <= value <= high:
                why = f"`{name}` is of type `{t.spelling}`, which cannot hold {value}"
                raise InputError("bad-sizes", why, Loc("--sizes"), f"give a number from {low} to {high}")


def parse_sizes(text: str) -> dict[str, int]:
    """`n=1000,m=500`; ValueError with what is wrong."""
    found: dict[str, int] = {}
    for part in text.replace(" ", ",").split(","):
        if part:
            name, sign, value = part.partition("=")
            if not sign or not name or not re.fullmatch(r"-?[0-9]{1,20}", value):
                raise ValueError(f"'{part}' is not NAME=NUMBER")
            if name in found:
                raise ValueError(f"'{name}' is given twice")
            found[name] = int(value)
    return found


def choose(subject: Subject, library: Library, sizes: Sizes) -> TestVector:
    """The run at the given sizes; where some are left open, the largest equal ones within the limits."""
    names = [i.text for i in subject.harness.memory.ints]
    free = [i.text for i in subject.harness.memory.ints if i.text not in sizes.given and i.how != "pinned"]
    if not free:
        vector = _at(subject, library, names, sizes.given, 1, GIVEN)
        if vector is None:
            why = f"cannot be run at {_spelled(sizes.given)}: the source would leave its arrays"
            if not sizes.given:
                raise Failed(why)
            raise InputError("bad-sizes", why, subject.model.site.loc, "give other --sizes")
        return vector
    best: TestVector | None = None
    last = max((c.bytes for c in subject.machine.caches), default=0)
    limits = RunLimits(sizes.work, max(sizes.bytes, 2 * last))
    for n in LADDER:
        vector = _at(subject, library, names, sizes.given, n, limits)
        if vector is not None and not vector.doubtful:
            best = vector
        elif best is not None:
            break
    if best is None:
        raise Failed(f"no sizes were found to run it at; give --sizes {','.join(f'{n}=...' for n in free)}")
    return best


def _at(
    subject: Subject, library: Library, names: Sequence[str], given: Mapping[str, int], other: int, limits: RunLimits
) -> TestVector | None:
    wanted = tuple(given.get(n, other) for n in names)
    return vector_at(subject.harness, subject.model, library, wanted, limits)


def _spelled(given: Mapping[str, int]) -> str:
    return ", ".join(f"{k} = {v}" for k, v in given.items()) or "its own sizes"


def spelled(subject: Subject, vector: TestVector) -> dict[str, int]:
    """The sizes of a run by name."""
    return dict(zip((i.text for i in subject.harness.memory.ints), vector.ints, strict=True))
