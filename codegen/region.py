"""One region all the way through: model, plan, transformation, proof, text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

import islpy as isl

from codegen.ast.ctree import CNode
from codegen.ast.generate import MissingLoop
from codegen.ast.generate import generate as generate_ast
from codegen.diagnostics import Diagnostic, InputError, Loc, Severity, Unsupported
from codegen.frontend.build import Extracted, extract
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.parameters.plain import not_plain
from codegen.frontend.prepare import declared_pure, prepared, pure_hint
from codegen.frontend.rewrite.overloads import with_overloads
from codegen.frontend.statements.constructs import check_constructs
from codegen.frontend.symbols import RegionSite, find_site, part_of
from codegen.lower.asked import asked
from codegen.lower.tree import lowered
from codegen.machine import Machine
from codegen.obeyed import as_obeyed, check_obeyed, check_places, check_words, missed
from codegen.options import FUSIONS, GenOptions
from codegen.plan.model import Plan, Unroll
from codegen.plan.text import show
from codegen.plan_reader.hinted import plan_hint, with_own_plan
from codegen.recognize.privatize.lastprivate import lastprivates, privatization_remarks
from codegen.recognize.privatize.privates import privatize, privatize_roomy
from codegen.recognize.reductions import free_pairs
from codegen.recognize.stores import settled
from codegen.record import record
from codegen.scop.dependences import compute_dependences
from codegen.scop.effort import Exhausted, at_most, part
from codegen.scop.tree import Node
from codegen.source.macros.named import without_names
from codegen.source.parse import Parsed, parse_with_gaps
from codegen.source.slice import RegionSlice
from codegen.strategy.author import Considered
from codegen.strategy.choice import Decision
from codegen.strategy.cost.gain import Gain
from codegen.strategy.planner import default_plan, source_plan
from codegen.target.emit import Kernel
from codegen.target.guards.computed import ComputedText
from codegen.target.text.links import Links
from codegen.targets.base import RegionJob, Target
from codegen.targets.registry import target_named
from codegen.transform.apply import apply_plan
from codegen.transform.program import Program, make_program
from codegen.transform.storage import place_storage
from codegen.verify.evidence import Finding
from codegen.verify.proofs import prove

# Which parts of a region's counted work its stages get: the model a fourth; the authors of plans, from ambitious to
# plain, what is left. Past its part, an author makes room for the next.
MODEL = 4
AUTHORS = (4, 4, 8, 8)


@record
class RegionOutcome:
    """What became of a region. `text` is None when it stays as it was. Everything here can be pickled."""

    index: int
    line: int
    text: str | None
    helpers: frozenset[str]
    kernels: frozenset[Kernel]
    plan: str
    summary: str
    diagnostics: tuple[Diagnostic, ...]
    part: object = None  # what the region adds to the target's other files
    links: Links = ()  # which lines of `text` carry out a statement
    names: frozenset[str] = frozenset()  # of generated code in it, with --prefix
    kept: tuple[str, ...] = ()  # macros that may have any value when it is compiled
    computed: tuple[ComputedText, ...] = ()  # parameters that are evaluated ahead of it
    parts: int = 1  # in which it was taken
    cases: tuple[tuple[RegionSlice, RegionOutcome, str], ...] = ()  # parts with their own text, if others stay
    gain: Gain | None = None  # with --auto


@record
class Modelled:
    """A region with its model in source order."""

    site: RegionSite
    program: Program
    digest: str
    remarks: tuple[Diagnostic, ...] = ()
    fusion: str = ""  # what a hint asks for
    alone: bool = False  # it runs on the thread that comes to it, one of a team or with variables of its own
    kept: Mapping[str, int] = field(default_factory=dict)  # macros that are parameters in it, and what they stand for
    piece: int = 0  # which piece of the region it is; 0: all of it

    def threads(self, options: GenOptions) -> bool:
        """May its loops share their iterations among threads?"""
        return target_named(options.target).threads and not self.alone


@record
class Made:
    """A proven result."""

    program: Program
    plan: Plan
    tree: Node
    code: CNode
    remarks: tuple[Diagnostic, ...]
    considered: tuple[Considered, ...] = ()  # techniques that the planner thought of
    author: int | None = None  # which one's plan it is; None: the user's


def model_region(s: RegionSlice, options: GenOptions) -> Modelled | None:
    """The model of a region, with macros by their names where they may have any value; None when there is nothing in
    it. Raises Unsupported."""
    named = s.named
    try:
        while named is not None and named.values:
            shaping = not_plain(_site(named).statements, [n for n, _ in named.values])
            if not shaping:
                model = _model_region(named, options)
                kept = {n: int(b.strip("( )\t")) for n, b in named.values}
                return None if model is None else replace(model, kept=kept)
            named = without_names(named, shaping)
    except Unsupported:
        pass
    return _model_region(s, options)


def _site(s: RegionSlice) -> RegionSite:
    return site_in(parse_with_gaps(s), s)


def site_in(parsed: Parsed, s: RegionSlice) -> RegionSite:
    """The region, or the piece of it that is meant, in the parser's tree, in forms that the walk over it knows."""
    tree, p, r = with_overloads(parsed.ast), s.piece, s.region
    site = find_site(tree, s.file, r.first_line, r.last_line, parsed.hidden, s.thread_private)
    return prepared(site if p is None else part_of(site, p.path, p.first, p.after), declared_pure(s))


