"""Random programs through the tool: the default plan, a few of the options, and random plans."""
from __future__ import annotations

import math
import os
from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from codegen.diagnostics import InputError, TilewrightError
from codegen.options import CppOptions, GenOptions
from codegen.pipeline import Generated, generate
from tests.property.model import Program
from tests.property.plans import names_of, random_plan


@dataclass(frozen=True)
class Effort:
    """Seconds for one generation, the processor time the first may take for others to be tried, and how many those are.

    `sealed`: results also run on read-only arrays where the original does not write. `warnings`: results cause no
    warnings of compilers that the original does not cause.
    """

    timeout: float
    patience: float
    ways: int
    plans: int
    sealed: bool = True
    warnings: bool = True


SHORT = Effort(10.0, math.inf, 1, 1)  # the same programs and ways on every machine
LONG = Effort(20.0, 2.0, 3, 2)


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
    """Several ways of generating `program`. `again` generates twice and compares the bytes."""
    out = Outcome(program)
    text, rng = program.text(), Random(program.seed)
    usual = GenOptions(timeout=effort.timeout, machine=os.environ.get("TILEWRIGHT_MACHINE", "generic"), banner=False,
                       cpp=CppOptions(args=program.flags))
    start = _spent()
    first = _generate(out, "default", text, usual)
    if first is None or not first.regions or not first.regions[0].transformed:
        return out
    if _spent() - start > effort.patience:
        out.counts["slow"] += 1
        return out
    plan = first.plan
    if again:
        second = _generate(out, "default again", text, usual, keep=False)
        if second is not None and (second.text, second.plan) != (first.text, first.plan):
            out.fail("default", "a second generation gave other bytes")
    for label, options in rng.sample(_ways(program, usual, plan), effort.ways):
        got = _generate(out, label, text, options)
        if options.plan_text == plan and got is not None and got.regions[0].transformed and got.plan != plan:
            out.fail(label, f"the plan, read and printed, became\n{got.plan}\ninstead of\n{plan}")
    names = names_of(plan, text)
    for _ in range(effort.plans):
        wish = random_plan(rng, names)
        got = _generate(out, "plan\n" + wish, text, replace(usual, plan_text=wish))
        if got is not None and got.regions[0].transformed and rng.random() < 0.4:
            _round_trip(out, text, got, wish, usual)
    return out


def _ways(program: Program, usual: GenOptions, plan: str) -> list[tuple[str, GenOptions]]:
    """Ways to ask besides the usual one. What is said of the sizes holds for all that the harness tries."""
    largest = max(max(s) for s in program.sizes)
    made = [
        ("target c, plan read again", replace(usual, target="c", plan_text=plan)),
        ("target c", replace(usual, target="c")),
        ("native", replace(usual, machine="native")),
        ("native, target c", replace(usual, machine="native", target="c")),
        ("isa generic", replace(usual, machine="native", isa="generic")),
        ("check-alias", replace(usual, check_alias=True)),
        ("fusion none", replace(usual, fusion="none")),
        ("fusion smart", replace(usual, fusion="smart")),
        ("fusion max", replace(usual, fusion="max")),
        ("context", replace(usual, context=f"n <= {largest} && m <= {largest}")),
        ("prefix, keep-original", replace(usual, prefix="zz", keep_original=True)),
    ]
    if not program.ordered:
        made += 4 * [("reassociate", replace(usual, reassociate=True))]
    return made


def _spent() -> float:
    """Processor time of this process and its children."""
    return sum(sum(getrusage(who)[:2]) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))


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
        if kind not in ("plan", "printed plan"):
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
        if d.id == "unproven":
            out.fail(label, f"a proof failed on the tool's own plan: {d.message}")
        for note in d.notes:
            out.counts[f"{kind}: refused {note.id}"] += 1
            if note.id == "no-proof":
                out.fail(label, f"not even the source's own order was proven: {note.message}")
    if got.regions and got.regions[0].transformed:
        out.counts[f"{kind}: done"] += 1
        out.counts[f"{kind}: product"] += any(d.id == "product" for d in got.diagnostics)
        if keep and got.text not in {v.text for v in out.variants}:
            out.variants.append(Variant(label, got.text))
    return got
