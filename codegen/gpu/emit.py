"""Prints a region for a device: the host code that replaces it (run-time tests, the call of the launcher, and what runs
where these fail), and its kernels and launcher as a `DevicePart`, which `files.py` puts into the device file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from codegen.ast.ctree import CNode
from codegen.diagnostics import Unsupported
from codegen.gpu.body import plain_type
from codegen.gpu.copies import is_moved, launcher_copies
from codegen.gpu.dialect import MOST, Dialect
from codegen.gpu.frame import check_call
from codegen.gpu.kernels import AXES, DeviceKernel, Kernels, LaunchView, StepsView, first_of
from codegen.gpu.plan.device import Device
from codegen.gpu.read_back import Launch, StepsCall, check_launches, launched, parameter_names
from codegen.gpu.read_copies import LauncherLines, check_copies
from codegen.gpu.sizes import RowLengths, with_sizes
from codegen.gpu.staged.find import StagedLoop
from codegen.gpu.staged.terms import TermLoop
from codegen.gpu.staged.terms_text import kernel_text as terms_text
from codegen.gpu.staged.text import kernel_text as staged_text
from codegen.gpu.steps.context import StepText
from codegen.gpu.steps.model import TIME
from codegen.gpu.stream.model import TimeTile
from codegen.gpu.stream.printed import kernel_text as steps_text
from codegen.gpu.tiles.find import TiledProduct
from codegen.gpu.tiles.text import Printed, kernel_text
from codegen.gpu.transfers import ArrayText, array_text, buffer_test, buffer_text, outside, scratch_text
from codegen.gpu.worth import worth_text
from codegen.print.templates import environment
from codegen.recognize.access.struct_members import layout_tests
from codegen.record import record
from codegen.scop.dependences import Dependences
from codegen.scop.expr import Sym
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop
from codegen.target.emit import Surroundings, deeper
from codegen.target.finish.names import entries_of
from codegen.target.guards.alias import SEPARATE
from codegen.target.guards.computed_parameters import ComputedText, computed_texts, needed
from codegen.target.guards.guard import all_of, guard_text
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import View
from codegen.verify.finish import broken_lines
from codegen.verify.guards import check_ahead_of
from codegen.verify.text.read import Unread

_WORD = re.compile(r"[A-Za-z_]\w*")
STAY = "tw_stay"  # what names of functions begin with is known when the file is


@record
class KernelText:
    """A kernel of the device's file."""

    name: str
    comment: str
    parameters: str
    body: tuple[View, ...]
    block: int  # threads
    tiles: str = ""  # the same in tiles, and what starts it
    unit: str = ""  # the matrix unit of these
    step: bool = False  # it is launched by a loop of the host
    narrow: bool = False  # a template of the type of its counters


@record
class KeptText:
    """The same where arrays stay on the device: what a launcher does ahead of its kernels and behind them, and the
    host's text. `hosts` are the host's own texts for such arrays."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    hosts: tuple[str, ...]
    host: str = ""


@record
class DevicePart:
    """What one region adds to the device's file and to the header. Can be pickled."""

    name: str
    prototype: str
    comment: str
    kernels: tuple[KernelText, ...]
    before: tuple[str, ...]
    body: tuple[View, ...]
    after: tuple[str, ...]
    helpers: frozenset[str]
    rank: int  # the most subscripts of an array that is copied; 0: nothing is
    report: str
    kept: KeptText | None = None
    stays: bool = False  # as `kept` says


@record
class DeviceText:
    """The region on the host, and what it calls."""

    host: str
    helpers: frozenset[str]
    part: DevicePart
    names: frozenset[str]
    computed: tuple[ComputedText, ...]


@record
class _DeviceArrays:
    """Arrays that kernels use: those of the program, and where these are, and those that only the device has."""

    outside: Sequence[ArrayText]
    scratch: Sequence[ArrayText]
    where: str
    device: Device


@record
class _Value:
    """What a launcher takes by value."""

    name: str
    kind: str
    text: str  # on the host


@record
class DeviceCode:
    """A proven tree for a device, with those of its products, by statement, that are carried out in tiles."""

    tree: CNode
    tiled: Mapping[str, TiledProduct]
    device: Device
    staged: tuple[StagedLoop, ...] = ()  # loops of threads that read shared memory
    terms: tuple[TermLoop, ...] = ()  # loops of one thread whose terms others compute
    steps: tuple[TimeTile, ...] = ()  # loops over time whose iterations run in tiles, several in one launch


