"""What `inspect` shows for core groups: the tree after each step, local memory, transfers, and the cores' time."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

import islpy as isl

from codegen.ast.ctree import For, If, Instance, node_kids
from codegen.diagnostics import InputError, Loc, Unsupported
from codegen.limits import LimitPassed
from codegen.options import GenOptions
from codegen.plan.text import show_directive
from codegen.region_model import Modelled, model_region
from codegen.scop.dependences import param_space
from codegen.scop.tree import THREADED, Band, Hold, Leaf, Node, kids
from codegen.source.write import write_if_changed
from codegen.source_file import open_source
from codegen.sunway.forms import usual_form
from codegen.sunway.launch import LaunchPrinter
from codegen.sunway.mesh.panels import pool
from codegen.sunway.plan.launch_options import STYLES
from codegen.sunway.profit.decide import estimate
from codegen.sunway.region import author_of, check_kernels, made_for_cores
from codegen.sunway.region_form import OnCores
from codegen.sunway.resident import who_owns
from codegen.sunway.staging.local import LocalBuffer, SNode, Stage, staged_nodes
from codegen.sunway.staging.sharing import bound_axes, sharing_text
from codegen.transform.apply import apply
from codegen.verify.readback import TreePoint


def describe_cores(model: Modelled, options: GenOptions) -> list[str]:
    """One part per step."""
    grid, group, _ = author_of(options)
    out = [f"  cores: {grid} of {group.description}"]
    made = made_for_cores(model, options, 1.0)
    p = model.program
    for d in made.plan.directives:
        p = apply(p, d)
        title = "scheduled" if type(d).__name__ == "Schedule" else " ".join(show_directive(d, p.scop))
        out += [f"  tree after: {title}", *(f"    {x}" for x in tree_lines(p.tree))]
    scop = made.program.scop
    launch = LaunchPrinter(
        scop, made.program.deps, group, grid, f"{scop.function}_r{scop.region}", STYLES[options.scheme]
    )
    start = isl.Set.universe(param_space(scop).set_from_params()).intersect_params(scop.context)
    try:
        check_kernels(made)
        launch.begin(made.code, TreePoint(start, (), (), (), ())).entry()
    except Unsupported as error:
        return [*out, f"  left on the management core: {error.message} [{error.id}]"]
    for k in launch.kernels:
        out += [f"  kernel {k.name}{' (panels shared across the mesh)' if k.mesh else ''}", "    local memory"]
        at = 0
        axes = bound_axes(scop, k.tree)
        stmts = sorted({n.stmt for n in staged_nodes(k.tree) if isinstance(n, Instance)})
        if k.mesh:
            out.append(f"      {8 * pool(group)} bytes, cut up when the kernel starts; as planned:")
        for b in k.buffers:
            who = sharing_text(scop, b.array, stmts, axes)
            out.append(f"      {at:6}  {b.footprint:6} bytes  {b.name}: {_box(b)}{', two copies' if b.ahead else ''}"
                       f"{', fetched once for all cores' if b.common else ', ' + who if who else ''}")  # fmt: skip
            at += b.footprint
        out.append(f"      {at:6}  of {group.ldm_bytes}, {group.reserve} kept for the stack and reply words")
        out += ["    tree with its transfers", *(f"      {x}" for x in staged_lines(k.tree))]
        out.append("    transfers")
        for b in k.buffers:
            out += [f"      {line}" for line in _transfers(b)]
        out += [f"      {a} stays in main memory: {why}" for a, why in sorted(k.left.items())]
    for s, shape in launch.stencils:
        sides = " x ".join(map(str, shape.sides))
        out.append(f"  time tiles of {sides}, {shape.steps} steps at once, margin {shape.halo(s)}")
    for r in launch.residents:
        size = r.slots * r.box.size * r.box.bytes
        out.append(f"  stays on its cores: {r.array}, {r.slots} tiles of {_box(r.box)} in {size} bytes of every core")
    between = who_owns(launch.owned, launch.residents, launch.missed)
    out += ["  between kernels", *(f"    {text}" for _, text in between)] if between else []
    return [*out, f"  barriers in the text: {launch.barriers}"]


def tree_lines(node: Node) -> list[str]:
    """The tree as an outline, with the marks above kernels and below bound loops."""
    if isinstance(node, Leaf):
        return [node.stmt]
    if isinstance(node, Hold):
        names = ", ".join(s.array for s in node.slots)
        return [f"storage for {names}", *("  " + x for x in tree_lines(node.child))]
    below = ["  " + x for k in kids(node) for x in tree_lines(k)]
    if isinstance(node, Band):
        loops = ", ".join(f"{lp.name}{' (cores)' if lp.kind in THREADED else ''}" for lp in node.loops)
        if any(lp.kind in THREADED for lp in node.loops):
            return ["mark: kernel", f"  band [{loops}]", "    mark: thread", *("    " + x for x in below)]
        free = "".join(str(int(lp.coincident)) for lp in node.loops)
        return [f"band [{loops}] coincident {free}", *below]
    return ["sequence", *below]


def staged_lines(node: SNode) -> list[str]:
    """A kernel as an outline, with transfers and waits where they are added to it."""
    if isinstance(node, Stage):
        gets = [b for b in node.buffers if b.get]
        before = [f"extension: get {b.name}{', one iteration ahead' if b.ahead else ''}" for b in gets]
        waits = [f"extension: wait for {', '.join(b.name for b in gets)}"] if gets else []
        puts = [f"extension: put {b.name}, waited for before its buffer is used again" for b in node.buffers if b.put]
        return ["sequence", *(f"  {x}" for x in (*before, *waits, *staged_lines(node.body), *puts))]
    if isinstance(node, Instance):
        return [node.stmt]
    below = [x for k in node_kids(node) for x in staged_lines(k)]
    if isinstance(node, For):
        return [f"for {node.loop.name}{' (cores)' if node.loop.kind in THREADED else ''}", *(f"  {x}" for x in below)]
    return [f"{type(node).__name__.lower()}", *(f"  {x}" for x in below)] if isinstance(node, If) else below


def _box(b: LocalBuffer) -> str:
    return " x ".join(map(str, b.most)) + f" of {b.bytes} bytes"


def _transfers(b: LocalBuffer) -> list[str]:
    loops = [n for n in b.most[:-2] if n > 1]
    many = f"{' x '.join(map(str, loops))} commands" if loops else "one command"
    kind = "contiguous" if len([n for n in b.most if n > 1]) < 2 else f"blocks of up to {b.most[-1] * b.bytes} bytes"
    out = []
    if b.get:
        early = ", one tile ahead" if b.ahead else ""
        out.append(f"get {b.array}: {many} of up to {b.size * b.bytes} bytes, {kind}{early}")
    if b.put:
        out.append(f"put {b.array}: {many} of up to {b.size * b.bytes} bytes, {kind}")
    return out


def timeline(path: str, text: str, options: GenOptions, sizes: Mapping[str, int], picture: str) -> list[str]:
    """Run the timing model at these sizes; the cores' time as lines of text, and as a picture if a file is named.
    ValueError for sizes that the regions do not have."""
    from codegen.sunway.emulation.host import build_library
    from codegen.sunway.emulation.predict import model_program, predict, scalars
    from codegen.sunway.emulation.timeline import read_trace, svg, text_rows

    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        work = Path(folder)
        try:
            program = model_program(path, options, work, build_library(work), text=text)
        except Unsupported as error:
            return [f"predicted: no time, and no picture: {error.message}"]
        except FileNotFoundError as error:
            raise InputError(
                "no-compiler", f"there is no {error.filename}, which the timing model is built with", Loc("--sizes"),
                "install gcc, or leave --sizes out",
            ) from None  # fmt: skip
        _check_sizes(sizes, scalars(program))
        expected = _estimated(path, text, options, sizes)
        try:
            found = predict(program, sizes, options.machine, work / "trace", options.timeout)
        except LimitPassed as error:
            why = f"the timing model {error} at these sizes; give it more with --timeout, or smaller sizes"
            return [f"predicted: no time line, and no picture: {why}", *expected]
        events = read_trace(work / "trace")
    if picture:
        at = ", ".join(f"{name} = {n}" for name, n in sizes.items())
        title = f"{os.path.basename(path)} at {at}: {found.seconds * 1e3:.3f} ms predicted"
        write_if_changed(picture, svg(events, found.cycles, found.seconds, title))
    counts = ", ".join(f"{k} {v:.0f}" for k, v in found.counts.items() if v)
    return [f"predicted: {found.seconds * 1e3:.3f} ms ({counts})", *expected, *text_rows(events, found.cycles)]


def _estimated(path: str, text: str, options: GenOptions, sizes: Mapping[str, int]) -> list[str]:
    """The first region's times without running the model, on the cores and on the management core."""
    region = open_source(path, text, options).slices[0]
    model = model_region(region, options)
    if model is None:
        return []
    group = author_of(options)[1]
    found = estimate(model.program, launches_of(model, options), group, sizes)
    ms = f"{found.management * 1e3:.3f} ms on the management core, {found.cores * 1e3:.3f} ms on the compute cores"
    return [f"estimated: {ms}, {found.factor:.3g} times as fast, with {found.commands:.0f} transfers"]


def launches_of(model: Modelled, options: GenOptions) -> list[LaunchPrinter]:
    """What a region becomes on the cores, in its usual form."""
    grid, group, _ = author_of(options)
    how = OnCores(group, grid, STYLES[options.scheme], strict=False)
    form = usual_form(made_for_cores(model, options, 1.0), how)
    return [x.launch for x in form.launches]


def _check_sizes(given: Mapping[str, int], have: Mapping[str, str]) -> None:
    """Each parameter that counts something has a size, and no other name has one."""
    needed = [name for name, kind in have.items() if not re.search(r"\b(?:float|double)\b", kind)]
    wrong = [name for name in given if name not in have]
    if wrong:
        raise ValueError(f"there is no parameter '{wrong[0]}'; there are {', '.join(needed) or 'none'}")
    missing = [name for name in needed if name not in given]
    if missing:
        raise ValueError(f"a size for {', '.join(missing)} is missing")
