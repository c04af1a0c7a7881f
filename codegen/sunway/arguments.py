"""Launch arguments: lists the members of the struct that the master fills in and the compute cores read (declaration,
value, unpacking), and builds the master's statements that fill it, start the cores and join them."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.record import record
from codegen.scop.expr import Sym
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop
from codegen.sunway.launch import LaunchPrinter
from codegen.sunway.text.bodies import base_type
from codegen.target.view import View as MasterView


@record
class Field:
    """A member of a launch's arguments."""

    name: str
    declaration: str  # in the struct
    value: str  # what the master puts there; empty for the kernels' own
    unpack: str  # in the slave; empty for what is used in place


def fields_of(scop: Scop, launch: LaunchPrinter) -> list[Field]:
    out = []
    p_ = launch.words.args
    for p in scop.params:
        t = base_type(p.ctype)
        out.append(Field(p.text, f"{t} {p.text};", p.text, f"const {t} {p.text} = {p_}->{p.text};"))
    have = {f.name for f in out}
    for s in scop.statements:
        for e in walk_expr(s.rhs):
            if isinstance(e, Sym) and e.text not in have:
                assert e.ctype is not None
                t = base_type(e.ctype)
                have.add(e.text)
                out.append(Field(e.text, f"{t} {e.text};", e.text, f"const {t} {e.text} = {p_}->{e.text};"))
    for name in sorted(scop.arrays):
        a = scop.arrays[name]
        if a.inside or a.base in have:
            continue
        have.add(a.base)
        elem = base_type(a.elem)
        flat = any(x.array == name and any(q.kind == "flat" for q in x.path) for _, x in scop.accesses())
        value = f"(void *)&{a.base}" if a.rank == 0 else f"(void *){a.base}"
        if a.rank < 2 or flat:
            unpack = f"{elem} *const {a.base} = {p_}->{a.base};"
        else:
            sizes = "".join(f"[{e}]" for e in a.extents[1:])
            unpack = f"{elem} (*const {a.base}){sizes} = (void *){p_}->{a.base};"
        out.append(Field(a.base, f"{elem} *{a.base};", value, unpack))
    for name in sorted(launch.others):
        a = scop.arrays[name]
        size = " * ".join(f"({e})" for e in ("long", *a.extents)).replace("(long) * ", "(long)", 1)
        value = f"malloc({size} * sizeof({base_type(a.elem)}))"
        out.append(Field(f"{name}_other", f"{base_type(a.elem)} *{name}_other;", value, ""))
    for name, h in sorted(launch.shared.items()):
        a = scop.arrays[name]
        sizes = "".join(f"[{s}]" for s in h.sizes if s)
        out.append(Field(name, f"{base_type(a.elem)} {name}{sizes};", "", ""))
    for _, r in sorted(launch.gathered.items()):
        elem = base_type(scop.arrays[r.array].elem)
        out.append(Field(r.parts, f"{elem} {r.parts}[{launch.grid.count}];", "", ""))
    return out


def spawned(name: str, fields: Sequence[Field]) -> list[MasterView]:
    sets = ", ".join(f".{f.name} = {f.value}" for f in fields if f.value)
    return [
        MasterView("block", body=(
            MasterView("stmt", f"{name}_args tw_args = {{ {sets} }};"),
            MasterView("stmt", "tw_start();"),
            MasterView("stmt", f"athread_spawn({name}, &tw_args);"),
            MasterView("stmt", "athread_join();"),
            *(MasterView("stmt", f"free(tw_args.{f.name});") for f in fields if f.value.startswith("malloc")),
        ))
    ]  # fmt: skip
