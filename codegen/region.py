"""The driver for one region (`process_region`): models it and lets the target generate its text, or says why it is
refused. `make` carries out and proves the user's plan, or the first of the tool's own plans that works out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import islpy as isl

from codegen.ast.ctree import CNode
from codegen.ast.generate import MissingLoop
from codegen.ast.generate import generate as generate_ast
from codegen.diagnostics import Diagnostic, InputError, InternalError, Loc, Severity, Unsupported, fault
from codegen.lower.requested_forms import asked
from codegen.lower.tree import lowered
from codegen.machine import Machine
from codegen.machine.variants import has_variants
from codegen.options import GenOptions
from codegen.plan.model import Plan, Unroll
from codegen.plan.text import show
from codegen.plan_outcome import as_obeyed, check_obeyed, check_places, check_words, missed
from codegen.plan_reader.hinted import with_own_plan
from codegen.record import record
from codegen.region_model import MODEL, TOO_MUCH, Modelled, model_region, too_much
from codegen.scop.effort import Exhausted, Spent, at_most, part
from codegen.scop.isl_helpers import in_words
from codegen.scop.tree import Node
from codegen.source.region_slice import RegionSlice
from codegen.strategy.author import Considered
from codegen.strategy.choice import Decision
from codegen.strategy.cost.gain import Gain
from codegen.strategy.loops.ownership import owner_remarks
from codegen.strategy.planner import default_plan, source_plan
from codegen.target.emit import AnyKernel
from codegen.target.finish.links import Links
from codegen.target.guards.computed_parameters import ComputedText
from codegen.targets.base import RegionJob
from codegen.targets.registry import target_named
from codegen.transform.apply import apply_plan
from codegen.transform.program import Program
from codegen.transform.storage import place_storage
from codegen.verify.evidence import Finding
from codegen.verify.proofs import prove
from codegen.verify.storage import SHARED_BY

# Which parts of a region's counted work the authors of plans get, from ambitious to plain; the model has had its own.
# Past its part, an author makes room for the next.
AUTHORS = (4, 4, 8, 8)
EMPTY = "empty"  # the summary of a region without statements


@record
class RegionOutcome:
    """What became of a region. `text` is None when it stays as it was. Everything here can be pickled."""

    index: int
    line: int
    text: str | None
    helpers: frozenset[str]
    kernels: frozenset[AnyKernel]
    plan: str
    summary: str
    diagnostics: tuple[Diagnostic, ...]
    part: object = None  # what the region adds to the target's other files
    links: Links = ()  # which lines of `text` carry out a statement
    lines: Links = ()  # on which lines of the source its statements begin
    names: frozenset[str] = frozenset()  # of generated code in it, with --prefix
    kept: tuple[str, ...] = ()  # macros that may have any value when it is compiled
    computed: tuple[ComputedText, ...] = ()  # parameters that are evaluated ahead of it
    parts: int = 1  # in which it was taken
    cases: tuple[tuple[RegionSlice, RegionOutcome, str], ...] = ()  # parts with their own text, if others stay
    gain: Gain | None = None  # with --auto
    work: int = 0  # counted operations that it took


@record
class ProvenRegion:
    """A proven result."""

    program: Program
    plan: Plan
    tree: Node
    code: CNode
    remarks: tuple[Diagnostic, ...]
    considered: tuple[Considered, ...] = ()  # techniques that the planner thought of
    author: int | None = None  # which one's plan it is; None: the user's


def process_region(
    s: RegionSlice, original: str, options: GenOptions, machine: Machine, crashed: int = 0
) -> RegionOutcome:
    """Transform one region, or say why not. Raises InputError only for what the user must mend. So many authors of
    plans have `crashed` before: simpler ones are asked."""
    options = with_own_plan(s.region, s.file, options)
    try:
        model = model_region(s, options)
        if model is None:
            return RegionOutcome(s.region.index, s.region.first_line, None, frozenset(), frozenset(), "", EMPTY, ())
        try:
            check_macros(s, options)
            return target_named(options.target).process(RegionJob(s, model, original, options, machine, crashed))
        except Unsupported:
            if not model.kept:
                raise
        return process_region(replace(s, named=None), original, options, machine, crashed)
    except Unsupported as error:
        return refused(s, error)


def within_bound(
    most: int, s: RegionSlice, original: str, options: GenOptions, machine: Machine, crashed: int = 0
) -> RegionOutcome:
    """As `process_region`, with so many counted operations for everything. Past them the region is refused."""
    spent = Spent()
    try:
        with at_most(most, spent):
            made = process_region(s, original, options, machine, crashed)
    except Exhausted:
        made = refused(s, too_much(options, Loc(s.file, s.region.first_line, 1)))
    return replace(made, work=spent.operations)


def check_macros(s: RegionSlice, options: GenOptions) -> None:
    """Only results that are C of the same file can be kept apart from macros. Raises Unsupported."""
    names = s.around.protected
    if (names or s.around.directives) and not target_named(options.target).runs_here:
        why = f"`{names[0]}` is a macro around it" if names else "it defines macros"
        loc = Loc(s.file, s.region.first_line, 1)
        raise Unsupported("macro-effect", f"{why}, which results for the target {options.target} are not kept from",
                          loc, "end the macro with #undef before the region, or give it another name")  # fmt: skip


def as_written(original: str) -> str:
    """The region's own text without hints to the tool."""
    return "\n".join(x for x in original.split("\n") if not re.match(r"\s*#\s*pragma\s+tilewright\b", x))


