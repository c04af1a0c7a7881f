"""Prints a region for a core group: the text that replaces it in the master file, and its part of the slave file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from codegen.diagnostics import Diagnostic, Severity, Unsupported
from codegen.plan.model import LocalMemory, Stay
from codegen.print.templates import environment
from codegen.recognize.access.struct_members import layout_tests
from codegen.record import record
from codegen.scop.expr import Cast
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop
from codegen.scop.types import CType
from codegen.sunway.arguments import Field, fields_of, spawned
from codegen.sunway.launch import LaunchPrinter
from codegen.sunway.master_text import proven_master
from codegen.sunway.read_back import (
    function_text,
    leaves_stores,
    prove_entry,
    prove_kernel,
    prove_mesh,
    prove_start,
    prove_steps,
    title_of,
)
from codegen.sunway.region_form import PrintedForm, PrintedLaunch, RegionForm, pieces
from codegen.sunway.resident import who_owns
from codegen.sunway.text import dialect
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
from codegen.target.view import View as MasterView
from codegen.target.view import ViewBuilder
from codegen.verify.cores.check import EntryTask, KernelTask
from codegen.verify.cores.kernel import KernelReader
from codegen.verify.finish import broken_lines
from codegen.verify.guards import check_ahead_of
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
    conditions: tuple[tuple[str, str], ...] = ()  # of launches that take the place of the usual ones, where one holds
    fuses: bool = True  # vectors may be multiplied and added in one operation


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


class RegionOnCores:
    """A region whose usual form is printed and proven; `emit` adds others. Raises Unsupported."""

    def __init__(self, usual: PrintedForm) -> None:
        self.usual, self.scop = usual, usual.form.scop
        self._builder = ViewBuilder(self.scop, pragma_makers(self.scop, threads=False), threads=False)
        self._made = _launched(usual, self._builder)

    def emit(self, around: Surroundings, others: Sequence[PrintedForm] = ()) -> SunwayText:
        """The region's new text, for proven trees whose parallel loops are tile loops. Names are exchanged in the
        master's text only."""
        scop, builder, made = self.scop, self._builder, self._made
        rest = [_launched(form, builder) for form in others]
        every, views = [*rest, made], tuple(made.views)
        for form, other in reversed(list(zip((x.form for x in others), rest, strict=True))):
            words = f"tiles for {form.name} iterations"
            views = (MasterView("if", f"TW_FORM({form.when})", words, body=tuple(other.views), orelse=views),)
        ahead = ahead_numbers(scop, threads=False, words={x.param for x in scop.aheads})
        text = _master_text(scop, (*ahead, *views), around, builder.helpers)
        for launch, (_, members) in (pair for m in every for pair in zip(m.launches, m.structs, strict=True)):
            prove_start(launch, members, text)
        launches, original = made.launches, around.original.rstrip("\n")
        names = replace(around.names, entries=entries_of(x.name for m in every for x in m.launches))
        return SunwayText(
            _finished(scop, names.of(text), original),
            frozenset(builder.helpers),
            _slave_part(every, [x.form for x in (*others, self.usual)], _typedefs(scop)),
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
    """What becomes of a form's parts, one after the other: views of the master's text, and launches with their
    functions and arguments."""

    views: list[MasterView] = field(default_factory=list)
    launches: list[LaunchPrinter] = field(default_factory=list)
    functions: list[SlaveFunction] = field(default_factory=list)
    structs: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def launch(self, scop: Scop, made: PrintedLaunch) -> None:
        """A part for the cores."""
        launch = made.launch
        self.launches.append(launch)
        fields, found = _functions(scop, launch, made.body)
        self.functions.extend(found)
        self.structs.append((f"{launch.name}_args", tuple(f.declaration for f in fields)))
        self.views.extend(spawned(launch.name, fields))


def _launched(printed: PrintedForm, builder: ViewBuilder) -> _Launched:
    made, form, launches = _Launched(), printed.form, iter(printed.launches)
    for kind, part in pieces(form.code):
        if kind == "master":
            made.views.extend(proven_master(form.scop, part, builder.build(part)))
        else:
            made.launch(form.scop, next(launches))
    return made


def _slave_part(every: Sequence[_Launched], forms: Sequence[RegionForm], typedefs: frozenset[str]) -> SlavePart:
    """Of all forms, the usual one last, which runs where no other does."""
    launches = [x for made in every for x in made.launches]
    pairs = zip(forms, every, strict=True)
    conditions = tuple((x.name, form.when) for form, made in pairs for x in made.launches if form.when)
    return SlavePart(
        tuple(f for made in every for f in made.functions),
        tuple(x for made in every for x in made.structs),
        tuple(x.name for x in launches),
        typedefs,
        frozenset[str]().union(*(x.helpers for x in launches)),
        True,
        "\n".join(_report(x) for x in launches),
        any(x.residents for x in launches),
        conditions,
        all(x.group.fuses for x in launches),
    )


def _master_text(scop: Scop, views: Sequence[MasterView], around: Surroundings, helpers: set[str]) -> str:
    """What replaces the region in the master's file: launches behind a guard, and the original beside them."""
    ints = IntPrinter({p.name: p for p in scop.params}, {}, helpers)
    layouts, original = layout_tests(scop), around.original.rstrip("\n")
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
            known[title_of(f.head)] = f.head, task, prove_kernel(launch, task, written[-1]) if plain else None
            if task.mesh and not launch.model:
                prove_mesh(launch, task, written[-1])
    entry = SlaveFunction(
        f"void {launch.name}({launch.name}_args *{w.args})", "every core runs this",
        (line(f"const int {w.id} = athread_get_id(-1);"), *_unpacked(fields, body), *body), False,
    )  # fmt: skip
    moves = {title_of(made[k].head): (task, written[k]) for k, task in launch.movers.items()}
    steps = {} if launch.model else launch.stepped
    stepped = {title_of(made[k].head): prove_steps(launch, task, written[k]) for k, task in steps.items()}
    joins = {title_of(made[k].head): (task, written[k]) for k, task in launch.joins.items()}
    called = {title_of(f.head): text for f, text in zip(made, written, strict=True)}
    if launch.group.cache_bytes and not launch.model and leaves_stores(launch, called, entry):
        entry = replace(entry, body=(*entry.body, line(dialect.fence(launch.group))))
    prove_entry(launch, EntryTask(*launch.root, known, moves, stepped, joins, called) if launch.root else None, entry)
    return fields, [*made, entry]


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
