"""Takes one region through the targets `c` and `openmp`: makes a proven result by a plan, prints it, reads the text
back, and goes on to a simpler plan where that fails. Returns the RegionOutcome (without a text where an unmarked nest
would gain nothing), or raises Unsupported."""

from __future__ import annotations

from dataclasses import replace

from codegen.ast.ctree import CNode
from codegen.diagnostics import Diagnostic, Unsupported
from codegen.hosts.few_threads import with_few_threads
from codegen.hosts.one_thread import for_much_work, peeled, threads_only
from codegen.hosts.variants import PrintedRegion, UnprovenVariants, for_all_variants, read_back
from codegen.machine import Machine
from codegen.plan.text import show
from codegen.plan_outcome import no_effect, summarize
from codegen.region import AUTHORS, ProvenRegion, RegionOutcome, as_written, given_up, indent, left_out, make, simpler
from codegen.region_model import TOO_MUCH, too_much
from codegen.scop.effort import Exhausted, at_most, part
from codegen.scop.model import Scop
from codegen.strategy.cost.gain import Gain, predicted, too_little
from codegen.target.emit import RegionText, Surroundings, region_text
from codegen.target.finish.lines import at_statements, line_name
from codegen.target.finish.macro_scope import embedded, enclosed
from codegen.target.finish.names import check_prefix, names_for
from codegen.target.finished import FinishedText, finished, respelled
from codegen.target.guards.alias import check_testable
from codegen.target.pragmas import Threads, shared_by_team
from codegen.target.region_views import RegionViews, region_views
from codegen.targets.base import RegionJob
from codegen.verify.overlap.check import overlap_test

PRINTED = 2  # one part in so many of a region's counted work for its text and the proofs about that, at most


class Unproven(Unsupported):
    """What was printed could not be proven, whatever was proven of its tree."""


def process(job: RegionJob) -> RegionOutcome:
    """The region's new text by the best plan that works out. Raises Unsupported."""
    loc = job.model.program.scop.loc
    found = job.options.auto and job.slice.region.found  # a nest that nobody marked
    little = too_little(job.model.program, _shared_machine(job)) if found else None
    if little is not None:
        return left_out(job.slice, little)
    if found:
        check_testable(job.model.program.scop, job.options.assume_no_alias, job.options.check_alias)
    skipped, since = job.crashed, [simpler(loc, "isl crashed")] if job.crashed else []
    failed: dict[str, Unsupported] = {}  # by plans, which several authors may write
    while True:
        made = make(job.model, job.options, job.machine, skipped, since)
        gain = _gain(job, made)
        if gain is not None and gain.against and found:
            return left_out(job.slice, gain)
        last, plan = made.author is None or made.author + 1 == len(AUTHORS), _plan_text(made)
        if plan not in failed:
            try:
                with at_most(part(job.options.timeout, 1 if last else PRINTED)):
                    return replace(printed(job, with_few_threads(job, made)), gain=gain)
            except Exhausted:
                failed[plan], why = too_much(job.options, loc), simpler(loc, TOO_MUCH)
            except Unproven as error:
                failed[plan], why = error, given_up(loc, error.message)
            since = [*since, why]
        if last:
            raise failed[plan]
        skipped = (made.author or 0) + 1


def _plan_text(made: ProvenRegion) -> str:
    scop = made.program.scop
    return show((made.plan,), {scop.region: scop})


def _gain(job: RegionJob, made: ProvenRegion) -> Gain | None:
    if not job.options.auto:
        return None
    return predicted(job.model.program, made.program, made.plan, _shared_machine(job), peeled(made))


def _shared_machine(job: RegionJob) -> Machine:
    """The machine with as many cores as the region may use."""
    return job.machine if job.model.threads(job.options) else replace(job.machine, cores=1)


