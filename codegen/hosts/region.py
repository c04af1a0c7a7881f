"""One region for the CPU targets: plan, proof, text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from codegen.ast.ctree import CNode, ProductNode, walk
from codegen.diagnostics import Severity, Unsupported
from codegen.hosts.one_thread import peeled, threads_only
from codegen.isa.common import common_name
from codegen.machine import Machine
from codegen.plan.text import show
from codegen.plan_outcome import no_effect, summarize
from codegen.record import record
from codegen.region import AUTHORS, ProvenRegion, RegionOutcome, as_written, indent, left_out, make, simpler
from codegen.scop.memo import remember
from codegen.scop.model import Scop
from codegen.scop.product import Blocking, Contraction
from codegen.strategy.cost.gain import Gain, predicted, too_little
from codegen.strategy.products.selection import blocking
from codegen.target.emit import RegionText, Surroundings, region_text
from codegen.target.finish.lines import at_statements, line_name
from codegen.target.finish.names import check_prefix, names_for
from codegen.target.finished import FinishedText, finished, respelled
from codegen.target.pragmas import Threads, shared_by_team
from codegen.target.region_views import RegionViews, region_views
from codegen.target.view import Blocks
from codegen.targets.base import RegionJob
from codegen.verify.overlap.check import overlap_test


class Unproven(Unsupported):
    """What was printed could not be proven, whatever was proven of its tree."""


def process(job: RegionJob) -> RegionOutcome:
    """The region's new text by the best plan that works out. Raises Unsupported."""
    loc = job.model.program.scop.loc
    found = job.options.auto and job.slice.region.found  # a nest that nobody marked
    little = too_little(job.model.program, _shared_machine(job)) if found else None
    if little is not None:
        return left_out(job.slice, little)
    skipped, since = job.crashed, [simpler(loc, "isl crashed")] if job.crashed else []
    while True:
        made = make(job.model, job.options, job.machine, skipped, since)
        gain = _gain(job, made)
        if gain is not None and gain.against and found:
            return left_out(job.slice, gain)
        try:
            out = printed(job, made)
        except Unproven as error:
            if made.author is None or made.author + 1 == len(AUTHORS):
                raise
            skipped, since = made.author + 1, [*since, simpler(loc, error.message, Severity.WARNING)]
        else:
            return replace(out, gain=gain)


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
    fallback = as_written(original)
    alias = overlap_test(scop, options.assume_no_alias, options.check_alias)
    alone = threads is True and threads_only(model.program, made)
    names = names_for(options.prefix, (s.text[slice(*s.span)], original))
    around = Surroundings(fallback, indent(original, s.region.indent), summary, alias.text, names, s.language)
    found = product_variants([made.code], machine)
    views = region_views(scop, made.code, threads, alone, [v.blocks for v in found])
    emitted = region_text(views, around)
    others = _others(views, around, found)
    done = finished(emitted, around, others)
    _prove_text(scop, made.code, emitted, done.portable is None)
    if done.portable is None:  # else texts for variants of the machine stand in the file, which were read back
        _prove_loops(views, emitted, around)
    _prove_pragmas(views)
    _prove_variants(scop, done, [x for _, x in others])
    check_prefix(names, s.text, emitted.plain)
    _prove_finish(scop, emitted, done, around)
    text, links = done.text, done.links
    if options.line_statements:
        lines = {x.name: s.region.presumed_line(x.loc.line) for x in scop.statements}
        first = s.region.presumed_line(s.region.first_line)
        text, links = at_statements(text, links, lines, first, line_name(s.file, options, s.region))
    idle = no_effect(plan, scop, made.code, bool(threads))
    planned = (d for d in made.remarks if threads or d.id != "parallel")
    remarks = (*model.remarks, *planned, *alias.remarks, *idle)
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