def emit_device(
    scop: Scop, deps: Dependences, code: DeviceCode, around: Surroundings, dialect: Dialect, arrays: str
) -> DeviceText:
    """The texts of a proven tree. `arrays` says where those of the user are: host, device or managed."""
    part, texts, kernels = device_part(scop, deps, code, dialect, arrays)
    host: set[str] = set()
    ints = IntPrinter({p.name: p for p in scop.params}, {}, host)
    computed = computed_texts(scop, ints)
    names, original = replace(around.names, entries=entries_of([part.name])), around.original

    def finished(text: str) -> str:
        check_ahead_of(scop, text, guard_text(scop, ints), computed)
        own = original.rstrip("\n")
        try:
            check_call(text, part.prototype, {f"tw_{a.name}": a.host for a in texts}, dict(with_sizes(scop).values))
            return broken_lines(names.of(text), [own, deeper(own)]).rstrip("\n") + "\n"
        except Unread as problem:
            why = f"what stands in the file is not what was proven: {problem}"
            raise Unsupported("no-proof", why, scop.loc) from None

    call = _call(scop, part, texts, arrays)
    worth = worth_text(scop, kernels, texts, code.device, ints) if arrays == "host" else ""
    host |= {w for w in _words([worth]) if w.startswith("tw_")}
    text = _host_text(scop, replace(call, worth=worth), around, ints, computed)
    if part.kept is not None:
        asked = f"{STAY}_stays() || {worth}" if worth else ""
        kept = _host_text(scop, replace(call, worth=asked, leave=f"{STAY}_leave();"), around, ints, computed)
        part = replace(part, kept=replace(part.kept, host=finished(kept)))
    return DeviceText(finished(text), frozenset(host), part, names.new(text), computed)


def device_part(
    scop: Scop, deps: Dependences, code: DeviceCode, dialect: Dialect, arrays: str
) -> tuple[DevicePart, tuple[ArrayText, ...], tuple[DeviceKernel, ...]]:
    """Kernels and launcher of a proven tree, and the arrays that they use. Raises Unsupported."""
    sizes = with_sizes(scop)
    scop = sizes.scop
    name = f"{scop.function}_r{scop.region}"
    kernels = Kernels(scop, name, dialect.calls, tiled=code.tiled, staged=code.staged, terms=code.terms,
                      steps=code.steps, narrows=dialect.tiles)  # fmt: skip
    views = kernels.host(code.tree)
    ints = IntPrinter({p.name: p for p in scop.params}, {}, kernels.helpers)
    texts = tuple(array_text(scop, deps, n, ints) for n in outside(scop))
    scratch = (*(scratch_text(scop, h.array) for h in kernels.scratch), *(buffer_text(scop, b) for b in scop.buffers))
    memory = _DeviceArrays(texts, scratch, arrays, code.device)
    given = _values(scop, sizes)
    steps = {v.kernel: _steps(kernels, v, memory, dialect, given) for v in _step_views(views)}
    part = _part(kernels, views, memory, dialect, given, steps)
    calls = [StepsCall(v.steps.stencil.loop, x.name, x.arguments)
             for v in _step_views(views) if v.steps is not None for x in (steps[v.kernel],)]  # fmt: skip
    check_launches(scop, code.tree, part.body, _launched(kernels, part), calls)
    moved = {a.name: is_moved(a, arrays) for a in (*texts, *scratch)}
    own = frozenset(a.name for a in scratch)
    found = [(part.before, part.after), *([] if part.kept is None else [(part.kept.before, part.kept.after)])]
    check_copies(scop, deps, [LauncherLines(*lines, moved, own) for lines in found])
    return part, texts, tuple(kernels.kernels)


def _launched(found: Kernels, part: DevicePart) -> dict[str, Launch]:
    """What kernels have to be started with, by their names."""
    threads = {k.name: [x.threads for x in reversed(k.axes)] or [1] for k in found.kernels}
    counts = {k.name: [x.count for x in reversed(k.axes)] for k in found.kernels}
    small, nodes = {k.name: k.small for k in found.kernels}, {k.name: k.node for k in found.kernels}
    return {
        k.name: Launch(nodes[n], counts[n], threads[n], parameter_names(k.parameters), small[n])
        for k in part.kernels
        for n in (k.name,)
    }


def _values(scop: Scop, sizes: RowLengths) -> list[_Value]:
    out = {p.text: plain_type(p.ctype) for p in scop.params}
    for s in scop.statements:
        for e in walk_expr(s.rhs):
            if isinstance(e, Sym) and e.ctype is not None:
                out.setdefault(e.text, plain_type(e.ctype))
    return [*(_Value(n, k, n) for n, k in out.items()), *(_Value(n, "long", text) for n, text in sizes.values)]


def _step_views(views: Sequence[View]) -> Iterator[StepsView]:
    for v in views:
        if isinstance(v, StepsView):
            yield v
        yield from _step_views((*v.body, *v.orelse))


