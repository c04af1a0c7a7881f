"""Parses plan text into `Plan` records, one for each block `region N`, by a table with a row for each directive;
InputError (bad-plan) for other text. `planned_parts` lists the regions and parts of regions that a text has plans
for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from codegen.diagnostics import InputError, Loc
from codegen.plan.model import Directive, Distribute, Interleave, Order, Plan, Ranks, Reverse, ScalarReplace
from codegen.plan_reader import data, loops, products, schedule
from codegen.plan_reader.reader import PlanReader, tokens
from codegen.scop.model import Scop


def parse(text: str, file: str, scops: Mapping[int, Scop], part: int = 0) -> tuple[Plan, ...]:
    """The plans in `text` for the regions in `scops`, or for one part of them; blocks for others are passed over."""
    reader = PlanReader(tokens(text, file), Loc(file, text.count("\n") + 1, 1))
    plans: list[Plan] = []
    while reader.more():
        plan = _plan(reader, scops, part)
        if plan is not None:
            plans.append(plan)
    return tuple(plans)


def planned_regions(text: str, file: str) -> tuple[tuple[int, Loc], ...]:
    """Which regions a plan file speaks of."""
    found: dict[int, Loc] = {}
    for (number, _), loc in planned_parts(text, file):
        found.setdefault(number, loc)
    return tuple(found.items())


def planned_parts(text: str, file: str) -> tuple[tuple[tuple[int, int], Loc], ...]:
    """Which regions (part 0) and parts of regions a plan file speaks of; each at most once."""
    reader = PlanReader(tokens(text, file), Loc(file, text.count("\n") + 1, 1))
    out: dict[tuple[int, int], Loc] = {}
    if reader.more() and reader.peek() != "region":  # whatever it is, none of it is shown
        message = "this is no plan: it does not begin with 'region'"
        raise InputError("bad-plan", message, reader.loc(), "`region 1` comes before the directives of region 1")
    while reader.more():
        if reader.pos == 0 or _at_region(reader):
            reader.take("region")
            loc = reader.loc()
            number = reader.number()
            key = number, reader.number() if reader.accept("part") else 0
            if key in out:
                raise InputError("bad-plan", f"region {number} is planned twice", loc, "keep one of the two blocks")
            out[key] = loc
        else:
            reader.take()
    return tuple(out.items())


def _at_region(r: PlanReader) -> bool:
    """A variable may be named so too, but no number follows it."""
    return r.peek() == "region" and r.peek(1).isdigit()


def _plan(r: PlanReader, scops: Mapping[int, Scop], part: int) -> Plan | None:
    loc = r.loc()
    r.take("region")
    number = r.number()
    if number not in scops or (r.number() if r.accept("part") else 0) != part:
        while r.more() and not _at_region(r):
            r.take()
        return None
    r.scop = scops[number]
    r.blocks.clear()
    digest = r.take().text if r.accept("digest") else ""
    out: list[Directive] = []
    while r.more() and not _at_region(r):
        at = r.loc()
        word = r.word("a directive").text
        if word in RENAMED:
            new = RENAMED[word]
            raise InputError("bad-plan", f"`{word}` is called `{new}` now", at, f"write {new} in its place")
        if word not in _READ:
            close = get_close_matches(word, sorted(_READ), n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"directives: {', '.join(sorted(_READ))}"
            raise InputError("bad-plan", f"unknown directive {word!r}", at, hint)
        out.append(_READ[word](r, at))
    return Plan(number, tuple(out), digest, loc, part)


_READ: Mapping[str, Callable[[PlanReader, Loc], Directive]] = {
    "forward": data.forward,
    "substitute": data.substitute,
    "expand": data.expand,
    "block": data.block,
    "copy": data.copy_reads,
    "layout": data.layout,
    "schedule": schedule.schedule,
    "tile": loops.tile,
    "balance": loops.balance,
    "diamond": loops.diamond,
    "order": lambda r, at: Order(r.loops(), at),
    "reverse": lambda r, at: Reverse(r.loop(), at),
    "skew": loops.skew,
    "distribute": lambda r, at: Distribute(r.loop(), at),
    "parallel": loops.parallel,
    "ranks": lambda r, at: Ranks(r.loop(), at),
    "pipeline": loops.pipeline,
    "vector": loops.vector,
    "unskew": loops.unskew,
    "interleave": lambda r, at: Interleave(r.loop(), at),
    "scalar_replace": lambda r, at: ScalarReplace(r.loop(), at),
    "jam": loops.jam,
    "unroll": loops.unroll,
    "store": data.store,
    "stay": data.stay,
    "stage": data.stage,
    "mesh": data.mesh,
    "steps": data.steps,
    "lanes": data.lanes,
    "grid": loops.grid,
    "registers": loops.registers,
    "product": products.multiply,
}
DIRECTIVES = frozenset(_READ)
# Directives that had another name in plans of before.
RENAMED = {"abreast": "interleave", "carry": "scalar_replace", "keep": "copy", "plain": "unskew"}
