"""Starting points of a plan search: the tool's own plan, and those it makes under other settings."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import islpy as isl

from codegen.diagnostics import InputError
from codegen.machine import Machine
from codegen.plan.model import Plan
from codegen.plan.text import show
from codegen.plan_reader.parse import parse
from codegen.record import record
from codegen.scop.effort import PER_SECOND, Exhausted, at_most
from codegen.scop.tree import loops
from codegen.strategy.choice import Decision
from codegen.strategy.planner import default_plan, loop_plan, source_plan
from codegen.targets.tuning import Authors
from codegen.transform.apply import apply_plan
from codegen.transform.program import Program
from codegen.tune.region import Subject

ONE_THREAD = "one thread"


@record
class Base:
    """A plan, why it is here, and the program it leads to."""

    name: str
    plan: Plan
    program: Program

    @property
    def free(self) -> frozenset[tuple[str, str]]:
        """Loops that carry no dependence, each with every statement below it."""
        places = [q.loop for q in loops(self.program.tree)]
        return frozenset((stmt, lp.name) for lp in places if lp.coincident for stmt in lp.exprs)

    def text(self, plan: Plan, digest: str) -> str:
        """A plan around this one, as the text of a plan file."""
        return show((replace(plan, digest=digest),), {plan.region: self.program.scop})


AUTHOR = 10 * PER_SECOND  # isl operations of one author


def bases_of(subject: Subject, threads: int, seconds: float) -> tuple[Base, ...]:
    """The tool's own plan first, then the region as it was written; others only where they differ, and as long as
    there is time. Whoever measures with one thread does not ask for a plan that never uses more: directives for
    threads cost next to nothing then."""
    end = time.monotonic() + seconds
    scop = subject.model.program.scop
    own = parse(subject.outcome.plan, "<default>", {scop.region: scop})[0]
    written = Plan(scop.region, ())
    found = [Base("default", own, apply_plan(subject.model.program, own))]
    if subject.tuning is None:
        found.append(Base("as written", written, subject.model.program))
    seen = {b.text(b.plan, "") for b in found}
    for name, author in _all_authors(subject):
        if time.monotonic() > end:
            break
        decision = _bounded(author) if threads > 1 or name != ONE_THREAD else None
        if decision is None:
            continue
        base = Base(name, decision.plan, decision.program)
        text = base.text(base.plan, "")
        if text not in seen:
            seen.add(text)
            found.append(base)
    return tuple(found)


def _all_authors(subject: Subject) -> Authors:
    if subject.tuning is not None:
        return subject.tuning.authors(subject.model)
    machine = subject.machine if subject.model.threads(subject.options) else _alone(subject.machine)
    return _authors(subject.model.program, machine)


def _alone(machine: Machine) -> Machine:
    return replace(machine, cores=1)


def _authors(p: Program, machine: Machine) -> Authors:
    return (
        ("order of the source", lambda: source_plan(p, machine)),
        ("loops", lambda: loop_plan(p, machine, "smart", 2)),
        ("loops without full tiles", lambda: loop_plan(p, machine, "smart", 1)),
        ("loops without tiles", lambda: loop_plan(p, machine, "smart", 0)),
        ("fused as far as possible", lambda: loop_plan(p, machine, "max", 2)),
        ("nothing fused", lambda: loop_plan(p, machine, "none", 2)),
        ("products, nothing fused", lambda: default_plan(p, machine, "none", 2)),
        ("products, fused as far as possible", lambda: default_plan(p, machine, "max", 2)),
        (ONE_THREAD, lambda: default_plan(p, _alone(machine), "auto", 2)),
    )


def _bounded(author: Callable[[], Decision]) -> Decision | None:
    """None when it takes isl too long, or does not work out."""
    try:
        with at_most(AUTHOR):
            return author()
    except (InputError, isl.Error, Exhausted):
        return None
