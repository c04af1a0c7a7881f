"""The text that `inspect` prints on a file: one block per region, with its model, the plan, the order after the plan,
tile data and ownership, or why it is left as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from codegen.ast.ctree import Instance
from codegen.ast.ctree import walk as walk_code
from codegen.children.worker import Died, run_limited
from codegen.diagnostics import InputError, Unsupported, fault
from codegen.isa.known import use as use_isa
from codegen.limits import LimitPassed, analysis
from codegen.machine import Machine, load_for
from codegen.options import GenOptions
from codegen.plan.text import show_directive
from codegen.plan_reader.hinted import with_own_plan
from codegen.recognize.reductions import find_reductions
from codegen.region import ProvenRegion, make
from codegen.region_model import Modelled, model_region
from codegen.report.ownership import ownership
from codegen.report.sample import sample
from codegen.report.speed import Speed
from codegen.report.traffic import work_of
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import Band, Hold, Leaf, Node, enclosing, kids
from codegen.source.region_slice import RegionSlice
from codegen.source_file import open_source
from codegen.strategy.author import Considered
from codegen.targets.registry import target_named


def describe_file(path: str, text: str, options: GenOptions, speeds: Mapping[int, Speed] | None = None) -> str:
    """All regions of a file."""
    source = open_source(path, text, options)
    machine = load_for(options.machine, use_isa(options.isa))
    if not source.regions:
        return f"{source.name}: no region\n"
    active = {s.region.index: s for s in source.slices}
    parts = [f"{source.name}: {len(source.regions)} region(s), machine {machine.name}"]
    for region in source.regions:
        head = f"\nregion {region.index}, lines {region.first_line} to {region.last_line}"
        if region.index not in active:
            parts += [head, "  switched off by the preprocessor"]
            continue
        parts += [head, *_bounded(active[region.index], options, machine)]
        if speeds and region.index in speeds:
            parts.append(f"  measured on one thread: {speeds[region.index].text}")
    return "\n".join(parts) + "\n"


def _bounded(s: RegionSlice, options: GenOptions, machine: Machine) -> list[str]:
    try:
        return run_limited(lambda: _region(s, options, machine), analysis(options.timeout))
    except LimitPassed as error:
        return [f"  left as it is: the analysis {error} [limit-passed]"]
    except RecursionError:
        return ["  left as it is: its expressions are nested too deeply [nesting-too-deep]"]
    except Died:
        return ["  left as it is: the analysis crashed [worker-died]"]
    except InputError:
        raise
    except Exception as error:
        return [f"  left as it is: internal error: {fault(error)}; please report it [internal-error]"]


def _region(s: RegionSlice, options: GenOptions, machine: Machine) -> list[str]:
    options = with_own_plan(s.region, s.file, options)
    try:
        model = model_region(s, options)
        if model is None:
            return ["  nothing in it"]
        seen = _model(model)
        own = target_named(options.target).described(model, options)
        if own is not None:
            return [*seen, *own]
        made = make(model, options, machine)
    except Unsupported as error:
        out = [f"  left as it is: {error.message} [{error.id}]", f"    at {error.loc}"]
        return [*out, f"    {error.hint}"] if error.hint else out
    return [*seen, *_result(made, machine), *target_named(options.target).shared(model, options)]


def _model(model: Modelled) -> list[str]:
    p = model.program
    scop = p.scop
    out = [f"  function {scop.function}, parameters: {', '.join(q.text for q in scop.params) or 'none'}"]
    if scop.guard.reasons:
        out.append(f"  holds only if: {'; '.join(scop.guard.reasons)} (tested at run time)")
    out += ["  arrays", *(f"    {line}" for line in array_lines(scop))]
    out.append("  statements")
    for s in scop.statements:
        out += [f"    {s.name} line {s.loc.line}: {s.source}", f"       {set_text(str(s.domain))}"]
    out.append("  dependences")
    for d in p.deps.all:
        for m in maps_of(d.relation):
            out.append(f"    {d.kind:6} through {scop.arrays[d.array].base}: {set_text(str(m))}")
    folds = [f"{r.stmt} ({r.op}{', any order' if r.exact or p.reassociate else ''})" for r in find_reductions(scop)]
    if folds:
        out.append(f"  reductions: {', '.join(folds)}")
    return [*out, "  order in the source", *(f"    {line}" for line in show_tree(p.tree))]


def array_lines(scop: Scop) -> list[str]:
    """One line for each array."""
    out = []
    for name in sorted(scop.arrays):
        a = scop.arrays[name]
        uses = sorted({"write" if x.write else "read" for _, x in scop.accesses() if x.array == name})
        dims = "".join(f"[{e or '?'}]" for e in a.extents) if a.extents else ""
        what = "subscripts depend on data" if a.opaque else "scalar" if a.rank == 0 else f"rank {a.rank}"
        own = f", one per iteration of {a.scope} loops" if a.inside else ""
        out.append(f"{(a.part or a.elem).shown} {name}{dims}: {what}, {'/'.join(uses)}{own}")
    return out


def set_text(text: str) -> str:
    """isl's notation without the list of parameters."""
    return text.split("->", 1)[1].strip() if text.startswith("[") else text


