"""One region for a core group: plan, proof, text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from codegen.diagnostics import Diagnostic, Unsupported
from codegen.machine import load as load_machine
from codegen.options import GenOptions
from codegen.plan.text import show
from codegen.record import record
from codegen.region import OPERATIONS, Made, Modelled, RegionOutcome, as_written, attempt, indent, make, summarize
from codegen.scop.tree import Loop
from codegen.source.slice import RegionSlice
from codegen.sunway.emit import emit_sunway
from codegen.sunway.launch import has_kernel
from codegen.sunway.machine import CoreGroup, group_for
from codegen.sunway.strategy import Sizes, sunway_plan
from codegen.sunway.style import STYLES
from codegen.sunway.threads import Grid, parse_grid
from codegen.sunway.tiles import TileModel
from codegen.transform.program import Program


@record
class FixedSizes:
    """The published scheme: one size for all loops."""

    size: int

    def __call__(self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...], width: int) -> Mapping[str, int]:
        return {lp.name: self.size for lp in loops}

    def diagonal(self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...]) -> tuple[int, ...]:
        return ()


# Parts of local memory that tiles are planned for, one after the other: boxes may turn out larger than estimated.
SHARES = (1.0, 0.5, 0.25)


def author_of(options: GenOptions, share: float = 1.0) -> tuple[Grid, CoreGroup, Sizes]:
    """Who decides on tiles, for tiles that take this part of local memory."""
    grid = parse_grid(options.threads)
    group = group_for(options.machine)
    return grid, group, FixedSizes(32) if options.scheme.startswith("published") else TileModel(
        group, grid, STYLES[options.scheme].mesh, share
    )


def for_cores(s: RegionSlice, model: Modelled, options: GenOptions, original: str) -> RegionOutcome:
    """The region as launches on a core group, with smaller tiles where those that were planned do not fit."""
    fixed = options.plan_text is not None or options.scheme.startswith("published")
    for share in () if fixed else SHARES:
        try:
            return _on_cores(s, model, options, original, share, True)
        except Unsupported as error:
            if error.id != "sunway-ldm":
                raise
    return _on_cores(s, model, options, original, 1.0, False)


def _on_cores(
    s: RegionSlice, model: Modelled, options: GenOptions, original: str, share: float, strict: bool
) -> RegionOutcome:
    """With tiles for a part of local memory; `strict` if all arrays have to fit."""
    grid, group, sizes = author_of(options, share)
    made: Made | None = None
    problem: Diagnostic | None = None
    if options.plan_text is not None:
        made = make(model, options, machine=load_machine("generic"))
    else:
        tried: set[str] = set()
        for apart in (True, False):
            made, problem = attempt(model, partial(sunway_plan, model.program, group, grid, sizes, apart), tried)
            if made is not None:
                break
    if made is None:
        why = problem.message if problem is not None else "no plan was found"
        raise Unsupported("no-proof", why, model.program.scop.loc, "split the region into smaller ones")
    if not has_kernel(made.code):
        raise Unsupported(
            "no-parallelism", "no loop of it can run on the compute cores in parallel", model.program.scop.loc
        )
    plan = replace(made.plan, digest=model.digest)
    scop = made.program.scop
    fallback = as_written(original)
    ctx = isl.DEFAULT_CONTEXT
    ctx.reset_operations()
    ctx.set_max_operations(OPERATIONS)
    try:
        text = emit_sunway(
            scop, made.program.deps, made.code, fallback, indent(original, s.region.indent), summarize(plan), group,
            grid, STYLES[options.scheme], options.model, strict,
        )  # fmt: skip
    except isl.Error as error:
        raise Unsupported(
            "isl-failed", f"isl could not find its footprints: {str(error).splitlines()[0]}", scop.loc
        ) from None
    finally:
        ctx.set_max_operations(0)
    return RegionOutcome(
        s.region.index,
        s.region.first_line,
        text.master,
        text.helpers,
        frozenset(),
        show((plan,), {scop.region: scop}),
        summarize(plan),
        (*model.remarks, *made.remarks, *text.remarks),
        text.slave,
    )
