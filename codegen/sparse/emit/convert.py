"""Prints a chain of steps as the C function of a format conversion, NAME(src, dst) or, with OpenMP, NAME_omp; on
request with a check of its input first."""
from __future__ import annotations

import re
from collections.abc import Iterable

from codegen.record import record
from codegen.sparse.algebra.expr import Exp
from codegen.sparse.emit.check import check_input
from codegen.sparse.emit.codes import code_tables
from codegen.sparse.emit.file import CFunction
from codegen.sparse.emit.formats import type_name
from codegen.sparse.emit.parallel import ParallelPrinter
from codegen.sparse.emit.steps import StepPrinter
from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.ir.model import Alloc, Computation, Define
from codegen.sparse.ir.read_write_sets import reads
from codegen.sparse.ir.sorting import NewList
from codegen.sparse.ir.walk import parts
from codegen.sparse.synth.pair import SOURCE, Pair, sizes


def extents_of(p: Pair, c: Computation) -> dict[str, tuple[Exp, ...]]:
    """Extents of every array, for elements with several arguments."""
    return {**sizes(p.source), **sizes(p.target)}


@record
class ConversionStyle:
    """How a conversion is printed: the types of values and indices, on threads, and with a check of its input."""

    types: Types
    parallel: bool = False
    checked: bool = False


def conversion(
    p: Pair, c: Computation, ends: tuple[Descriptor, Descriptor], name: str, style: ConversionStyle
) -> CFunction:
    """The function NAME(const SOURCE *src, TARGET *dst), or NAME_omp with a number of threads, between two formats."""
    (source, target), types, parallel, checked = ends, style.types, style.parallel, style.checked
    w = Writer()
    printer = (ParallelPrinter if parallel else StepPrinter)(w, extents_of(p, c), types)
    printer.keys = {k.name: (k.parameters, f"tw_key_{k.name}") for d in (source, target) for k in d.keys}
    used = frozenset().union(*(reads(s) for s in c.steps))
    if checked:
        used |= {f.name for f in p.source.desc.functions} | {*p.source.counted}
        used |= {n for n, _ in p.source.desc.lets}
    for n, e in p.source.desc.lets:
        if n in used:
            printer.step(Define(n, e))
    if checked:
        check_input(printer, p.source, p.shape)
    for s in c.steps:
        printer.step(s)
    deliver(w, p, types)
    text = _without_unread(w.text, printer.scalars)
    arrays = {s.array: types.c(s.kind) for s in parts(c.steps) if isinstance(s, Alloc)}
    lists = [s.list for s in c.steps if isinstance(s, NewList)]
    parameters = f"const {type_name(source, types)} *src, {type_name(target, types)} *dst"
    prototype = f"int {name}_omp({parameters}, int threads)" if parallel else f"int {name}({parameters})"
    owned = [a for a in arrays if a not in {f.name for f in target.functions} | {target.data}]
    owned += [n[1:] for n in printer.scalars if n.startswith("*")]
    declared = _declarations(p, printer, arrays, lists, used, text)
    if checked:
        declared = f"    if (!src || !dst)\n        return TW_SPARSE_RANGE;\n{declared}"
    comment = _comment(source, target, p)
    if parallel:
        comment = f"/* {name} on several threads. */"
        declared += "    if (threads < 1)\n        threads = omp_get_max_threads();\n    omp_set_dynamic(0);\n"
    return CFunction(comment, prototype, declared, text, _ending(p, owned, lists), "_OPENMP" if parallel else "")


def checking(p: Pair, source: Descriptor, name: str, types: Types) -> CFunction:
    """The function NAME(const SOURCE *src) that only checks what the format promises."""
    printer = StepPrinter(Writer(), extents_of(p, Computation((), frozenset())), types)
    printer.keys = {k.name: (k.parameters, f"tw_key_{k.name}") for k in source.keys}
    for n, e in p.source.desc.lets:
        printer.step(Define(n, e))
    check_input(printer, p.source, p.shape)
    text = _without_unread(printer.w.text, printer.scalars)
    used = frozenset(f.name for f in p.source.desc.functions) | {*p.source.counted}
    declared = _declarations(p, printer, {}, [], used, text)
    declared = f"    if (!src)\n        return TW_SPARSE_RANGE;\n{declared}"
    comment = f"/* Whether *src keeps all promises of {source.name}. */"
    return CFunction(comment, f"int {name}(const {type_name(source, types)} *src)", declared, text, "")