def show_tree(node: Node) -> list[str]:
    """A schedule tree as an indented outline."""
    if isinstance(node, Leaf):
        return [node.stmt]
    if isinstance(node, Hold):
        names = ", ".join(s.array for s in node.slots)
        return [f"storage for {names}", *("  " + line for line in show_tree(node.child))]
    if isinstance(node, Band):
        words = []
        for lp in node.loops:
            extra = [x for x in (lp.kind, lp.note) if x]
            words.append(lp.name + (f" ({', '.join(extra)})" if extra else ""))
        return [f"loop {', '.join(words)}", *("  " + line for line in show_tree(node.child))]
    return [line for child in kids(node) for line in show_tree(child)]


def _result(made: ProvenRegion, machine: Machine) -> list[str]:
    scop = made.program.scop
    out = ["  plan"]
    for d in made.plan.directives:
        out += [f"    {line}" for line in show_directive(d, scop)]
    out += ["  order after the plan", *(f"    {line}" for line in show_tree(made.tree))]
    out.append("  data of one tile")
    for s in scop.statements:
        if any(lp.tile for lp in enclosing(made.tree, s.name)):
            out += [f"    {s.name}: about {n / 1024:.0f} KiB ({_levels(machine)})" for n in _tile_bytes(made, s)]
    if out[-1] == "  data of one tile":
        out.pop()
    out += ownership(made.program, made.tree, machine)
    copies = sum(isinstance(n, Instance) for n in walk_code(made.code))
    out.append(
        f"  proven: every instance once, dependences kept, no race, subscripts and storage right; "
        f"{copies} statements in the code"
    )
    out += [f"  {r.message}" for r in made.remarks if r.severity.value == "remark"]
    if made.considered:
        out += ["  techniques", *(f"    {line}" for line in technique_lines(made.considered))]
    return out


def technique_lines(found: Sequence[Considered]) -> list[str]:
    """What the planner thought of, for the region and for each nest, in the order of its table."""
    out = []
    for stmts in dict.fromkeys(c.stmts for c in found):
        where = f"for {', '.join(stmts)}" if stmts else "for the region"
        out.append(where)
        for c in dict.fromkeys(c for c in found if c.stmts == stmts):
            out.append(f"  {c.technique}: {c.why or taken_words(c)}")
    return out


def taken_words(c: Considered) -> str:
    return "taken" if c.cycles is None else f"taken, about {c.cycles:.2g} cycles an iteration"


def _tile_bytes(made: ProvenRegion, s: Statement) -> list[int]:
    """What a tile touches; empty where isl gives no answer."""
    try:
        at = sample(made.program.scop, made.tree, s)
        return [sum(n for _, n in work_of(made.program.scop, made.tree, s, at).parts)] if at is not None else []
    except isl.Error:
        return []


def _levels(machine: Machine) -> str:
    return ", ".join(f"L{c.level} {c.bytes // 1024} KiB" for c in machine.caches)