def _model_region(s: RegionSlice, options: GenOptions) -> Modelled | None:
    loc = Loc(s.file, s.region.first_line, 1)
    try:
        with at_most(part(options.timeout, MODEL)):
            return _modelled(s, options)
    except Exhausted:
        raise too_much(options, loc) from None
    except isl.Error as error:
        raise Unsupported(
            "isl-failed",
            f"isl could not analyse the region: {str(error).splitlines()[0]}",
            loc,
            "simplify its bounds and subscripts, or split the region",
        ) from None


def _modelled(s: RegionSlice, options: GenOptions) -> Modelled | None:
    site = _site(s)
    assumptions = [(options.context, Loc("--context"))] if options.context.strip() else []
    reassociate, fusion = options.reassociate, ""
    for hint in s.region.hints:
        word, _, rest = hint.text.strip().partition("(")
        if word.strip() == "assume" and rest.endswith(")"):
            assumptions.append((rest[:-1], Loc(s.file, hint.line, 1)))
        elif word.strip() == "reassociate":
            reassociate = True
        elif word.strip() == "pure" and pure_hint(hint.text):
            continue
        elif word.strip() == "fusion" and rest.rstrip(") ") in FUSIONS:
            fusion = rest.rstrip(") ")
        elif plan_hint(hint) is None:
            raise InputError(
                "bad-hint",
                f"unknown hint `{hint.text.strip()}`",
                Loc(s.file, hint.line, 1),
                "known hints: assume(condition), pure(function, ...), reassociate, plan(file), "
                f"fusion({'|'.join(FUSIONS)})",
            )
    target = target_named(options.target)
    within = check_constructs(site, not target.runs_here and not target.threads)
    found: Extracted = extract(site, s.region.index, declared_pure(s), assumptions)
    if found.tree is None:
        return None
    if found.scop.own and not target.own_variables:
        why = f"the target {target.name} cannot leave a new address in `{found.scop.own[0].source}`"
        raise Unsupported("pointer-unknown", why, site.loc, "use subscripts in place of a pointer that moves")
    tree, found = found.tree, replace(found, scop=settled(found.scop, site))
    found = replace(found, scop=target.prepared(found.scop))
    deps = compute_dependences(found.scop, tree)
    scop = privatize(found.scop, tree, deps, site)
    if scop is not found.scop:
        deps = compute_dependences(scop, tree)
    if target.private_arrays:
        scop, deps = privatize_roomy(scop, tree, deps, site)
    last = lastprivates(scop, tree, deps) if target.private_arrays else None
    if last is not None:
        scop, tree, deps = last.scop, last.tree, last.deps
    free = free_pairs(scop, reassociate)
    if free:
        deps = compute_dependences(scop, tree, free)
    own = thread_local(site, found.scop.names, target, s.region.first_line)
    remarks = (*((within,) if within else ()), *own, *found.remarks, *privatization_remarks(found.scop, scop, last))
    program = make_program(scop, deps, tree, reassociate)
    number = 0 if s.piece is None else s.piece.number
    return Modelled(site, program, _digest(site), remarks, fusion, bool(own) or within is not None, piece=number)


def thread_local(site: RegionSite, names: frozenset[str], target: Target, line: int) -> tuple[Diagnostic, ...]:
    """What the target says of variables of which each thread has its own."""
    own = sorted(n for n in names if n in site.variables and site.variables[n].thread_local)
    return target.check_thread_local(own[0], Loc(site.loc.file, line, 1)) if own else ()


def _digest(site: RegionSite) -> str:
    """Identifies the region's code, whatever its layout and comments."""
    text = "\n".join(c_text(n) for n in site.statements)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def process_region(
    s: RegionSlice, original: str, options: GenOptions, machine: Machine, crashed: int = 0
) -> RegionOutcome:
    """Transform one region, or say why not. Raises InputError only for what the user must mend. So many authors of
    plans have `crashed` before: simpler ones are asked."""
    options = with_own_plan(s.region, s.file, options)
    try:
        model = model_region(s, options)
        if model is None:
            return RegionOutcome(s.region.index, s.region.first_line, None, frozenset(), frozenset(), "", "empty", ())
        try:
            return target_named(options.target).process(RegionJob(s, model, original, options, machine, crashed))
        except Unsupported:
            if not model.kept:
                raise
        return process_region(replace(s, named=None), original, options, machine, crashed)
    except Unsupported as error:
        return refused(s, error)


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


