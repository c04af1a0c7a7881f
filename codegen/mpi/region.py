"""Generates one region for MPI (`process`): the text for one rank, as `hosts/region.py` makes it, and beside it the
proven text for several. Where ranks cannot share the region, each runs the text for one, and a remark says why;
InputError if --distribute gives ranks only blocks of its arrays."""

from __future__ import annotations

import re
from dataclasses import replace

import islpy as isl

from codegen.diagnostics import Diagnostic, InputError, Severity
from codegen.hosts.region import process as for_one_rank
from codegen.hosts.variants import product_variants
from codegen.mpi.layout import layouts
from codegen.mpi.messages import RankedProgram
from codegen.mpi.network import load_network
from codegen.mpi.panels.buffers import panel_program
from codegen.mpi.phase_program import phase_program
from codegen.mpi.phases import Cut, NotShared, Phase, Unproven
from codegen.mpi.prove import not_shared_out, wrong_message, wrong_order, wrong_steps, wrong_totals, wrong_turns
from codegen.mpi.prove_panels import wrong_panels
from codegen.mpi.share import SharedRegion, several_steps, share_out
from codegen.mpi.target import RANKS
from codegen.mpi.text.emit import RanksText, emit_ranks
from codegen.mpi.text.read_back import check_ranks
from codegen.mpi.text.views import RankViews, StepsOfRank
from codegen.mpi.trees import skeleton
from codegen.mpi.variables import declarations
from codegen.mpi.wide.steps import time_tile, wide_program
from codegen.plan.model import Plan, Ranks
from codegen.plan_reader.parse import parse
from codegen.region import ProvenRegion, RegionOutcome, attempt, given_up, make
from codegen.scop.effort import Exhausted, at_most, part
from codegen.scop.isl_helpers import in_words
from codegen.scop.model import Scop
from codegen.strategy.planner import source_plan
from codegen.target.guards.buffers import room_of
from codegen.target.text.pieces import View
from codegen.targets.base import RegionJob
from codegen.transform.program import Program


def process(job: RegionJob) -> RegionOutcome:
    """The region's new text. Raises Unsupported."""
    one = for_one_rank(job)
    assert one.text is not None
    load_network(job.options.network)
    try:
        with at_most(part(job.options.timeout, 4)):
            text = _for_ranks(job, one.text)
    except (NotShared, Exhausted, isl.Error) as error:
        _needs_ranks(job, error)
        scop = job.model.program.scop
        lost = (given_up(scop.loc, str(error)),) if isinstance(error, Unproven) else ()
        return replace(one, diagnostics=(*one.diagnostics, *lost, _replicated(scop, error)))
    return replace(
        one,
        text=text.text,
        helpers=one.helpers | text.helpers,
        kernels=one.kernels | text.kernels,
        plan=_with_ranks(one.plan, text.cut),
        summary=text.summary,
        names=one.names | text.names,
        links=(),
        part=RANKS,
        diagnostics=(*one.diagnostics, _shared(job.model.program.scop, text), *_own_nests(job)),
    )


def _shared(scop: Scop, text: RanksText) -> Diagnostic:
    return Diagnostic(Severity.REMARK, "ranks", text.remark, scop.loc, kind="analysis")


def _own_nests(job: RegionJob) -> tuple[Diagnostic, ...]:
    """A remark where a user's plan says more than what ranks share."""
    plan = _user_plan(job)
    other = () if plan is None else [d for d in plan.directives if not isinstance(d, Ranks)]
    if not other:
        return ()
    text = "directives but `ranks` are for one rank: what several ranks run of each nest is planned by the tool"
    return (Diagnostic(Severity.REMARK, "not-obeyed", text, other[0].loc, kind="missed"),)


def _needs_ranks(job: RegionJob, error: Exception) -> None:
    """A region that uses arrays of which ranks hold blocks cannot run on every rank as a whole."""
    scop = job.model.program.scop
    for x in layouts(scop, job.options.distribute):
        why = _replicated(scop, error).message
        message = f"ranks hold blocks of `{scop.arrays[x.array].base}`, but {why}"
        raise InputError("bad-distribution", message, scop.loc, "leave the array out of --distribute")


def _replicated(scop: Scop, error: Exception) -> Diagnostic:
    """A remark on a region that ranks do not share."""
    why = str(error)
    if isinstance(error, Exhausted):
        why = "what ranks would send takes more work to find than is allowed"
    elif isinstance(error, isl.Error):
        why = in_words(error)
    text = f"every rank runs the whole region: {why}"
    return Diagnostic(Severity.REMARK, "replicated", text, scop.loc, kind="missed")