def _without_unread(text: str, scalars: dict[str, str]) -> str:
    """The text without sizes that are computed and never looked at, as some are only where 32-bit indices are
    checked; their names leave `scalars`."""
    for name in sorted(n for n in scalars if n.isidentifier()):
        pattern = rf"(?<!\))(?<!else)\n *{name} = [^;]*;(?=\n)"  # not the one statement that an `if` governs
        found = re.findall(pattern, "\n" + text)
        if found and len(re.findall(rf"\b{name}\b", text)) == len(found):
            text = re.sub(pattern, "", "\n" + text).removeprefix("\n")
            del scalars[name]
    return text


def _comment(source: Descriptor, target: Descriptor, p: Pair) -> str:
    dup = {"keep": "entries of equal coordinates are kept", "sum": "values of equal coordinates are added",
           "reject": "entries of equal coordinates are an error"}[p.policy]
    return (f"/* {source.name} to {target.name}; {dup}. Fills *dst, whose arrays are then the caller's to free;\n"
            "   on any status but TW_SPARSE_OK nothing is allocated. */")


def _declarations(p: Pair, printer: StepPrinter, arrays: dict[str, str], lists: Iterable[str],
                  used: frozenset[str], text: str) -> str:
    w, types = Writer(), printer.types
    w.line("int status = TW_SPARSE_OK;")
    shape = [f"{n} = src->{o}" for n, o in zip(p.shape, p.source_shape, strict=True)]
    w.line(f"const int64_t {', '.join(shape)};")
    own = [n for n in p.source.counted if n in used]
    if own:
        w.line("const int64_t " + ", ".join(f"{n} = src->{n.removeprefix(SOURCE)}" for n in own) + ";")
    for f in (f for f in p.source.desc.functions if f.name in used):
        w.line(f"const {types.c_index} *restrict const {f.name} = src->{f.name.removeprefix(SOURCE)};")
    d = p.source.desc.data
    w.line(f"const {types.c_value} *restrict const {d} = src->{d.removeprefix(SOURCE)};")
    for name, ctype in sorted(arrays.items()):
        w.line(f"{ctype} *{name} = NULL;")
    for name in lists:
        w.line(f"tw_list {name} = {{0}};")
    for name in sorted(printer.scalars):
        w.line(f"{printer.scalars[name]} {name} = {'NULL' if name.startswith('*') else 0};")
    if types.index == "32":
        w.line(f"if ({' || '.join(f'{n} > INT32_MAX' for n in (*p.shape, *own))})")
        w.line("    return TW_SPARSE_RANGE;")
    for line in code_tables((p.source.desc, p.target.desc), text, types):
        w.line(line)
    return w.text.rstrip("\n") + "\n"


def deliver(w: Writer, p: Pair, types: Types) -> None:
    for n in p.shape:
        w.line(f"dst->{n} = {n};")
    for n in p.target.counted:
        w.line(f"dst->{n} = {n};")
    for f in (*(f.name for f in p.target.desc.functions), p.target.desc.data):
        w.line(f"dst->{f} = {f};")


def _ending(p: Pair, owned: list[str], lists: Iterable[str]) -> str:
    w = Writer()
    w.open("if (status != TW_SPARSE_OK)")
    for f in (*(f.name for f in p.target.desc.functions), p.target.desc.data):
        w.line(f"free({f});")
    w.close()
    for a in sorted(owned):
        w.line(f"free({a});")
    for n in lists:
        w.line(f"tw_list_free(&{n});")
    return w.text

