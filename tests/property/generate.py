"""Random programs through the tool: the default plan on both targets, reassociation, and random plans."""
from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random

from codegen.diagnostics import InputError, Severity, TilewrightError
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from tests.property.plans import names_of, random_plan
from tests.property.programs import Program


@dataclass(frozen=True)
class Effort:
    """Seconds for one generation, how long the first may take for the others to be tried, and random plans."""

    timeout: float
    patience: float
    plans: int


SHORT, LONG = Effort(4.0, 0.4, 1), Effort(20.0, 5.0, 3)


@dataclass(frozen=True)
class Variant:
    """One result for a program: how it was asked for, and the text."""

    label: str
    text: str


@dataclass(frozen=True)
class Failure:
    """What went wrong with a program; `label` says which way of generating it."""

    seed: int
    label: str
    what: str
    source: str

    def __str__(self) -> str:
        return f"seed {self.seed}, {self.label}: {self.what}\n{self.source}"


@dataclass
class Outcome:
    """All variants of a program, what failed on the way, and counts of what happened."""

    program: Program
    variants: list[Variant] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def fail(self, label: str, what: str) -> None:
        self.failures.append(Failure(self.program.seed, label, what, self.program.text()))


def run_program(program: Program, effort: Effort = LONG, again: bool = False) -> Outcome:
    """Every way of generating `program`. `again` generates twice and compares the bytes."""
    out = Outcome(program)
    text = program.text()
    usual = GenOptions(timeout=effort.timeout, machine=os.environ.get("TILEWRIGHT_MACHINE", "generic"))
    start = time.monotonic()
    first = _generate(out, "default", text, usual)
    if first is None or not first.regions or not first.regions[0].transformed:
        return out
    if time.monotonic() - start > effort.patience:
        out.counts["slow"] += 1
        return out
    plan = first.plan
    if again:
        second = _generate(out, "default again", text, usual, keep=False)
        if second is not None and (second.text, second.plan) != (first.text, first.plan):
            out.fail("default", "a second generation gave other bytes")
    back = _generate(out, "target c", text, replace(usual, target="c", plan_text=plan))
    if back is not None and back.regions[0].transformed and back.plan != plan:
        out.fail("target c", f"the plan, read and printed, became\n{back.plan}\ninstead of\n{plan}")
    if not program.has_float:
        _generate(out, "reassociate", text, replace(usual, reassociate=True))
    rng = Random(program.seed)
    names = names_of(plan, text)
    for _ in range(effort.plans):
        wish = random_plan(rng, names)
        got = _generate(out, "plan\n" + wish, text, replace(usual, plan_text=wish))
        if got is not None and got.regions[0].transformed:
            _round_trip(out, text, got, wish, usual)
    return out


def _round_trip(out: Outcome, text: str, got: Generated, wish: str, usual: GenOptions) -> None:
    """The plan that was printed, read again, prints the same."""
    label = "printed plan\n" + got.plan
    second = _generate(out, label, text, replace(usual, plan_text=got.plan), keep=False)
    if second is None:
        out.fail("plan\n" + wish, f"its printed form is refused:\n{got.plan}")
    elif second.regions[0].transformed and second.plan != got.plan:
        out.fail("plan\n" + wish, f"printing it again gives\n{second.plan}\ninstead of\n{got.plan}")


def _generate(out: Outcome, label: str, text: str, options: GenOptions, keep: bool = True) -> Generated | None:
    """One generation; failures and counts go to `out`, the result (if any) is a variant to compare."""
    kind = label.split("\n")[0]
    try:
        got = generate("kernel.c", text, options)
    except InputError as error:
        out.counts[f"{kind}: {error.id}"] += 1
        if kind in ("default", "default again", "target c", "reassociate"):
            out.fail(label, f"input error: {error.message} [{error.id}]")
        return None
    except TilewrightError as error:
        out.fail(label, f"internal error: {error.message} [{error.id}]")
        return None
    except Exception as error:
        notes = "".join(getattr(error, "__notes__", ()))
        out.fail(label, f"crash: {type(error).__name__}: {error}\n{notes}")
        return None
    for d in got.diagnostics:
        if d.severity is Severity.WARNING and d.id == "fallback":
            out.fail(label, f"a proof failed on the tool's own plan: {d.message}")
        for note in d.notes:
            out.counts[f"{kind}: refused {note.id}"] += 1
            if note.id == "no-proof":
                out.fail(label, f"not even the source's own order was proven: {note.message}")
    if got.regions and got.regions[0].transformed:
        out.counts[f"{kind}: done"] += 1
        out.counts[f"{kind}: product"] += any(d.id == "product" for d in got.diagnostics)
        if keep:
            out.variants.append(Variant(label, got.text))
    return got