def printed(job: RegionJob, made: ProvenRegion) -> RegionOutcome:
    """A proven result as text for the file."""
    s, model, original, options, machine = job.slice, job.model, job.original, job.options, job.machine
    scop = made.program.scop
    plan = replace(made.plan, digest=model.digest, part=model.piece)
    threads: Threads = "team" if model.team else model.threads(options)
    if model.team and not shared_by_team(scop, made.code):
        why = "not all of the result can be shared out among the threads that run here"
        raise Unproven("foreign-pragma", why, scop.loc, "remove the directive: the tool makes loops parallel itself")
    summary = (f"part {model.piece}: " if model.piece else "") + summarize(plan, scop, made.code, bool(threads))
    fallback = embedded(s.around, as_written(original), line_name(s.file, options, s.region))
    alias = overlap_test(scop, options.assume_no_alias, options.check_alias)
    alone = threads is True and threads_only(model.program, made)
    names = names_for(options.prefix, (s.text[slice(*s.span)], original))
    around = Surroundings(fallback, indent(original, s.region.indent), summary, alias.text, names, s.language)
    found, lost = None, ""
    try:
        found = None if alone else for_all_variants(scop, made.code, threads, around, machine)
    except UnprovenVariants as error:
        lost = str(error)
    assumed = found is not None  # blocks are computed when the program runs, and tiles are those of its processor
    if found is None:
        much = threads is True and for_much_work(made.plan)
        views = region_views(scop, made.code, threads, "threads" if alone else "work" if much else "")
        emitted = region_text(views, around)
        _check(scop, read_back(emitted))
        found = PrintedRegion(views, emitted, finished(emitted, around))
    views, emitted, done = found.views, found.emitted, found.done
    _prove_ahead(scop, made.code, emitted)
    _prove_loops(views, emitted, around)
    _prove_pragmas(views)
    check_prefix(names, s.text, emitted.plain)
    _prove_finish(scop, emitted, done, around)
    text, links = done.text, done.links
    if options.line_statements:
        lines = {x.name: s.region.presumed_line(x.loc.line) for x in scop.statements}
        first = s.region.presumed_line(s.region.first_line)
        text, links = at_statements(text, links, lines, first, line_name(s.file, options, s.region))
    text, above = enclosed(s.around, text, scop.loc)
    links = tuple((line + above, stmt) for line, stmt in links)
    idle = no_effect(plan, scop, made.code, bool(threads))
    planned = (_of_any_machine(d) if assumed else d for d in made.remarks if threads or d.id != "parallel")
    fewer = (given_up(scop.loc, f"its text for all processors could not be proven: {lost}"),) if lost else ()
    remarks = (*model.remarks, *planned, *fewer, *alias.remarks, *idle)
    return RegionOutcome(
        s.region.index,
        s.region.first_line,
        text,
        done.helpers | alias.helpers,
        done.called,
        show((plan,), {scop.region: scop}),
        summary,
        tuple(dict.fromkeys(remarks)),  # parts of one statement say the same
        links=links,
        lines=tuple((x.loc.line, x.name) for x in model.program.scop.statements),
        names=done.names,
        kept=tuple(sorted(model.kept)),
        computed=emitted.computed,
    )


def _of_any_machine(d: Diagnostic) -> Diagnostic:
    """What is said of a product, whose plan is that of a machine of which nothing is known."""
    if d.id != "product" or not d.message.startswith("a product "):
        return d
    more = "tiles follow compilers' flags, blocks the caches found at run time"
    return replace(d, message=f"{d.message} where nothing is known of the processor; {more}")


def _prove_ahead(scop: Scop, code: CNode, emitted: RegionText) -> None:
    """Raises Unproven where what stands ahead of the loops cannot be read back as what was proven."""
    problem = ""
    if emitted.locals is not None:
        from codegen.verify.locals import wrong_locals

        x = emitted.locals
        problem = wrong_locals(scop, x.scop, x.declarations, code, x.guard)
    if not problem and (emitted.guard or scop.computed or scop.aheads):
        from codegen.verify.guards import wrong_ahead_of

        problem = wrong_ahead_of(scop, emitted.plain, emitted.guard, emitted.computed)
    if not problem and "tw_memory" in emitted.plain:
        from codegen.verify.workspace import wrong_room

        problem = wrong_room(scop, code, emitted.plain)
    _check(scop, problem)


def _check(scop: Scop, problem: str) -> None:
    """Raises Unproven where there is one."""
    if problem:
        raise Unproven(
            "no-proof",
            f"what was printed for it could not be proven: {problem}",
            scop.loc,
            "split the region into smaller ones, and please report it",
        )


def _prove_loops(views: RegionViews, emitted: RegionText, around: Surroundings) -> None:
    """Raises Unproven unless the printed loops, conditions and statements are those of the proven tree."""
    from codegen.verify.loops.region import wrong_region

    problem = wrong_region(views, emitted, around)
    if problem:
        raise Unproven("no-proof", f"what was printed is not the proven tree: {problem}", views.scop.loc)


def _prove_pragmas(views: RegionViews) -> None:
    """Raises Unproven where a directive asks for more than was proven of its loop."""
    from codegen.verify.pragmas import wrong_pragmas

    problem = wrong_pragmas(views.short, views.views, views.threads == "team")
    if problem:
        raise Unproven("no-proof", f"a directive could not be proven: {problem}", views.scop.loc)


def _prove_finish(scop: Scop, emitted: RegionText, done: FinishedText, around: Surroundings) -> None:
    """Raises Unproven unless the text for the file is, but for its layout and names, the one that was proven."""
    from codegen.verify.finish import wrong_finish

    proven = respelled(emitted.kept, done.merged or emitted.plain, around.language)
    problem = wrong_finish(proven, done.text, around.names)
    if problem:
        raise Unproven("no-proof", f"what stands in the file is not what was proven: {problem}", scop.loc)
