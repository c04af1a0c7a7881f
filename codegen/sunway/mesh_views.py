"""The shared product as views: fetching slices ahead, handing them along rows and columns, multiplying."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from codegen.ast.ctree import Int
from codegen.scop.expr import Binary, Cast, Expr, Lit, Ref, Sym, Unary
from codegen.sunway import dialect
from codegen.sunway.local import Buffer
from codegen.sunway.mesh import SIDE, Mesh, part_of, slices
from codegen.sunway.moves import geometry_of
from codegen.sunway.transfer import Transfer
from codegen.sunway.vector import ROWS, VECTORS
from codegen.sunway.views import View, line
from codegen.target.view import _reserved, fresh

if TYPE_CHECKING:
    from codegen.sunway.slave import Phase

def mesh_views(phase: Phase, m: Mesh, names: Mapping[str, str], lower: str, upper: str) -> tuple[View, ...]:
    """The loop over depth, in steps of eight slices."""
    step = SIDE * m.depth.step
    kt = names[m.depth.var]
    w = phase.words
    for b in (m.left, m.right):
        if b not in phase.buffers:
            phase.buffers.append(b)
    left, right = slices(m, phase.group.crts)
    fetch_names = {**names, m.depth.var: f"{kt}_next", "\0column": w.column, "\0row": w.row}
    ahead = _fetch(phase, m, left, right, fetch_names, f"{kt}_now ^ 1")
    pitch = m.target.most[1]
    more = View("if", f"{kt} + {step} {m.depth.op} {upper}",
                (line(f"const long {kt}_next = {kt} + {step};"), *ahead), _then(phase, m, names, lower))
    body = (more, *_arrived(phase, m, left, right, names), *_work(phase, m, names, upper))
    loop = View("for", f"long {kt} = {lower}; {kt} {m.depth.op} {upper}; {kt} += {step}, {kt}_now ^= 1", body,
                comment=f"eight slices of {m.depth.step} at a time, one from each core of a row or column")
    tile = f"{m.target.name}_ldm, {_len(m.target, 0)}, {_len(m.target, 1)}, {pitch}"
    widen = () if phase.model else (line(f"tw_widen({tile});"),)
    narrow = () if phase.model else (line(f"tw_narrow({tile});"),)
    cost = () if not phase.model else (
        line(f"sw_work({_len(m.target, 1)} < {pitch} ? 8.0 * {m.target.size} : 0);"),)
    phase.helpers.add("tw_widen")
    return (View("block", body=(*widen, *cost, loop, *narrow)),)


def first_panels(phase: Phase, m: Mesh, names: Mapping[str, str]) -> tuple[View, ...]:
    """The fetch for the first step: before anything else of the tile is waited for."""
    ints = phase._ints(names)
    lower, upper, kt = ints.text(m.depth.lower), ints.text(m.depth.upper, 5), m.depth.loop.name
    w = phase.words
    left, right = slices(m, phase.group.crts)
    given = {**names, m.depth.var: f"{kt}_next", "\0column": w.column, "\0row": w.row}
    fetch = _fetch(phase, m, left, right, given, "0")
    tests = [f"{names[lp.var]}_all == {ints.text(lp.lower, 5)}" for lp in (m.rows, m.columns)]
    test = " && ".join([*tests, f"{lower} {m.depth.op} {upper}"])
    return (View("if", test, (line(f"const long {kt}_next = {lower};"), *fetch), comment="the very first slices"),)


def _then(phase: Phase, m: Mesh, names: Mapping[str, str], lower: str) -> tuple[View, ...]:
    """In the last step of a tile: the first slices of the tile that comes after it."""
    ints, w, kt = phase._ints(names), phase.words, names[m.depth.var]
    it, jt = names[m.rows.var], names[m.columns.var]
    down, across = SIDE * m.rows.step, SIDE * m.columns.step
    right_of = f"{jt}_all + {across} {m.columns.op} {ints.text(m.columns.upper, 5)}"
    below = f"{it}_all + {down} {m.rows.op} {ints.text(m.rows.upper, 5)}"
    first = ints.text(m.columns.lower, 5)
    given = {**names, m.depth.var: f"{kt}_next", m.rows.var: f"{it}_then", m.columns.var: f"{jt}_then",
             "\0column": w.column, "\0row": w.row}
    left, right = slices(m, phase.group.crts)
    return (View("if", f"{right_of} || {below}", (
        line(f"const int {jt}_same = {right_of};"),
        line(f"const long {it}_then = {jt}_same ? {it} : {it} + {down};"),
        line(f"const long {jt}_then = {jt}_same ? {jt} + {across} : {first} + {w.column} * {m.columns.step};"),
        line(f"const long {kt}_next = {lower};"),
        *_fetch(phase, m, left, right, given, f"{kt}_now ^ 1"),
    )),)  # fmt: skip


def _len(b: Buffer, k: int) -> str:
    """The C text of a side of the target's box, as its stage has named it."""
    size = b.lens[k]
    return str(size.value) if isinstance(size, Int) else f"{b.name}_len{k}"


