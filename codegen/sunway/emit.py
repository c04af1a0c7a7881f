"""Prints a region for a core group: the text that replaces it in the master file, and its part of the slave file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import islpy as isl

from codegen.ast.ctree import Block, CNode
from codegen.diagnostics import Diagnostic, Severity, Unsupported
from codegen.plan.model import LocalMemory, Stay
from codegen.recognize.access.struct_members import layout_tests
from codegen.record import record
from codegen.scop.dependences import Dependences, param_space
from codegen.scop.expr import Cast
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop
from codegen.scop.types import CType
from codegen.sunway.arguments import Field, fields_of, spawned
from codegen.sunway.expressible import check_expressible
from codegen.sunway.launch import LaunchPrinter
from codegen.sunway.master_text import proven_master
from codegen.sunway.plan.launch_options import OURS, LaunchOptions
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.plan.threads import CoreGrid
from codegen.sunway.resident import who_owns
from codegen.sunway.staging.directives import StagingDirectives
from codegen.sunway.survey import has_kernel
from codegen.sunway.text.bodies import base_type
from codegen.sunway.text.views import SlaveFunction, SlaveView, line, prune, texts
from codegen.target.emit import Surroundings, _unused, deeper
from codegen.target.finish.names import entries_of
from codegen.target.guards.alias import SEPARATE
from codegen.target.guards.computed_parameters import computed_texts, needed
from codegen.target.guards.guard import all_of, guard_text
from codegen.target.guards.tile_offsets import ahead_numbers
from codegen.target.pragmas import pragma_makers
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import texts_of
from codegen.target.text.templates import environment
from codegen.target.view import View as MasterView
from codegen.target.view import ViewBuilder
from codegen.verify.cores.check import (
    EntryTask,
    KernelTask,
    proven_kernel,
    proven_steps,
    wrong_entry,
    wrong_mesh,
)
from codegen.verify.cores.kernel import KernelReader
from codegen.verify.cores.launches.arguments import wrong_launch
from codegen.verify.cores.launches.entry import Stepped
from codegen.verify.cores.records import KernelNames
from codegen.verify.cores.steps.read import SteppedTask
from codegen.verify.finish import broken_lines
from codegen.verify.guards import check_ahead_of
from codegen.verify.readback import TreePoint
from codegen.verify.text.read import Unread

_WORD = re.compile(r"[A-Za-z_]\w*")
@record
class SlavePart:
    """What one region adds to the slave file and to the header. Strings only, so that it can be pickled."""

    functions: tuple[SlaveFunction, ...]
    structs: tuple[tuple[str, tuple[str, ...]], ...]
    entries: tuple[str, ...]
    typedefs: frozenset[str]
    helpers: frozenset[str]
    math: bool
    report: str
    holds: bool = False  # tiles stay on their cores between kernels


@record
class SunwayText:
    master: str
    helpers: frozenset[str]
    slave: SlavePart
    launched: tuple[LaunchPrinter, ...]
    remarks: tuple[Diagnostic, ...]
    stays: tuple[Stay, ...]  # tiles that stay on their cores, as a plan says it
    staged: tuple[LocalMemory, ...]  # what else is in local memory, in the same way
    left: Mapping[str, str]  # arrays that cores use in main memory, and why
    missed: Mapping[str, str]  # arrays that pass through main memory between kernels, and why
    names: frozenset[str] = frozenset()  # see RegionText


@record
class OnCores:
    """How kernels are made: for which cores, and whether all arrays have to fit their local memory (`strict`). `wanted`
    has the tiles that are to stay on their cores, if a plan says so."""

    group: CoreGroup
    grid: CoreGrid
    style: LaunchOptions = OURS
    model: bool = False
    strict: bool = True
    wanted: Mapping[tuple[str, str], int] | None = None
    staging: StagingDirectives | None = None


def emit_sunway(scop: Scop, deps: Dependences, code: CNode, around: Surroundings, how: OnCores) -> SunwayText:
    """The region's new text, for a proven tree whose parallel loops are tile loops. Names are exchanged in the master's
    text only. Raises Unsupported."""
    check_expressible(scop)
    builder = ViewBuilder(scop, pragma_makers(scop, threads=False), threads=False)
    made = _Launched(list(ahead_numbers(scop, threads=False, words={x.param for x in scop.aheads})))
    for kind, part in pieces(code):
        if kind == "master":
            made.views.extend(proven_master(scop, part, builder.build(part)))
        else:
            made.launch(scop, deps, part, how)
    text = _master_text(scop, made, around, builder.helpers)
    for launch, (_, members) in zip(made.launches, made.structs, strict=True):
        _prove_start(launch, members, text)
    launches, original = made.launches, around.original.rstrip("\n")
    names = replace(around.names, entries=entries_of(x.name for x in launches))
    return SunwayText(
        _finished(scop, names.of(text), original),
        frozenset(builder.helpers),
        made.slave_part(_typedefs(scop)),
        tuple(launches),
        tuple(_remarks(scop, launches)),
        tuple(Stay(r.array, r.first, r.slots) for x in launches for r in x.residents),
        tuple(d for x in launches for d in x.staged),
        {a: why for x in launches for k in x.kernels for a, why in k.left.items()},
        {a: why for x in launches for a, why in x.missed.items()},
        names.new(text),
    )


@dataclass
class _Launched:
    """What becomes of a region's parts, one after the other: views of the master's text, and launches with their
    functions and arguments."""

    views: list[MasterView]
    launches: list[LaunchPrinter] = field(default_factory=list)
    functions: list[SlaveFunction] = field(default_factory=list)
    structs: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def launch(self, scop: Scop, deps: Dependences, part: CNode, how: OnCores) -> None:
        """A part for the cores."""
        name = f"{scop.function}_r{scop.region}" + (f"_{len(self.launches) + 1}" if self.launches else "")
        launch = LaunchPrinter(scop, deps, how.group, how.grid, name, how.style, how.model, how.strict, how.wanted,
                        how.staging)  # fmt: skip
        everywhere = isl.Set.universe(param_space(scop).set_from_params()).intersect_params(scop.context)
        body = launch.entry(part, TreePoint(everywhere, (), (), (), ()))
        self.launches.append(launch)
        fields, found = _functions(scop, launch, body)
        self.functions.extend(found)
        self.structs.append((f"{name}_args", tuple(f.declaration for f in fields)))
        self.views.extend(spawned(name, fields))

    def slave_part(self, typedefs: frozenset[str]) -> SlavePart:
        helpers = frozenset[str]().union(*(x.helpers for x in self.launches))
        entries, report = tuple(x.name for x in self.launches), "\n".join(_report(x) for x in self.launches)
        holds = any(x.residents for x in self.launches)
        return SlavePart(tuple(self.functions), tuple(self.structs), entries, typedefs, helpers, True, report, holds)


def _master_text(scop: Scop, made: _Launched, around: Surroundings, helpers: set[str]) -> str:
    """What replaces the region in the master's file: launches behind a guard, and the original beside them."""
    ints = IntPrinter({p.name: p for p in scop.params}, {}, helpers)
    layouts, original, views = layout_tests(scop), around.original.rstrip("\n"), made.views
    guard = all_of((guard_text(scop, ints), around.alias, *layouts.values()))
    reasons = [*scop.guard.reasons, *([SEPARATE] if around.alias else [])]
    reasons += [f"members of {a} lie side by side" for a in layouts]
    ahead = needed(computed_texts(scop, ints), " ".join((guard, *texts_of(views))))
    text = (
        environment()
        .get_template("sunway/region.c.j2")
        .render(
            views=views, indent=around.indent, number=scop.region, function=scop.function, summary=around.summary,
            guard=guard,
            reasons=", and ".join(reasons), original=deeper(original), ahead=ahead,
            plain=original, unused=_unused(scop, views, bool(guard), " ".join(ahead)),
        )
    )  # fmt: skip
    check_ahead_of(scop, text, guard_text(scop, ints), computed_texts(scop, ints))
    return text