def indent(original: str, fallback: str) -> str:
    """The indentation of the region's first line of code."""
    for line in original.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            return line[: len(line) - len(line.lstrip())]
    return fallback


def refused(s: RegionSlice, error: Unsupported) -> RegionOutcome:
    """The region stays as it was: everything that stands in its way."""
    loc, index = Loc(s.file, s.region.first_line, 1), s.region.index
    words = f"region {index} is left as it is: {error.message}"
    warning = Diagnostic(Severity.WARNING, "region-refused", words, loc, notes=error.notes())
    return RegionOutcome(index, loc.line, None, frozenset(), frozenset(), "", f"left as it is ({error.id})", (warning,))


def failed(s: RegionSlice, error: Exception) -> RegionOutcome:
    """The tool failed on the region, which stays as it was. The message has the evidence with it."""
    import traceback  # only then: start-up time counts in a build

    loc, index = Loc(s.file, s.region.first_line, 1), s.region.index
    words = f"region {index} is left as it is: internal error: {fault(error)}"
    told: list[str] = getattr(error, "__notes__", [])  # by a child
    trace = "".join(told or traceback.format_exception(error))
    id = error.id if isinstance(error, InternalError) else "internal-error"
    note = Diagnostic(Severity.NOTE, id, "this is a fault of the tool", loc, "please report it", trace=trace)
    warning = Diagnostic(Severity.WARNING, "region-refused", words, loc, notes=(note,))
    return RegionOutcome(index, loc.line, None, frozenset(), frozenset(), "", f"left as it is ({id})", (warning,))


def left_out(s: RegionSlice, gain: Gain) -> RegionOutcome:
    """A nest that nobody marked and that would not gain: its text is not needed."""
    index, line, none = s.region.index, s.region.first_line, frozenset[str]()
    return RegionOutcome(index, line, None, none, frozenset(), "", "left as it is", (), gain=gain)


def make(
    model: Modelled, options: GenOptions, machine: Machine, skipped: int = 0, since: Sequence[Diagnostic] = ()
) -> ProvenRegion:
    """A proven program: by the user's plan if there is one, else by the best plan that works out. The first authors,
    as many as are `skipped`, are left out; `since` says why."""
    scop, wider = model.program.scop, has_variants(machine)
    if options.plan_text is not None:
        from codegen.plan_reader.parse import parse  # only then: start-up time counts in a build

        plans = parse(options.plan_text, options.plan_name, {scop.region: scop}, model.piece)
        if plans:
            check_words(plans[0], target_named(options.target))
            try:
                with at_most(part(options.timeout, MODEL)):
                    return _by_user_plan(model, plans[0], wider)
            except Exhausted:
                raise too_much(options, scop.loc) from None
    if not model.threads(options):
        machine = replace(machine, cores=1)
    fusion, here = model.fusion or options.fusion, target_named(options.target).runs_here
    authors: tuple[Callable[[], Decision], ...] = (
        lambda: default_plan(model.program, machine, fusion, 2, here),
        lambda: default_plan(model.program, machine, fusion, 1, here),
        lambda: default_plan(model.program, machine, fusion, 0, here),
        lambda: source_plan(model.program, machine),
    )
    problems = list(since)
    tried: dict[str, ProvenRegion | None] = {}
    for k, (author, share) in list(enumerate(zip(authors, AUTHORS, strict=True)))[skipped:]:
        made, problem = attempt(model, author, tried, part(options.timeout, share), wider)
        if made is not None:
            remarks = (*problems, *made.remarks, *owner_remarks(made.program, machine))
            return replace(made, remarks=remarks, author=k)
        if problem is not None:
            problems.append(problem)
    if problems[-1].message.endswith(TOO_MUCH):
        raise too_much(options, scop.loc)
    raise Unsupported(
        "no-proof",
        f"no transformation could be proven: {problems[-1].message}",
        scop.loc,
        "split the region into smaller ones",
    )