def _texts(phase: Phase, b: Buffer, names: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    ints = phase._ints(names)
    return tuple(ints.text(e, 5) for e in b.lows), tuple(ints.text(e, 6) for e in b.lens)


def _fetch(phase: Phase, m: Mesh, left: Buffer, right: Buffer, names: Mapping[str, str], copy: str) -> list[View]:
    """Every core fetches its slices, where there are any."""
    out: list[View] = []
    for b, own in ((left, m.left), (right, m.right)):
        lows, lens = _texts(phase, b, names)
        t = Transfer(own, geometry_of(phase, own), lows, lens)
        test = " && ".join(f"{n} > 0" for n in lens)
        out.append(line(f"{b.name}_got[{copy}] = 0;"))
        get = t.commands(phase.group, False, f"{b.name}_ldm[{copy}]", f"&{b.name}_got[{copy}]")
        out.append(View("if", test, (get,)))
    return out


def _arrived(phase: Phase, m: Mesh, left: Buffer, right: Buffer, names: Mapping[str, str]) -> list[View]:
    """Wait for the slices; scale and widen what will be handed on."""
    w, kt = phase.words, names[m.depth.var]
    own = {**names, "\0column": w.column, "\0row": w.row}
    out: list[View] = []
    for b in (left, right):
        lens = _texts(phase, b, own)[1]
        for k, n in enumerate(lens):
            out.append(line(f"const long {b.name}_len{k} = {n};"))
        there = " && ".join(f"{b.name}_len{k} > 0" for k in range(2))
        views: list[View] = [line(dialect.wait(phase.group, f"&{b.name}_got[{kt}_now]", "1"))]
        if b is right and not phase.model:
            views.append(line(f"tw_widen({b.name}_ldm[{kt}_now], {b.name}_len0, {b.name}_len1, {m.right.most[1]});"))
        out.append(View("if", there, tuple(views)))
    return out


def _work(phase: Phase, m: Mesh, names: Mapping[str, str], upper: str) -> tuple[View, ...]:
    """All slices of this step, block by block of the target."""
    w, kt = phase.words, names[m.depth.var]
    lanes = phase.group.lanes(8)
    size, rows, wide = m.depth.step, m.target.most[0], m.right.most[1]
    it, jt = names[m.rows.var], names[m.columns.var]
    ints = phase._ints(names)
    last = (" + 1" if m.depth.op == "<=" else "")
    down = f"tw_min({rows}, {ints.text(m.rows.upper, 5)}{' + 1' if m.rows.op == '<=' else ''} - {it}_all)"
    across = f"tw_min({wide}, {ints.text(m.columns.upper, 5)}{' + 1' if m.columns.op == '<=' else ''} - {jt}_all)"
    phase.helpers |= {"tw_min", "tw_max"}
    n = VECTORS * lanes
    if phase.model:
        blocks = f"(({down} + {ROWS - 1}) / {ROWS}) * (({across} + {n - 1}) / {n})"
        deep = f"tw_min({SIDE * size}, {upper}{last} - {kt})"
        scale = f"{m.left.size} * 0.75"
        work = f"{blocks} * ({deep} * {ROWS * VECTORS}.0 + 42 + {SIDE * 6}) + {scale}"
        return (line(f"sw_mesh_work({work}, {blocks} * {deep});"),)
    taken = _reserved(phase.scop)
    i, j, k, u, v, sl, deep, left, right, acc_, x = (
        fresh(n, taken) for n in ("i", "j", "k", "u", "w", "s", "deep", "left", "right", "acc", "x")
    )
    kind = f"doublev{lanes}"
    part = part_of(m, phase.group.crts)
    place = f"({i} + {u}) * {m.left.name}_len1 + {k}"
    if part:
        place = f"({i} + {u}) % {part} * {m.left.name}_len1 + {sl} * {size} + {k}"
    scalar = _scaled(m, f"{m.left.name}_ldm[{kt}_now][{place}]")
    owner = f"{w.column} == ({i} + {u}) / {part}" if part else f"{w.column} == {sl}"
    b_at = f"&{m.right.name}_ldm[{kt}_now][{k} * {wide} + {j} + {v}]"
    c_at = f"&{m.target.name}_ldm[({i} + {u}) * {m.target.most[1]} + {j} + {v}]"
    each = f"int {v} = 0; {v} < {n}; {v} += {lanes}"
    up = f"int {u} = 0; {u} < {ROWS}; {u}++"
    acc, vb = f"{acc_}[{u}][{v} / {lanes}]", f"{right}[{v} / {lanes}]"

    def grid(text: str) -> View:
        return View("for", up, (View("for", each, (line(text),)),))

    if phase.group.crts:
        return _by_broadcast(phase, m, names, upper, down, across)
    give_b = View("if", f"{w.row} == {sl}", (line(f"simd_load({vb}, {b_at});"), line(f"REG_PUTC({vb}, 8);")),
                  (line(f"REG_GETC({vb});"),))  # fmt: skip
    give_a = View("if", owner,
                  (line(f"const double {x} = {scalar};"),
                   line(f"{left} = simd_set_{kind}({', '.join([x] * lanes)});"), line(f"REG_PUTR({left}, 8);")),
                  (line(f"REG_GETR({left});"),))  # fmt: skip
    step = (
        line(f"{kind} {left}, {right}[{VECTORS}];"),
        View("for", each, (give_b,)),
        View("for", up, (give_a, View("for", each, (line(f"{acc} = simd_vmad({left}, {vb}, {acc});"),)))),
    )
    depth = f"tw_max(0, tw_min({size}, {upper}{last} - {kt} - {sl} * {size}))"
    slices = View("for", f"int {sl} = 0; {sl} < {SIDE}; {sl}++", (
        line(f"const long {deep} = {depth};"), View("for", f"long {k} = 0; {k} < {deep}; {k}++", step)),
        comment="slices come from the row of their number, rows from the column that has them")  # fmt: skip
    block = (line(f"{kind} {acc_}[{ROWS}][{VECTORS}];"), grid(f"simd_load({acc}, {c_at});"), slices,
             grid(f"simd_store({acc}, {c_at});"))  # fmt: skip
    return (View("for", f"long {i} = 0; {i} < {down}; {i} += {ROWS}",
                 (View("for", f"long {j} = 0; {j} < {across}; {j} += {n}", block),)),)  # fmt: skip


def _by_broadcast(
    phase: Phase, m: Mesh, names: Mapping[str, str], upper: str, down: str, across: str
) -> tuple[View, ...]:
    """As above with whole slices broadcast between local memories, one after the other."""
    w, kt, lanes = phase.words, names[m.depth.var], phase.group.lanes(8)
    size, wide = m.depth.step, m.right.most[1]
    last = " + 1" if m.depth.op == "<=" else ""
    taken = _reserved(phase.scop)
    i, j, k, u, v, sl, deep, acc_, x = (
        fresh(n, taken) for n in ("i", "j", "k", "u", "w", "s", "deep", "acc", "x")
    )
    kind, n = f"doublev{lanes}", VECTORS * lanes
    a, b = f"{m.left.name}_in", f"{m.right.name}_in"
    each, up = f"int {v} = 0; {v} < {n}; {v} += {lanes}", f"int {u} = 0; {u} < {ROWS}; {u}++"
    acc = f"{acc_}[{u}][{v} / {lanes}]"
    c_at = f"&{m.target.name}_ldm[({i} + {u}) * {m.target.most[1]} + {j} + {v}]"
    scalar = _scaled(m, f"{a}[({i} + {u}) * {deep} + {k}]")

    def grid(text: str) -> View:
        return View("for", up, (View("for", each, (line(text),)),))

    multiply = View("for", f"long {k} = 0; {k} < {deep}; {k}++", (
        View("for", up, (
            line(f"const double {x} = {scalar};"),
            View("for", each, (
                line(f"{kind} right;"),
                line(f"simd_load(right, &{b}[{k} * {wide} + {j} + {v}]);"),
                line(f"{acc} = simd_vmad(simd_set_{kind}({', '.join([x] * lanes)}), right, {acc});"),
            )),
        )),
    ))  # fmt: skip
    block = (line(f"{kind} {acc_}[{ROWS}][{VECTORS}];"), grid(f"simd_load({acc}, {c_at});"), multiply,
             grid(f"simd_store({acc}, {c_at});"))  # fmt: skip
    blocks = View("for", f"long {i} = 0; {i} < {down}; {i} += {ROWS}",
                  (View("for", f"long {j} = 0; {j} < {across}; {j} += {n}", block),))  # fmt: skip
    depth = f"tw_max(0, tw_min({size}, {upper}{last} - {kt} - {sl} * {size}))"
    left_bytes, right_bytes = f"{m.left.most[0]} * {deep} * 8", f"{deep} * {wide} * 8"
    steps = (
        line(f"const long {deep} = {depth};"),
        line(f"if ({deep} == 0)"),
        line("  break;"),
        line("sent = 0, left_here = 0, right_here = 0;"),
        line(f"{dialect.barrier(phase.group)} /* nobody works on the slices before any more */"),
        View("if", f"{w.column} == {sl}", (line(
            f"athread_rma_row_ibcast({a}, {m.left.name}_ldm[{kt}_now], {left_bytes}, &sent, &left_here);"),)),
        View("if", f"{w.row} == {sl}", (line(
            f"athread_rma_col_ibcast({b}, {m.right.name}_ldm[{kt}_now], {right_bytes}, &sent, &right_here);"),)),
        line("athread_rma_wait_value(&left_here, 1);"),
        line("athread_rma_wait_value(&right_here, 1);"),
        blocks,
    )  # fmt: skip
    declare = (
        line(f"double {a}[{m.left.size}] __attribute__((aligned(64)));"),
        line(f"double {b}[{m.right.size}] __attribute__((aligned(64)));"),
        line("athread_rply_t sent, left_here, right_here;"),
    )
    loop = View("for", f"int {sl} = 0; {sl} < {SIDE}; {sl}++", steps,
                comment="a slice comes from the column and the row of its number")  # fmt: skip
    return (*declare, loop)


def _scaled(m: Mesh, element: str) -> str:
    """The left factor of the product with its one element spelled out."""
    def text(e: Expr) -> str:
        if isinstance(e, Ref):
            return element
        if isinstance(e, (Lit, Sym)):
            return e.text
        if isinstance(e, Cast):
            return f"({e.type_text}){text(e.arg)}"
        if isinstance(e, Unary):
            return f"{e.op}({text(e.arg)})"
        assert isinstance(e, Binary)
        return f"({text(e.left)} {e.op} {text(e.right)})"

    return text(m.scalar).removeprefix("(").removesuffix(")") if isinstance(m.scalar, Binary) else text(m.scalar)