def _finished(scop: Scop, text: str, original: str) -> str:
    """The text for the file; lines that the user wrote stay."""
    try:
        return broken_lines(text, [original, deeper(original)]).rstrip("\n") + "\n"
    except Unread as problem:
        raise Unsupported("no-proof", f"what stands in the file is not what was proven: {problem}", scop.loc) from None


def _remarks(scop: Scop, launches: Sequence[LaunchPrinter]) -> list[Diagnostic]:
    """Arrays that cores reach in main memory, where an access takes long; and what stays with its core."""
    far = [
        Diagnostic(Severity.REMARK, "main-memory", f"`{a}` stays in main memory: {why}", scop.loc, kind="missed")
        for x in launches for k in x.kernels for a, why in sorted(k.left.items())
    ]  # fmt: skip
    own = [
        Diagnostic(Severity.REMARK, "ownership", text, scop.loc, kind=kind)
        for x in launches for kind, text in who_owns(x.owned, x.residents, x.missed)
    ]  # fmt: skip
    return [*far, *own]


def pieces(code: CNode) -> list[tuple[str, CNode]]:
    """Runs of top-level parts for the cores, and what stays on the master between them."""
    parts = list(code.children) if isinstance(code, Block) else [code]
    if not any(has_kernel(p) for p in parts):
        return [("master", code)]
    out: list[tuple[str, list[CNode]]] = []
    for p in parts:
        kind = "launch" if has_kernel(p) else "master"
        if out and out[-1][0] == kind:
            out[-1][1].append(p)
        else:
            out.append((kind, [p]))
    return [(kind, Block(tuple(ps)) if len(ps) > 1 else ps[0]) for kind, ps in out]


