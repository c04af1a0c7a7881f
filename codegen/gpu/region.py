"""Takes one region through a device target: its plan (the user's or the tool's own), the proofs of its loops, and its
text as host code and kernels. Returns the RegionOutcome, or raises Unsupported."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from codegen.ast.ctree import Block, CNode, For, Instance, walk
from codegen.ast.generate import MissingLoop
from codegen.ast.generate import generate as generate_ast
from codegen.diagnostics import Diagnostic, InputError, Severity, Unsupported
from codegen.gpu.body import check_region
from codegen.gpu.dialect import Dialect
from codegen.gpu.emit import DeviceCode, emit_device
from codegen.gpu.kernels import has_grid
from codegen.gpu.plan.device import Device, load_device
from codegen.gpu.plan.forms import Form, forms
from codegen.gpu.plan.panels import PanelPlan, panel_plan
from codegen.gpu.plan.strategy import device_plan, in_strips
from codegen.gpu.plan.triangles import triangle_plan
from codegen.gpu.staged.choose import staged_loops, with_staged_loops
from codegen.gpu.staged.terms import adds_terms, term_loops, with_terms
from codegen.gpu.stream.choose import step_tiles, with_steps
from codegen.gpu.tiles.choose import in_tiles, tiled_by, tiled_products
from codegen.gpu.tiles.find import NoTiles
from codegen.options import GenOptions
from codegen.plan.model import Grid, Plan, Tile
from codegen.plan.text import show
from codegen.plan_outcome import check_words
from codegen.region import AUTHORS, ProvenRegion, RegionOutcome, as_written, indent
from codegen.region_model import Modelled, too_much
from codegen.scop.effort import Exhausted, at_most, part
from codegen.scop.model import Scop
from codegen.scop.tree import GRID
from codegen.strategy.choice import Decision
from codegen.target.emit import Surroundings
from codegen.target.finish.names import names_for
from codegen.target.guards.buffers import functions_of
from codegen.targets.base import RegionJob
from codegen.targets.registry import target_named
from codegen.transform.apply import apply_plan
from codegen.transform.program import Program
from codegen.transform.storage import place_storage
from codegen.verify.overlap.check import overlap_test
from codegen.verify.proofs import prove


def for_device(job: RegionJob, dialect: Dialect) -> RegionOutcome:
    """The region as kernels. Raises Unsupported."""
    s, model, options = job.slice, job.model, job.options
    scop = model.program.scop
    check_region(scop, dialect.words)
    if dialect.probes and options.arrays != "host":
        raise Unsupported("gpu-array", "buffers of OpenCL are no pointers: arrays are copied", scop.loc,
                          "leave --arrays out")
    try:
        with at_most(part(options.timeout, AUTHORS[0])):
            made = made_for_device(model, options, dialect)
            scop = made.program.scop
            plan = replace(made.plan, digest=model.digest, part=model.piece)
            alias = overlap_test(scop, options.assume_no_alias, options.check_alias)
            names = names_for(options.prefix, (s.text[slice(*s.span)], job.original))
            old = as_written(job.original)
            around = Surroundings(old, indent(job.original, s.region.indent), summary_of(made), alias.text, names)
            text = emit_device(scop, made.program.deps, device_code(made, options), around, dialect, options.arrays)
    except Exhausted:
        raise too_much(options, scop.loc) from None
    except isl.Error as error:
        why = f"isl could not find its kernels: {str(error).splitlines()[0]}"
        raise Unsupported("isl-failed", why, scop.loc) from None
    helpers = text.helpers | alias.helpers | functions_of(text.host)
    return RegionOutcome(
        s.region.index, s.region.first_line, text.host, helpers, frozenset(),
        show((plan,), {scop.region: scop}), summary_of(made), (*model.remarks, *made.remarks, *alias.remarks),
        text.part, names=text.names, computed=text.computed,
    )  # fmt: skip


def device_code(made: ProvenRegion, options: GenOptions) -> DeviceCode:
    """What is printed: the tree, and its products in tiles. All of it is proven."""
    tiled = {x.nest.statement.name: x for x in tiled_products(made.program, made.code)}
    device = load_device(options.device)
    staged = staged_loops(made.program, made.code, device.shared_per_block)
    terms = term_loops(made.program, made.code)
    return DeviceCode(made.code, tiled, device, staged, terms, step_tiles(made.program, made.code, device))


def made_for_device(model: Modelled, options: GenOptions, dialect: Dialect) -> ProvenRegion:
    """A proven program, by the user's plan if there is one, else by our own."""
    scop = model.program.scop
    if options.plan_text is not None:
        from codegen.plan_reader.parse import parse

        plans = parse(options.plan_text, options.plan_name, {scop.region: scop}, model.piece)
        if plans:
            check_words(plans[0], target_named(options.target))
            return _by_user(model, plans[0])
    decision, code = _own_plan(model, load_device(options.device), dialect)
    if dialect.tiles:
        decision = in_tiles(decision, code, load_device(options.device))
        decision = with_staged_loops(decision, code, load_device(options.device))
        decision = with_terms(decision, code)
        decision = with_steps(decision, code, load_device(options.device))
    remarks = (*decision.remarks, *_alone(decision.program.scop, code))
    return ProvenRegion(decision.program, decision.plan, decision.program.tree, code, remarks)