def _steps(
    found: Kernels, v: StepsView, memory: _DeviceArrays, dialect: Dialect, given: Sequence[_Value]
) -> StepText:
    """Kernel and starting function for iterations in tiles."""
    assert v.steps is not None
    declared = {x.name: f"const {x.kind} {x.name}" for x in given}
    declared |= {a.name: dialect.pointer(a, False) for a in memory.outside}
    how = Printed(f"{v.kernel}_step", declared, frozenset((*declared, *found.counters)))
    return steps_text(found.scop, v.steps, how, found.calls, dialect.api)


def _part(
    found: Kernels, views: Sequence[View], memory: _DeviceArrays, dialect: Dialect, given: Sequence[_Value],
    steps: Mapping[str, StepText],
) -> DevicePart:  # fmt: skip
    scop, name, texts, scratch, arrays = found.scop, found.name, memory.outside, memory.scratch, memory.where
    kinds = {v.name: f"const {v.kind} {v.name}" for v in given}
    counters = {c: f"const long {c}" for c in found.counters}
    every = {a.name: a for a in (*texts, *scratch)}
    known = [*kinds, *counters, *every]
    arguments = {
        k.name: [n for n in known if n in k.words and (n not in counters or n in k.around)] for k in found.kernels
    }

    def declared(k: DeviceKernel, name: str) -> str:
        if name not in every:
            return kinds.get(name) or counters[name]
        return dialect.pointer(every[name], name in _written(scop, k))

    def tiles(k: DeviceKernel) -> str:
        if k.tiled is None and k.staged is None and k.terms is None:
            return steps[k.name].text if k.name in steps else ""
        given = {n: declared(k, n) for n in arguments[k.name]}
        how = Printed(f"{k.name}_tile", given, frozenset(known))
        if k.terms is not None:
            return terms_text(scop, k.terms, how)
        if k.tiled is None:
            assert k.staged is not None
            return staged_text(scop, k.staged, how, dialect.api)
        return kernel_text(scop, k.tiled, how, k.names, dialect.api, memory.device.multiprocessors)

    kernels = tuple(
        KernelText(k.name, _comment(k), ", ".join((*(declared(k, n) for n in arguments[k.name]), *_firsts(k))), k.body,
                   prod(x.threads for x in k.axes), tiles(k), k.tiled.unit if k.tiled else "", bool(k.around),
                   bool(k.small))
        for k in found.kernels
    )  # fmt: skip
    region = f"region {scop.region} of {scop.function}"
    by_name = {k.name: k for k in found.kernels}
    body = tuple(_launches(tuple(_stepped(views, steps)), by_name, arguments, dialect, region, arrays))
    before, after = launcher_copies(texts, scratch, dialect, region, arrays)
    kept = None
    if arrays == "host" and dialect.keeps and any(not a.scalar for a in texts):
        lines = launcher_copies(texts, scratch, dialect, region, arrays, keep=True)
        kept = KeptText(tuple(lines[0]), tuple(lines[1]), tuple(a.host for a in texts if not a.scalar))
    words = _words((*before, *after, *_all(body), *(a for v in arguments.values() for a in v)))
    values = [f"{v.kind} {v.name}" for v in given if v.name in words]
    pointer = [f"{a.kind} *tw_{a.name}" for a in texts]
    prototype = f"int {name}({', '.join((*values, *pointer)) or 'void'})"
    moved = [a for a in (*texts, *scratch) if is_moved(a, arrays)]
    rank = max((len(a.strides) for a in moved), default=0) or (1 if moved else 0)
    count = f"{len(kernels)} kernel{'s' if len(kernels) != 1 else ''}"
    report = "\n".join([f"{region}: {count}", *(f"  {k.name}: {k.comment}" for k in kernels)])
    return DevicePart(name, prototype, f"{region}: {count}", kernels, tuple(before), body, tuple(after),
                      frozenset(found.helpers), rank, report, kept)


def _stepped(views: Sequence[View], steps: Mapping[str, StepText]) -> Iterator[View]:
    """With calls that carry out iterations in tiles."""
    for v in views:
        if isinstance(v, StepsView):
            given = (v.counter if x == TIME else x for x in steps[v.kernel].arguments)
            yield View("stmt", f"{v.counter} += {steps[v.kernel].name}({', '.join((v.left, *given))});")
        else:
            body, orelse = (tuple(_stepped(x, steps)) for x in (v.body, v.orelse))
            yield replace(v, body=body, orelse=orelse)


def _firsts(k: DeviceKernel) -> list[str]:
    """Where a launch begins, along axes of which one launch may not reach the end."""
    return [f"const long {first_of(axis)}" for axis, _ in zip(AXES, k.axes, strict=False) if first_of(axis)]