def _functions(
    scop: Scop, launch: LaunchPrinter, body: tuple[SlaveView, ...]
) -> tuple[list[Field], list[SlaveFunction]]:
    """All functions of a launch, each with what it takes out of the arguments."""
    fields = fields_of(scop, launch)
    w = launch.words
    made: list[SlaveFunction] = []
    written: list[str] = []
    known: dict[str, tuple[str, KernelTask, KernelReader | None]] = {}
    for k, f in enumerate(launch.functions):
        inner = prune(f.body)
        made.append(replace(f, body=prune((*_ids(launch, inner), *_unpacked(fields, inner), *inner))))
        written.append(function_text(made[-1]))
        if k in launch.tasks:
            task = launch.tasks[k]
            plain = not task.mesh and not launch.model
            known[_title(f.head)] = f.head, task, _prove(launch, task, written[-1]) if plain else None
            if task.mesh and not launch.model:
                _prove_mesh(launch, task, written[-1])
    entry = SlaveFunction(
        f"void {launch.name}({launch.name}_args *{w.args})", "every core runs this",
        (line(f"const int {w.id} = athread_get_id(-1);"), *_unpacked(fields, body), *body), False,
    )  # fmt: skip
    moves = {_title(made[k].head): (task, written[k]) for k, task in launch.movers.items()}
    stepped = {} if launch.model else {
        _title(made[k].head): _prove_steps(launch, task, written[k]) for k, task in launch.stepped.items()}  # fmt: skip
    joins = {_title(made[k].head): (task, written[k]) for k, task in launch.joins.items()}
    called = {_title(f.head): text for f, text in zip(made, written, strict=True)}
    _prove_entry(launch, EntryTask(*launch.root, known, moves, stepped, joins, called) if launch.root else None, entry)
    return fields, [*made, entry]


def _prove(launch: LaunchPrinter, task: KernelTask, text: str) -> KernelReader:
    """Raises Unsupported unless the text of a kernel is shown to do what its tree does."""
    try:
        return proven_kernel(launch.source, launch.deps, task, text, _own_words(launch))
    except Unread as problem:
        raise Unsupported(
            "no-proof", f"what a core would run could not be proven: {problem}", launch.scop.loc
        ) from None


def _prove_mesh(launch: LaunchPrinter, task: KernelTask, text: str) -> None:
    """Raises Unsupported unless the text of a product that cores share is shown to do what its tree does."""
    problem = wrong_mesh(launch.source, launch.deps, task, text, _own_words(launch))
    if problem:
        raise Unsupported("no-proof", f"a product on the mesh could not be proven: {problem}", launch.scop.loc)