def _own_plan(model: Modelled, device: Device, dialect: Dialect) -> tuple[Decision, CNode]:
    """A plan of the tool's own: in another form of the region where that has more products in tiles."""
    source, best, problem = Form(model.program, ()), None, None
    try:
        best = _planned(source, device, dialect)
    except Unsupported as error:
        problem = error
    for form in forms(model.program, device) if dialect.tiles else ():
        try:
            found = _planned(form, device, dialect)
        except (Unsupported, InputError):
            continue
        if _tiled(found, device) > (_tiled(best, device) if best is not None else 0):
            best = found
    if best is None:
        assert problem is not None
        raise problem
    return best


def _tiled(found: tuple[Decision, CNode], device: Device) -> int:
    """How many products run in tiles."""
    return len(tiled_by(in_tiles(*found, device)))


def _planned(form: Form, device: Device, dialect: Dialect) -> tuple[Decision, CNode]:
    """In panels where all of their products run in tiles, with strips for stencils where these can be proven."""
    plain = device_plan(form.program, device, dialect.tiles)
    panels = _in_blocks(form.program, plain, device) if dialect.tiles else None
    if panels is not None:
        try:
            code = proven_loops(panels.decision.program)
        except Unsupported:
            code = None
        if code is not None and panels.products <= tiled_by(in_tiles(panels.decision, code, device)):
            return _after(form, panels.decision), code
    cut = in_strips(form.program, plain, device)
    if any(isinstance(d, Tile) for d in cut.plan.directives):
        try:
            return _after(form, cut), proven_loops(cut.program)
        except Unsupported:
            pass
    return _after(form, plain), proven_loops(plain.program)


def _in_blocks(p: Program, plain: Decision, device: Device) -> PanelPlan | None:
    """A plan in which a loop is cut so that most of the work is products."""
    return panel_plan(p, plain, device) or triangle_plan(p, device)


def _after(form: Form, d: Decision) -> Decision:
    """The plan with the form's own directives ahead."""
    return replace(d, plan=replace(d.plan, directives=(*form.directives, *d.plan.directives)))


def _by_user(model: Modelled, plan: Plan) -> ProvenRegion:
    if plan.digest and plan.digest != model.digest:
        hint = f"make it anew, or replace its digest by {model.digest} after checking it"
        raise InputError("stale-plan", f"the plan was made for another version of region {plan.region}", plan.loc, hint)
    program = apply_plan(model.program, plan)
    try:
        code = proven_loops(program)
        tiled_products(program, code)
        staged_loops(program, code)
        step_tiles(program, code)
    except NoTiles as error:
        raise InputError("illegal-plan", f"tiles cannot carry this out: {error}", plan.loc,
                         "remove `registers`, `stage` and `steps`") from None
    except Unsupported as error:
        raise InputError("illegal-plan", f"the plan is illegal: {error.message}", plan.loc,
                         "change or remove the directive that causes it") from None
    return ProvenRegion(program, plan, program.tree, code, _alone(program.scop, code))


def proven_loops(p: Program) -> CNode:
    """The loops of a program, if all proofs go through. Raises Unsupported."""
    tree = place_storage(p.scop, p.deps, p.tree, p.stores)
    problem = ""
    for whole in (False, True):
        try:
            code = generate_ast(p.scop, tree, whole=whole, peel=False)
        except MissingLoop as error:
            raise Unsupported("no-proof", str(error), p.scop.loc) from None
        findings = prove(p.scop, p.deps, code)
        if not findings:
            _check_parts(p.scop, code)
            return code
        problem = problem or findings[0].message
    raise Unsupported("no-proof", f"no order for a device could be proven: {problem}", p.scop.loc,
                      "split the region into smaller ones")


def _check_parts(scop: Scop, code: CNode) -> None:
    """Raises Unsupported where there is nothing for threads, but for sums beside nests on threads that do more."""
    on_threads = {x.stmt for n in walk(code) if isinstance(n, For) and n.loop.kind == GRID
                  for x in walk(n) if isinstance(x, Instance)}  # fmt: skip
    most = max((len(scop.statement(n).iterators) for n in on_threads), default=0)
    for node in code.children if isinstance(code, Block) else (code,):
        inside = [x for x in walk(node) if isinstance(x, Instance)]
        if not has_grid(node) and (any(isinstance(x, For) for x in walk(node)) or node is code):
            if max(len(scop.statement(x.stmt).iterators) for x in inside) < most and adds_terms(scop, node):
                continue
            s = scop.statement(inside[0].stmt)
            raise Unsupported("no-parallelism", f"no loop around {s.name} can run on threads of a device", s.loc,
                              "it stays on the host")


def _alone(scop: Scop, code: CNode) -> tuple[Diagnostic, ...]:
    """Remarks on loops that one thread of the device runs by itself."""
    threads = {x.stmt for n in walk(code) if isinstance(n, For) and n.loop.kind == GRID
               for x in walk(n) if isinstance(x, Instance)}  # fmt: skip
    looped = {x.stmt for n in walk(code) if isinstance(n, For) for x in walk(n) if isinstance(x, Instance)}
    return tuple(
        Diagnostic(Severity.REMARK, "one-thread", f"{s.name} runs on one thread of the device", s.loc, kind="missed")
        for s in scop.statements if s.name in looped - threads
    )  # fmt: skip


def summary_of(made: ProvenRegion) -> str:
    """What was done, in a line."""
    found = [d for d in made.plan.directives if isinstance(d, Grid)]
    parts = ["by ".join(f"{ref.name}:{n} " for ref, n in d.loops).strip() for d in found]
    return "threads over " + ", ".join(dict.fromkeys(parts))
