"""Turns one region into launches on a core group: plans it or takes the user's plan, proves it, and prints it; tries
smaller tiles where the planned ones do not fit local memory. Raises Unsupported where nothing is for the cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from codegen.ast.ctree import For, walk
from codegen.diagnostics import Diagnostic, InputError, Severity, Unsupported
from codegen.machine import load as load_machine
from codegen.options import GenOptions
from codegen.plan.model import Directive, InLanes, OnMesh, Parallel, Plan, StageIn, Stay, TimeSteps
from codegen.plan.text import show
from codegen.plan_outcome import summarize
from codegen.record import record
from codegen.region import AUTHORS, ProvenRegion, RegionOutcome, as_written, attempt, given_up, indent, make
from codegen.region_model import Modelled, too_much
from codegen.scop.effort import Exhausted, at_most, part
from codegen.scop.tree import THREADED, Loop
from codegen.source.region_slice import RegionSlice
from codegen.strategy.orders.split import split_at
from codegen.sunway.emit import RegionOnCores, SunwayText
from codegen.sunway.expressible import check_expressible
from codegen.sunway.forms import SizedForm, other_forms, usual_form
from codegen.sunway.plan.gathered import why_not, with_permission
from codegen.sunway.plan.launch_options import STYLES, USUAL, TypicalSizes
from codegen.sunway.plan.machine import CoreGroup, group_of
from codegen.sunway.plan.solves import solve_plan
from codegen.sunway.plan.strategy import TileSizer, split_plan, sunway_plan
from codegen.sunway.plan.threads import CoreGrid, parse_grid
from codegen.sunway.plan.tiles import TileModel
from codegen.sunway.profit.decide import judged
from codegen.sunway.region_form import OnCores, PrintedForm
from codegen.sunway.staging.directives import staging_of
from codegen.sunway.survey import has_kernel, width_of
from codegen.sunway.unsuited import check_region
from codegen.target.emit import Surroundings
from codegen.target.finish.names import names_for
from codegen.transform.program import Program
from codegen.verify.overlap.check import overlap_test


@record
class FixedSizes:
    """The published scheme: one size for all loops."""

    size: int

    def __call__(self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...], width: int) -> Mapping[str, int]:
        return {lp.name: self.size for lp in loops}

    def again(
        self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...], tiles: Sequence[int], kept: frozenset[str]
    ) -> Mapping[str, int]:
        return {}

    def diagonal(self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...]) -> tuple[int, ...]:
        return ()


# Parts of local memory that tiles are planned for, one after the other: boxes may turn out larger than estimated.
SHARES = (1.0, 0.5, 0.25)
FORMS = 8  # each other form of a region gets one part in so many of the work that the usual one may take
OPERANDS = 8  # registers beside those of a block: its operands, and what is on its way


def author_of(
    options: GenOptions, share: float = 1.0, sizes: TypicalSizes = USUAL
) -> tuple[CoreGrid, CoreGroup, TileSizer]:
    """Who decides on tiles, for tiles that take this part of local memory and loops of about these sizes."""
    grid = parse_grid(options.threads)
    group = group_of(options)
    return grid, group, FixedSizes(32) if options.scheme.startswith("published") else TileModel(
        group, grid, STYLES[options.scheme].mesh, share, sizes.extents
    )


def for_cores(s: RegionSlice, model: Modelled, options: GenOptions, original: str) -> RegionOutcome:
    """The region as launches on a core group, with smaller tiles where those that were planned do not fit."""
    check_region(model.program.scop)
    fixed = options.plan_text is not None or options.scheme.startswith("published")
    for share in () if fixed else SHARES:
        try:
            return _either_way(s, model, options, original, share)
        except Unsupported as error:
            if error.id != "sunway-ldm":
                raise
    return _on_cores(s, model, options, original, _Tiles(1.0, False))


def _either_way(
    s: RegionSlice, model: Modelled, options: GenOptions, original: str, share: float
) -> RegionOutcome:
    """Parts of a tile have loops of their own, or share them where what is printed for that cannot be proven."""
    try:
        return _on_cores(s, model, options, original, _Tiles(share, True))
    except Unsupported as error:
        if error.id != "no-proof":
            raise
        try:
            done = _on_cores(s, model, options, original, _Tiles(share, True, (False,)))
        except Unsupported:
            raise error from None
        lost = given_up(model.program.scop.loc, error.message)
        return replace(done, diagnostics=(*done.diagnostics, lost))


@record
class _Tiles:
    """Tiles for a part of local memory; `strict` if all arrays have to fit. `ways`: whether parts of a tile get loops
    of their own, in the order in which that is tried."""

    share: float
    strict: bool
    ways: tuple[bool, ...] = (True, False)


def _on_cores(s: RegionSlice, model: Modelled, options: GenOptions, original: str, tiles: _Tiles) -> RegionOutcome:
    """The region on a core group, proven."""
    grid, group, _ = author_of(options, tiles.share)
    tried: dict[str, ProvenRegion | None] = {}
    made = made_for_cores(model, options, tiles.share, ways=tiles.ways, before=tried)
    check_kernels(made)
    _check_wide(made)
    plan = replace(made.plan, digest=model.digest)
    scop = made.program.scop
    alias = overlap_test(scop, options.assume_no_alias, options.check_alias)
    summary, names = summarize(plan, scop, None), names_for(options.prefix, (s.text[slice(*s.span)], original))
    around = Surroundings(as_written(original), indent(original, s.region.indent), summary, alias.text, names)
    stays = made.program.stays if options.plan_text is not None else None
    staging = staging_of(made.program.staging)
    how = OnCores(group, grid, STYLES[options.scheme], options.model, tiles.strict, stays, staging)
    try:
        with at_most(part(options.timeout, AUTHORS[0])):
            check_expressible(scop)
            usual = usual_form(made, how)
            cores = RegionOnCores(usual)
        others = _others(model, options, usual, tiles.share, tried) if len(tiles.ways) > 1 else ()
        with at_most(part(options.timeout, AUTHORS[0])):
            text = cores.emit(around, [x.printed for x in others])
    except Exhausted:
        raise too_much(options, scop.loc) from None
    except isl.Error as error:
        raise Unsupported(
            "isl-failed", f"isl could not find its footprints: {str(error).splitlines()[0]}", scop.loc
        ) from None
    plan = replace(plan, directives=_with_local_memory(plan, text, group))
    own = options.plan_text is None and options.scheme == "full" and not options.model
    predicted = (judged(model.program, text.launched, group),) if own else ()
    return RegionOutcome(
        s.region.index,
        s.region.first_line,
        text.master,
        text.helpers | alias.helpers,
        frozenset(),
        show((plan,), {scop.region: scop}),
        summary,
        (*model.remarks, *made.remarks, *alias.remarks, *text.remarks, *predicted, *(_told(x) for x in others)),
        text.slave,
        names=text.names,
    )


def _others(
    model: Modelled, options: GenOptions, usual: PrintedForm, share: float, tried: dict[str, ProvenRegion | None]
) -> tuple[SizedForm, ...]:
    """Forms with tiles for other sizes. They are no part of a plan, which has one form."""
    if options.plan_text is not None or not usual.form.how.style.forms:
        return ()

    quick = replace(options, timeout=options.timeout / FORMS)

    def again(sizes: TypicalSizes) -> ProvenRegion | None:
        found = made_for_cores(model, quick, share, sizes, before=tried)
        return found if has_kernel(found.code) else None

    try:
        with at_most(part(options.timeout, AUTHORS[0])):
            return tuple(other_forms(usual, again))
    except (Exhausted, Unsupported, isl.Error):
        return ()


def _told(x: SizedForm) -> Diagnostic:
    form = x.printed.form
    tiles, factor = summarize(x.plan, form.scop, None), f"up to {x.factor:.3g} times as fast there, by the model"
    text = f"{tiles} where {form.when}: {factor}"
    return Diagnostic(Severity.REMARK, "kernel", text, form.scop.loc, kind="passed")


def made_for_cores(
    model: Modelled, options: GenOptions, share: float, typical: TypicalSizes = USUAL,
    ways: tuple[bool, ...] = (True, False), before: dict[str, ProvenRegion | None] | None = None,
) -> ProvenRegion:  # fmt: skip
    """A proven program: by the user's plan if there is one, else by our own, with tiles for a part of local memory and
    for loops of about these sizes. `before` has plans that were tried, and is given more."""
    if options.plan_text is not None:
        return make(model, options, machine=load_machine("generic"))
    grid, group, sizes = author_of(options, share, typical)
    made: ProvenRegion | None = None
    problem: Diagnostic | None = None
    p, operations = model.program, part(options.timeout, AUTHORS[0])
    tried = {} if before is None else before
    made = _solve(model, options, share, operations)
    lost: list[Diagnostic] = []
    for apart in ways if made is None else ():
        made, problem = attempt(model, partial(sunway_plan, p, group, grid, sizes, apart), tried, operations)
        if made is not None:
            break
        lost += [problem] if problem is not None and problem.id == "unproven" else []
    cut = split_at(p) if made is None or not has_kernel(made.code) else None
    if cut is not None:
        found, _ = attempt(model, partial(split_plan, p, cut, group, grid, sizes, True), tried, operations)
        made = found or made
    if made is None:
        why = problem.message if problem is not None else "no plan was found"
        raise Unsupported("no-proof", why, p.scop.loc, "split the region into smaller ones")
    return replace(made, remarks=(*made.remarks, *lost)) if lost else made


def _solve(model: Modelled, options: GenOptions, share: float, operations: int) -> ProvenRegion | None:
    """A triangular solve in blocks, if the region is one."""
    if options.scheme.startswith("published"):
        return None
    try:
        with at_most(operations):
            found = solve_plan(model.program, group_of(options), share)
    except (Exhausted, isl.Error, InputError):
        return None
    return None if found is None else attempt(model, lambda: found, {}, operations)[0]


def check_kernels(made: ProvenRegion) -> None:
    """Raises Unsupported where there is nothing for the compute cores."""
    if not has_kernel(made.code):
        missed = next((f": {r.message}" for r in made.remarks if r.id == "no-kernel"), "")
        why = f"no loop of it can run on the compute cores in parallel{missed}"
        raise Unsupported("no-parallelism", why, made.program.scop.loc, with_permission(made.program))
    for lp in (n for n in walk(made.code) if isinstance(n, For) and n.loop.kind in THREADED):
        for op, array in lp.loop.reductions:
            why = why_not(made.program.scop, array, op)
            if why:
                raise Unsupported("no-parallelism", why, made.program.scop.loc)


def _check_wide(made: ProvenRegion) -> None:
    """Cores have rows and columns, so they share at most two loops that stand one inside the other."""
    if width_of(made.code) > 2:
        shared = [d for d in made.plan.directives if isinstance(d, Parallel)]
        why = "cores share at most two loops that stand one inside the other"
        raise InputError("illegal-plan", why, shared[-1].loc, "leave the directive out")


def _with_local_memory(plan: Plan, text: SunwayText, group: CoreGroup) -> tuple[Directive, ...]:
    """The directives with those about local memory, as they came out. What a plan asks for must have come out."""
    for d in plan.directives:
        if isinstance(d, InLanes):
            _check_lanes(d, text, group)
        elif isinstance(d, (StageIn, OnMesh, TimeSteps)):
            _check_staged(d, text)
    done = {(d.array, d.stmt) for d in text.stays}
    for d in plan.directives:
        if isinstance(d, Stay) and (d.array, d.stmt) not in done:
            why = text.missed.get(d.array, f"no kernels hand it on that use it first in {d.stmt}")
            raise InputError("illegal-plan", f"`{d.array}` cannot stay on its cores: {why}", d.loc, "leave it out")
    others = (d for d in plan.directives if not isinstance(d, (Stay, StageIn, OnMesh, TimeSteps, InLanes)))
    return (*others, *text.staged, *text.stays)


def _check_lanes(d: InLanes, text: SunwayText, group: CoreGroup) -> None:
    lanes = [x for x in text.staged if isinstance(x, InLanes)]
    done = [x for x in lanes if x.loop.name == d.loop.name and d.loop.stmt in ("", x.loop.stmt)]
    if d.vectors * d.rows > group.registers - OPERANDS:
        why = f"{d.vectors * d.rows} vectors do not stay in {group.registers} registers, beside operands"
        raise InputError("illegal-plan", why, d.loc, "make the block smaller")
    if not done:
        why = "vectors need one statement in loops of step one, on local data that it does not read again"
        raise InputError("illegal-plan", f"loop `{d.loop.name}` cannot run in lanes: {why}", d.loc, "leave it out")
    if not any((x.vectors, x.row, x.rows) == (d.vectors, d.row, d.rows) for x in done):
        x = done[0]
        block = f"stays in registers, for rows of {f'`{x.row}`' if x.row else 'no loop'}"
        why = f"a block {block}" if x.vectors > 1 or x.row else "nothing is added up that could stay in registers"
        raise InputError("illegal-plan", f"loop `{d.loop.name}` has no such block: {why}", d.loc, "leave the block out")


def _check_staged(d: StageIn | OnMesh | TimeSteps, text: SunwayText) -> None:
    hint = "leave it out"
    if isinstance(d, TimeSteps):
        if not any(isinstance(x, TimeSteps) and x.loop.name == d.loop.name for x in text.staged):
            why = "it is no loop over sweeps of a stencil, or tiles like that are not made or do not fit"
            raise InputError("illegal-plan", f"loop `{d.loop.name}` cannot run in steps: {why}", d.loc, hint)
        return
    if isinstance(d, OnMesh):
        if not any(isinstance(x, OnMesh) and x.stmt == d.stmt for x in text.staged):
            why = "it is no product of which every core has tiles of both operands, fetched ahead"
            raise InputError("illegal-plan", f"{d.stmt} cannot be shared across the mesh: {why}", d.loc, hint)
        return
    stages = [x for x in text.staged if isinstance(x, StageIn)]
    found = [x for x in stages if (x.array, x.loop) == (d.array, d.loop)]
    if not found:
        why = text.left.get(d.array, "it is in local memory already, or not used there")
        raise InputError("illegal-plan", f"`{d.array}` cannot be staged here: {why}", d.loc, hint)
    if d.ahead and not any(x.ahead for x in found):
        why = "it is written, or the same in every iteration, or there is no room for two boxes"
        raise InputError("illegal-plan", f"`{d.array}` cannot be fetched ahead: {why}", d.loc, "leave `ahead` out")