def _prove_steps(launch: LaunchPrinter, task: SteppedTask, text: str) -> Stepped:
    """Raises Unsupported unless the text of many time steps is shown to do what the loop over them does."""
    try:
        return proven_steps(launch.source, launch.deps, task, text, _own_words(launch))
    except Unread as problem:
        raise Unsupported(
            "no-proof", f"many time steps at once could not be proven: {problem}", launch.scop.loc
        ) from None


def _prove_entry(launch: LaunchPrinter, task: EntryTask | None, entry: SlaveFunction) -> None:
    """Raises Unsupported unless kernels are called, cores wait for each other, and tiles that stay come and go as the
    tree needs it."""
    if launch.model or task is None:
        return
    problem = wrong_entry(launch.source, launch.deps, task, function_text(entry), _own_words(launch))
    if problem:
        raise Unsupported("no-proof", f"what all cores would run could not be proven: {problem}", launch.scop.loc)


def _prove_start(launch: LaunchPrinter, members: Sequence[str], text: str) -> None:
    """Raises Unsupported unless cores are started with the values that kernels were proven for."""
    problem = wrong_launch(launch.source, launch.task, members, text)
    if problem:
        raise Unsupported("no-proof", f"what cores would get could not be proven: {problem}", launch.scop.loc)


def function_text(f: SlaveFunction) -> str:
    """What is proven of a function: the statements of its body."""
    return str(environment().get_template("sunway/lines.j2").module.lines(f.body, ""))  # type: ignore[attr-defined]


def _title(head: str) -> str:
    return head[len("void ") : head.index("(")]


def _own_words(launch: LaunchPrinter) -> KernelNames:
    w, grid = launch.words, launch.grid
    return KernelNames(w.args, w.id, w.row, w.column, w.turn, w.tile, w.stays, grid.rows, grid.columns)


def _ids(launch: LaunchPrinter, body: tuple[SlaveView, ...]) -> tuple[SlaveView, ...]:
    words = _words(body)
    out = []
    w, columns = launch.words, launch.grid.columns
    if w.row in words:
        out.append(line(f"const int {w.row} = {w.id} / {columns}, {w.column} = {w.id} % {columns};"))
    return tuple(out)


def _words(views: Sequence[SlaveView]) -> set[str]:
    return set(_WORD.findall(" ".join(texts(tuple(views)))))


def _unpacked(fields: Sequence[Field], body: tuple[SlaveView, ...]) -> tuple[SlaveView, ...]:
    """Declarations of what the body mentions, and of what these mention."""
    words = _words(body)
    while True:
        more = {w for f in fields if f.name in words for w in _WORD.findall(f.unpack)} - words
        if not more:
            break
        words |= more
    return tuple(line(f.unpack) for f in fields if f.name in words and f.unpack)


def _typedefs(scop: Scop) -> frozenset[str]:
    """Type names of the source that bodies mention, as typedefs for the slave file."""
    found: set[str] = set()

    def note(t: CType | None) -> None:
        if t is not None and re.fullmatch(_WORD, t.spelling) and t.kind in ("float", "int"):
            plain = base_type(t)
            if t.spelling != plain and t.spelling not in plain.split() and t.spelling not in ("unsigned", "char"):
                found.add(f"typedef {plain} {t.spelling};")

    for s in scop.statements:
        for e in walk_expr(s.rhs):
            note(e.ctype if isinstance(e, Cast) else getattr(e, "ctype", None))
    for a in scop.arrays.values():
        note(a.elem)
    return frozenset(found)


def _report(launch: LaunchPrinter) -> str:
    return "\n".join(
        [f"launch {launch.name}: {len(launch.kernels)} kernels, {launch.barriers} barriers in its text"]
        + [f"  {r.array} stays on its cores: {r.slots} tiles of {r.box.size * r.box.bytes} B" for r in launch.residents]
        + [f"  {k.name}: " + (", ".join(f"{b.name} {b.footprint} B" for b in k.buffers) or "nothing staged")
           + "".join(f"; {a} stays in main memory ({why})" for a, why in sorted(k.left.items()))
           for k in launch.kernels]
    )  # fmt: skip