def _for_ranks(job: RegionJob, one: str) -> RanksText:
    """The text for several ranks, proven, with that for one as what runs elsewhere."""
    x = share_out(job.model, job.options, _asked(job))
    p, blocks = x.program, x.ranked.blocks
    results = {q.name: _result(job, _program_of(x.ranked, q)) for q in x.ranked.cut.phases}
    around = skeleton(p, x.ranked.cut)
    _prove(x, wrong_order(around))
    threads, steps = job.model.threads(job.options), None if x.cyclic else _steps(job, x.ranked)
    codes = [made.code for made in (*results.values(), *((steps.made, *steps.plain) if steps else ()))]
    printer = RankViews(
        p, x.ranked.cut, blocks, results, x.moves, threads, x.early, steps, x.totals, x.turns, x.cyclic,
        product_variants(codes, job.machine),
    )  # fmt: skip
    variables = tuple(View("decl", line) for line in declarations(p.scop, x.own))
    views = printer.region(around)
    check_ranks(printer, around, views)
    return emit_ranks(job, printer, (*variables, *views), one)


def _program_of(ranked: RankedProgram, q: Phase) -> Program:
    """What one rank runs of a phase at a time."""
    return phase_program(ranked.p, q, ranked.blocks) if q.panels is None else panel_program(ranked, q)


def _steps(job: RegionJob, ranked: RankedProgram) -> StepsOfRank | None:
    """What ranks run in several steps without a message; None where they cannot, or it is too much work to find out."""
    less = replace(job, options=replace(job.options, timeout=job.options.timeout / 4))
    try:
        with at_most(part(less.options.timeout, 2)):
            found = several_steps(ranked)
            if found is None or wrong_steps(ranked, found.wide, found.move):
                return None
            p = wide_program(ranked, found.wide)
        made = _result(less, p)
    except (NotShared, Exhausted, isl.Error):
        return None
    _, in_line = time_tile(made.plan, made.code, found.wide.slope)
    plain = _as_written(less, p) if in_line else None
    return StepsOfRank(found, made, () if plain is None else (plain,))


def _asked(job: RegionJob) -> tuple[Ranks, ...] | None:
    """What the user's plan says about ranks; None without a plan."""
    plan = _user_plan(job)
    return None if plan is None else tuple(d for d in plan.directives if isinstance(d, Ranks))


def _user_plan(job: RegionJob) -> Plan | None:
    if job.options.plan_text is None:
        return None
    scop = job.model.program.scop
    plans = parse(job.options.plan_text, job.options.plan_name, {scop.region: scop}, job.model.piece)
    return plans[0] if plans else None


def _with_ranks(plan: str, found: Cut) -> str:
    """A plan that says which loops ranks share."""
    if re.search(r"^  ranks ", plan, re.M):
        return plan
    lines = [f"  ranks {q.stmts[0]}.{q.shared.name}\n" for q in found.shared if q.shared is not None]
    head, _, rest = plan.partition("\n")
    return f"{head}\n{''.join(lines)}{rest}"


def _prove(x: SharedRegion, order: str) -> None:
    p, cut, blocks = x.program, x.ranked.cut, x.ranked.blocks
    problem = order or not_shared_out(p, cut, blocks) or wrong_message(p, cut, blocks, x.moves)
    for q in cut.shared:
        problem = problem or wrong_totals(p, q, x.totals.get(q.name, ()))
        if q.ordered:
            problem = problem or wrong_turns(x.ranked, q, x.turns[q.name])
    problem = problem or wrong_panels(x.ranked, x.moves)
    if problem:
        raise Unproven(f"what ranks send could not be proven: {problem}")


def _result(job: RegionJob, p: Program) -> ProvenRegion:
    """What a rank runs, planned and proven. There is nothing to fall back to where it asks for memory and gets none, so
    it asks for none."""
    model = replace(job.model, program=p)
    options = replace(job.options, plan_text=None)
    made = make(model, options, job.machine, job.crashed)
    if room_of(made.program.scop, made.code, "") is not None:
        plain = _as_written(job, p)
        if plain is None:
            raise NotShared("it keeps variables in memory that it asks for")
        return plain
    return made


def _as_written(job: RegionJob, p: Program) -> ProvenRegion | None:
    """The same in the order of the source, with its loops on threads; None if that asks for memory."""
    model = replace(job.model, program=p)
    made, _ = attempt(model, lambda: source_plan(p, job.machine), {}, part(job.options.timeout, 8))
    return None if made is None or room_of(made.program.scop, made.code, "") is not None else made