def make(
    model: Modelled, options: GenOptions, machine: Machine, skipped: int = 0, since: Sequence[Diagnostic] = ()
) -> Made:
    """A proven program: by the user's plan if there is one, else by the best plan that works out. The first authors,
    as many as are `skipped`, are left out; `since` says why."""
    scop = model.program.scop
    if options.plan_text is not None:
        from codegen.plan_reader.parse import parse  # only then: start-up time counts in a build

        plans = parse(options.plan_text, options.plan_name, {scop.region: scop}, model.piece)
        if plans:
            check_words(plans[0], target_named(options.target))
            try:
                with at_most(part(options.timeout, MODEL)):
                    return _by_user_plan(model, plans[0])
            except Exhausted:
                raise too_much(options, scop.loc) from None
    if not model.threads(options):
        machine = replace(machine, cores=1)
    fusion = model.fusion or options.fusion
    authors: tuple[Callable[[], Decision], ...] = (
        lambda: default_plan(model.program, machine, fusion, 2),
        lambda: default_plan(model.program, machine, fusion, 1),
        lambda: default_plan(model.program, machine, fusion, 0),
        lambda: source_plan(model.program, machine),
    )
    problems = list(since)
    tried: set[str] = set()
    for k, (author, share) in list(enumerate(zip(authors, AUTHORS, strict=True)))[skipped:]:
        made, problem = attempt(model, author, tried, part(options.timeout, share))
        if made is not None:
            return replace(made, remarks=(*problems, *made.remarks), author=k)
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
    model: Modelled, author: Callable[[], Decision], tried: set[str], operations: int
) -> tuple[Made | None, Diagnostic | None]:
    """The author's plan carried out and proven within so many isl operations, or what is wrong with it; neither for
    one in `tried`."""
    loc = model.program.scop.loc
    try:
        with at_most(operations):
            decision = author()
            scop = decision.program.scop
            text = show((decision.plan,), {scop.region: scop})
            if text in tried:
                return None, None
            tried.add(text)
            made, findings = finish(decision.program, decision.plan, decision.remarks)
            made = made and replace(_as_obeyed(made), considered=decision.considered)
    except Exhausted:
        made, findings = None, (Finding("effort", TOO_MUCH),)
    except InputError as error:
        made, findings = None, (Finding("plan", error.message),)
    except isl.Error as error:
        made, findings = None, (Finding("effort", f"isl gave up: {str(error).splitlines()[0]}"),)
    if made is not None and not findings:
        return made, None
    severity = Severity.REMARK if findings[0].check in ("storage", "effort") else Severity.WARNING
    return None, simpler(loc, findings[0].message, severity)


TOO_MUCH = "its part of the counted work was used up"


def too_much(options: GenOptions, loc: Loc) -> Unsupported:
    """The region's counted work is used up."""
    return Unsupported(
        "timeout",
        f"its analysis takes more work than is allowed for {options.timeout:g} s",
        loc,
        "raise --timeout, or split the region",
    )


def simpler(loc: Loc, why: str, severity: Severity = Severity.REMARK) -> Diagnostic:
    """The remark that a plan did not work out."""
    return Diagnostic(severity, "fallback", f"a simpler plan was used, since {why}", loc, kind="missed")


def _by_user_plan(model: Modelled, plan: Plan) -> Made:
    if plan.digest and plan.digest != model.digest:
        raise InputError(
            "stale-plan",
            f"the plan was made for another version of region {plan.region}",
            plan.loc,
            f"make it anew, or replace its digest by {model.digest} after checking it",
        )
    program = apply_plan(model.program, plan)
    try:
        made, findings = finish(program, plan, ())
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


def _as_obeyed(made: Made) -> Made:
    """With a plan that says what was done, and remarks on what was not."""
    found = asked(made.program.scop, made.code)
    return replace(
        made, plan=as_obeyed(made.plan, found), remarks=(*made.remarks, *missed(made.program.scop, found))
    )


def _no_code(plan: Plan, why: str) -> InputError:
    """isl has no loops for the order of a plan; as a rule, it cannot write one out that others were moved into."""
    unrolled = [d.loc for d in plan.directives if isinstance(d, Unroll)]
    if not unrolled:
        return InputError("illegal-plan", f"there is no code for the plan: {why}", plan.loc, "change the order of it")
    hint = "leave the directive out, or put it last"
    return InputError("illegal-plan", f"the loop cannot be written out: {why}", unrolled[-1], hint)


def finish(program: Program, plan: Plan, remarks: Sequence[Diagnostic]) -> tuple[Made | None, tuple[Finding, ...]]:
    """Storage, code and proofs of a transformed program."""
    tree = place_storage(program.scop, program.deps, program.tree, program.stores)
    try:
        code = lowered(program.scop, generate_ast(program.scop, tree))
        findings = prove(program.scop, program.deps, code)
        if findings and all(f.check == "storage" for f in findings):
            # Parts of one iteration may have come out as code of their own, each with its own variables.
            whole = lowered(program.scop, generate_ast(program.scop, tree, whole=True))
            if not prove(program.scop, program.deps, whole):
                code, findings = whole, ()
    except MissingLoop as error:
        return None, (Finding("storage", str(error)),)
    return Made(program, plan, tree, code, tuple(remarks)), findings