def _prove_text(scop: Scop, code: CNode, emitted: RegionText, products: bool) -> None:
    """Raises Unproven where the printed text, or what stands ahead of it, cannot be read back as what was proven. Its
    products are the text's own, or others stand in the file, which were proven with the variants of the machine."""
    problem = read_back(emitted) if products else ""
    if emitted.locals is not None and not problem:
        from codegen.verify.locals import wrong_locals

        x = emitted.locals
        problem = wrong_locals(scop, x.scop, x.declarations, code, x.guard)
    if not problem and (emitted.guard or scop.computed or scop.aheads):
        from codegen.verify.guards import wrong_ahead_of

        problem = wrong_ahead_of(scop, emitted.plain, emitted.guard, emitted.computed)
    if not problem and "tw_memory" in emitted.plain:
        from codegen.verify.workspace import wrong_room

        problem = wrong_room(scop, code, emitted.plain)
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


def _prove_variants(scop: Scop, done: FinishedText, proven: Sequence[RegionText]) -> None:
    """Raises Unproven unless the text for all machines is, for each of them, the one that was proven."""
    if done.portable is None:
        return
    from codegen.verify.variants import wrong_variants

    problem = wrong_variants(done.merged, done.portable.variants, [x.plain for x in proven])
    if problem:
        raise Unproven("no-proof", f"what was printed for several machines could not be proven: {problem}", scop.loc)


@record
class ProductVariant:
    """The preprocessor's condition for a variant of the machine, and the blocks of products there."""

    when: str
    blocks: Blocks


def product_variants(codes: Sequence[CNode], machine: Machine) -> tuple[ProductVariant, ...]:
    """The variants of a machine that a region is printed for; none where it has no products in blocks of its own, or
    where kernels that all machines have in common are too narrow for one of them. A plan with the blocks of that
    machine may be one that was printed with its variants: it gets them again."""
    products = [n.product for code in codes for n in walk(code) if isinstance(n, ProductNode)]
    blocked = [x for x in products if isinstance(x.how, Blocking)]
    if not blocked or any(x.how != blocking(x.what, machine) for x in blocked):
        return ()
    from codegen.machine.variants import MachineVariant, variants
    from codegen.target.product.microkernel import MOST_COMMON

    every = (*variants(machine), MachineVariant("", machine)) if variants(machine) else ()
    machines = tuple(v.machine for v in every)
    found = tuple(ProductVariant(v.when, partial(_common_blocks, v.machine, machines)) for v in every)
    wide = any(v.blocks(x.what).nv > MOST_COMMON for v in found for x in blocked)
    return () if wide else found


@remember(64)
def _common_blocks(machine: Machine, among: Sequence[Machine], what: Contraction) -> Blocking:
    """The blocks that suit a machine, with kernels under names common to all. It packs the left operand as vectors only
    where that suits all of them: floyd-warshall on Neoverse N1 takes 1.12 of its time without, with AVX-512 0.21."""
    how = blocking(what, machine)
    return replace(how, isa=common_name(how.isa), spread=_spread(among, what))


@remember(16)
def _spread(among: Sequence[Machine], what: Contraction) -> bool:
    return all(blocking(what, m).spread for m in among)


def _others(
    views: RegionViews, around: Surroundings, found: Sequence[ProductVariant]
) -> tuple[tuple[str, RegionText], ...]:
    """The region's text for variants of its machine, proven."""
    from codegen.verify.loops.region import wrong_region

    out = []
    for number, v in enumerate(found):
        mine = views.variant(number)
        emitted = region_text(mine, around)
        if read_back(emitted) or wrong_region(mine, emitted, around):
            return ()
        out.append((v.when, emitted))
    return tuple(out)


def read_back(emitted: RegionText) -> str:
    """What is wrong with the text; empty when nothing is."""
    if not (emitted.products or emitted.matvecs or emitted.kernels or emitted.nests):
        return ""
    from codegen.verify.text.check import wrong_text  # only then: start-up time counts in a build

    return wrong_text(emitted)