def _written(scop: Scop, k: DeviceKernel) -> set[str]:
    """Pointers through which a kernel writes."""
    arrays = (scop.arrays[a.array] for n in k.stmts for a in scop.statement(n).writes)
    return {x.name if x.inside else x.base for x in arrays}


def _comment(k: DeviceKernel) -> str:
    what = ", ".join(k.stmts)
    if not k.axes:
        return f"{what}: one thread"
    along = " by ".join(f"{x.threads} along {x.loop}" for x in reversed(k.axes))
    return f"{what}: one thread for each {', '.join(x.loop for x in k.axes)}; blocks of {along}"


def _launches(
    views: Sequence[View], kernels: Mapping[str, DeviceKernel], arguments: Mapping[str, Sequence[str]],
    dialect: Dialect,
    region: str, arrays: str,
) -> Iterable[View]:  # fmt: skip
    for v in views:
        if isinstance(v, LaunchView):
            k = kernels[v.kernel]
            counts = [f"tw_count_{axis} = {x.count}" for axis, x in zip(AXES, reversed(k.axes), strict=False)]
            sizes = [x.threads for x in reversed(k.axes)] or [1]
            firsts = [first_of(axis) for axis, _ in zip(AXES, k.axes, strict=False) if first_of(axis)]
            words = [*arguments[k.name], *firsts]
            what = launched(k.name, k.small)
            start = View("stmt", dialect.launch(what, sizes if k.axes else [], words, bool(k.around)))
            for axis, n, most in list(zip(AXES, sizes, MOST, strict=False))[1:]:
                name, count = first_of(axis), f"tw_count_{axis}"
                start = View("for", f"long {name} = 0; {name} < {count}; {name} += {n * most}", body=(start,))
            lines = [View("decl", f"const long {', '.join(counts)};")] if counts else []
            tiles = f"!{k.name}_tiles({', '.join(arguments[k.name])})" if k.tiled or k.staged or k.terms else ""
            asked = " && ".join(x for x in ("tw_count_x > 0" if counts else "", tiles) if x)
            lines.append(View("if", asked, body=(start,)) if asked else start)
            yield View("block", body=(*lines, View("stmt", dialect.started(region, arrays != "host"))))
        else:
            body = tuple(_launches(v.body, kernels, arguments, dialect, region, arrays))
            orelse = tuple(_launches(v.orelse, kernels, arguments, dialect, region, arrays))
            yield replace(v, body=body, orelse=orelse)


def _all(views: Sequence[View]) -> list[str]:
    return [t for v in views for t in (v.head, *_all(v.body), *_all(v.orelse))]


def _words(texts: Iterable[str]) -> set[str]:
    return set(_WORD.findall(" ".join(texts)))


@record
class _HostCall:
    """The call of a launcher, true where it fails, and what is to be done then where the host has no arrays; whether it
    is `worth` a device, and what comes ahead of the loops as they were."""

    call: str
    stop: str
    worth: str = ""
    leave: str = ""


def _call(scop: Scop, part: DevicePart, texts: Sequence[ArrayText], arrays: str) -> _HostCall:
    given = _values(scop, with_sizes(scop))
    values = [v.text for v in given if re.search(rf"\b{v.name}\b", part.prototype.partition("(")[2])]
    call = f"{part.name}({', '.join((*values, *(f'({a.kind} *){a.host}' for a in texts)))}) != 0"
    stop = f'tw_device_stop("region {scop.region} of {scop.function}");' if arrays == "device" else ""
    return _HostCall(call, stop)


def _host_text(
    scop: Scop, how: _HostCall, around: Surroundings, ints: IntPrinter, computed: tuple[ComputedText, ...]
) -> str:
    sizes, layouts = with_sizes(scop).tests, layout_tests(scop)
    guard = all_of((guard_text(scop, ints), around.alias, *sizes, *layouts.values(), buffer_test(scop)))
    reasons = [*scop.guard.reasons, *([SEPARATE] if around.alias else [])]
    reasons += ["rows are as long as their arrays were declared"] if sizes else []
    reasons += [f"members of {a} lie side by side" for a in layouts]
    kept = " and ".join(b.variable for b in scop.buffers)
    reasons += [f"there is memory for all values of {kept}"] if kept else []
    return environment().get_template("gpu/region.c.j2").render(
        indent=around.indent, number=scop.region, function=scop.function, summary=around.summary, guard=guard,
        call=how.call, stop=how.stop, worth=how.worth, leave=how.leave, reasons=", and ".join(reasons),
        ahead=needed(computed, f"{guard} {how.worth} {how.call}"), original=deeper(around.original.rstrip("\n")),
    )  # fmt: skip
