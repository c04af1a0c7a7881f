"""Collects what the report page shows of one region (`details`): model, directives with the trees around them,
pictures, footprints, roofline, ownership and remarks, or its refusal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

import islpy as isl

from codegen.diagnostics import Unsupported
from codegen.machine import Machine
from codegen.options import GenOptions
from codegen.plan_reader.hinted import with_own_plan
from codegen.recognize.reductions import find_reductions
from codegen.region import ProvenRegion, make
from codegen.region_model import Modelled, model_region
from codegen.report.html.charts import footprint_picture, footprint_table
from codegen.report.html.distances import distance_picture
from codegen.report.html.model import (
    DependenceView,
    Details,
    Picture,
    Refusal,
    RegionFacts,
    StatementView,
    TableView,
)
from codegen.report.html.panes import hue_of
from codegen.report.html.roofline import roofline
from codegen.report.html.slices import cuts
from codegen.report.html.spaces import space_picture
from codegen.report.html.trees import rows_of, steps
from codegen.report.ownership import OwnershipTable, tables
from codegen.report.sample import Sample, sample
from codegen.report.speed import Speed
from codegen.report.text import array_lines, set_text, taken_words
from codegen.report.traffic import TileWork, work_of
from codegen.scop.effort import Exhausted, at_most
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Statement
from codegen.scop.tree import Node
from codegen.source.region_slice import RegionSlice
from codegen.strategy.author import Considered
from codegen.strategy.cost.gain import predicted
from codegen.targets.registry import target_named
from codegen.transform.program import Program

DRAWN = 6  # statements of a region that get pictures
LISTED = 60  # dependences of a region
LONG = 400  # characters of a relation
# isl operations for the pictures of one statement: a second or so.
OPERATIONS = 4_000_000


def details(s: RegionSlice, options: GenOptions, machine: Machine, speed: Speed | None = None) -> Details:
    """Raises InputError as the generator does; a refusal is part of the answer."""
    model: Modelled | None = None
    options = with_own_plan(s.region, s.file, options)
    try:
        model = model_region(s, options)
        if model is None:
            return Details()
        own = target_named(options.target).described(model, options)
        if own is not None:
            seen = seen_details(model)
            return Details(seen.facts, seen.statements, seen.source_tree, cores=tuple(own))
        made = make(model, options, machine)
    except Unsupported as error:
        why = Refusal(error.id, error.message, error.loc.line or s.region.first_line, error.hint)
        if model is None:
            return Details(refusal=why)
        seen = seen_details(model)
        return Details(seen.facts, seen.statements, seen.source_tree, refusal=why)
    found = result_details(model, made, machine, speed)
    return replace(found, predicted=_predicted(model, made, options, machine))


def seen_details(model: Modelled) -> Details:
    """What is known before a plan."""
    p = model.program
    plain = [
        StatementView(x.name, x.loc.line, x.source, set_text(str(x.domain)), hue_of(x.name)) for x in p.scop.statements
    ]
    return Details(_facts(p), tuple(plain), rows_of(p.tree))


def result_details(model: Modelled, made: ProvenRegion, machine: Machine, speed: Speed | None = None) -> Details:
    p = made.program
    shown = frozenset(q.name for q in model.program.scop.params)
    samples = [(s, _sample(p, made.tree, s, shown)) for s in p.scop.statements]
    works = [(s, w) for s, at in samples if at is not None for w in _work(p, made.tree, s, at)]
    sized = [(w, p.scop.arrays[s.accesses[s.target].array].elem.bytes) for s, w in works]
    views = []
    drawn = [s.name for s in sorted(p.scop.statements, key=lambda s: -len(s.iterators))[:DRAWN]]  # the deepest
    for s, at in samples:
        pictures = _pictures(p, made.tree, s, at) if at is not None and s.name in drawn else ()
        views.append(StatementView(s.name, s.loc.line, s.source, set_text(str(s.domain)), hue_of(s.name), pictures))
    only = [w for _, w in works]
    return Details(
        facts=_facts(model.program),
        statements=tuple(views),
        source_tree=rows_of(model.program.tree),
        steps=steps(model.program, made.plan),
        final_tree=rows_of(made.tree),
        footprints=footprint_table(only, machine),
        footprint_picture=footprint_picture(only, machine),
        roofline=roofline(sized, machine, speed if speed is not None and speed.operations else None),
        speed=speed.text if speed is not None else "",
        ownership=tuple(map(_table, tables(p, made.tree, machine))),
        remarks=_counted(f"{r.message}" + (f" [{r.id}]" if r.id else "") for r in made.remarks),
        techniques=_techniques(made.considered),
    )


def _predicted(model: Modelled, made: ProvenRegion, options: GenOptions, machine: Machine) -> str:
    """What the plan promises by the cost model; empty where it cannot say."""
    cores = machine.cores if model.threads(options) else 1
    gain = predicted(model.program, made.program, made.plan, replace(machine, cores=cores))
    if gain.factor is None:
        return ""
    on = f"{cores} cores" if cores > 1 else "one core"
    return f"By the cost model, {gain.factor:.2g} times as fast on {on} of {machine.name} as the source on one."


def _techniques(found: Sequence[Considered]) -> tuple[TableView, ...]:
    """What the planner thought of, for the region and for each nest, in the order of its table."""
    out = []
    for stmts in dict.fromkeys(c.stmts for c in found):
        rows = dict.fromkeys((c.technique, c.why or taken_words(c)) for c in found if c.stmts == stmts)
        title = f"For {', '.join(stmts)}" if stmts else "For the region"
        out.append(TableView(title, ("technique", "taken, or why not"), tuple(rows)))
    return tuple(out)


def _counted(remarks: Iterable[str]) -> tuple[str, ...]:
    """What is said several times, once, with its number."""
    found = Counter(remarks)
    return tuple(f"{text}, {n} times" if n > 1 else text for text, n in found.items())


def _facts(p: Program) -> RegionFacts:
    scop = p.scop
    folds = [f"{r.stmt} ({r.op}{', any order' if r.exact or p.reassociate else ''})" for r in find_reductions(scop)]
    found = [
        DependenceView(d.kind, scop.arrays[d.array].base, _short(set_text(str(m))))
        for d in p.deps.all
        for m in maps_of(d.relation)
    ]
    return RegionFacts(
        scop.function,
        ", ".join(q.text for q in scop.params) or "none",
        tuple(scop.guard.reasons),
        tuple(array_lines(scop)),
        ", ".join(folds),
        tuple(found[:LISTED]),
    )


def _short(text: str) -> str:
    return text if len(text) <= LONG else text[: LONG - 2].rstrip() + " …"


def _sample(p: Program, tree: Node, s: Statement, shown: frozenset[str]) -> Sample | None:
    try:
        return sample(p.scop, tree, s, shown) if s.iterators else None
    except isl.Error:
        return None


def _work(p: Program, tree: Node, s: Statement, at: Sample) -> Sequence[TileWork]:
    try:
        return [work_of(p.scop, tree, s, at)]
    except isl.Error:
        return []


def _pictures(p: Program, tree: Node, s: Statement, at: Sample) -> tuple[tuple[Picture, ...], ...]:
    """Cuts, each with the dependences in its plane; as many as isl gets done within bounds."""
    out: list[tuple[Picture, ...]] = []
    with suppress(isl.Error, Exhausted), at_most(OPERATIONS):
        for cut in cuts(tree, s, at):
            arrows = distance_picture(s, p.deps, at, cut.down, cut.across)
            out.append((space_picture(s, cut, at), *([arrows] if arrows is not None else [])))
    return tuple(out)


def _table(t: OwnershipTable) -> TableView:
    return TableView(t.head, ("reference", "threads over", "one thread only", "why"), t.rows, t.notes)