def attempt(
    model: Modelled, author: Callable[[], Decision], tried: dict[str, ProvenRegion | None], operations: int,
    wider: bool = False,
) -> tuple[ProvenRegion | None, Diagnostic | None]:  # fmt: skip
    """The author's plan carried out and proven within so many isl operations, or what is wrong with it. For one in
    `tried` what came of it, which is noted there."""
    loc = model.program.scop.loc
    try:
        with at_most(operations):
            decision = author()
            scop = decision.program.scop
            text = show((decision.plan,), {scop.region: scop})
            if text in tried:
                return tried[text], None
            tried[text] = None
            made, findings = finish(decision.program, decision.plan, decision.remarks, wider)
            made = made and replace(_as_obeyed(made), considered=decision.considered)
    except Exhausted:
        made, findings = None, (Finding("effort", TOO_MUCH),)
    except InputError as error:
        made, findings = None, (Finding("plan", error.message),)
    except isl.Error as error:
        made, findings = None, (Finding("effort", in_words(error)),)
    if made is not None and not findings:
        tried[text] = made
        return made, None
    why = findings[0].message
    if findings[0].check in ("storage", "effort"):
        return None, simpler(loc, why)
    return None, given_up(loc, f"it could not be {'carried out' if findings[0].check == 'plan' else 'proven'}: {why}")


def simpler(loc: Loc, why: str) -> Diagnostic:
    """The remark that a plan did not work out."""
    return Diagnostic(Severity.REMARK, "fallback", f"a simpler plan was used, since {why}", loc, kind="missed")


def given_up(loc: Loc, why: str) -> Diagnostic:
    """The warning that a faster plan was given up, since it or its text could not be proven: a fault of the tool."""
    return Diagnostic(Severity.WARNING, "unproven", f"a faster plan was given up, since {why}", loc, kind="missed")


def _by_user_plan(model: Modelled, plan: Plan, wider: bool = False) -> ProvenRegion:
    if plan.digest and plan.digest != model.digest:
        raise InputError(
            "stale-plan",
            f"the plan was made for another version of region {plan.region}",
            plan.loc,
            f"make it anew, or replace its digest by {model.digest} after checking it",
        )
    program = apply_plan(model.program, plan)
    try:
        made, findings = finish(program, plan, (), wider)
    except isl.Error as error:
        raise _no_code(plan, str(error).splitlines()[0]) from None
    if made is None or findings:
        raise InputError(
            "illegal-plan",
            f"the plan is illegal: {findings[0].message}",
            plan.loc,
            "change or remove the directive that causes it",
        )
    found = asked(made.program.scop, made.code)
    check_obeyed(plan, found)
    check_places(plan, made.tree)
    return replace(made, remarks=(*made.remarks, *missed(made.program.scop, found)))


def _as_obeyed(made: ProvenRegion) -> ProvenRegion:
    """With a plan that says what was done, and remarks on what was not."""
    found = asked(made.program.scop, made.code)
    return replace(made, plan=as_obeyed(made.plan, found), remarks=(*made.remarks, *missed(made.program.scop, found)))


def _no_code(plan: Plan, why: str) -> InputError:
    """isl has no loops for the order of a plan; as a rule, it cannot write one out that others were moved into."""
    unrolled = [d.loc for d in plan.directives if isinstance(d, Unroll)]
    if not unrolled:
        return InputError("illegal-plan", f"there is no code for the plan: {why}", plan.loc, "change the order of it")
    hint = "leave the directive out, or put it last"
    return InputError("illegal-plan", f"the loop cannot be written out: {why}", unrolled[-1], hint)


def finish(
    program: Program, plan: Plan, remarks: Sequence[Diagnostic], wider: bool = False
) -> tuple[ProvenRegion | None, tuple[Finding, ...]]:
    """Storage, code and proofs of a transformed program. With `wider`, vectors may be longer than the plan says."""
    tree = place_storage(program.scop, program.deps, program.tree, program.stores)
    try:
        code = lowered(program.scop, generate_ast(program.scop, tree), wider)
        findings = prove(program.scop, program.deps, code)
        if findings and all(f.check == "storage" and SHARED_BY not in f.message for f in findings):
            # Parts of one iteration may have come out as code of their own, each with its own variables.
            whole = lowered(program.scop, generate_ast(program.scop, tree, whole=True), wider)
            if not prove(program.scop, program.deps, whole):
                code, findings = whole, ()
    except MissingLoop as error:
        return None, (Finding("storage", str(error)),)
    return ProvenRegion(program, plan, tree, code, tuple(remarks)), findings
