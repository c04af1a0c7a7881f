"""Builds the statements of a mesh product's kernel (a tree of `SlaveView`, which a template prints): slices of both
operands fetched one step ahead, tiles of the target exchanged alongside the steps. `work.py` has the step itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ast.ctree import CNode, For, Held, expr_names
from codegen.record import record
from codegen.scop.expr import Binary, Cast, Expr, Lit, Ref, Sym, Unary
from codegen.sunway.mesh.panels import GIVERS, SIDE, Mesh, past, pool, resized
from codegen.sunway.staging.local import LocalBuffer
from codegen.sunway.staging.moves import geometry_of
from codegen.sunway.staging.transfer import DmaTransfer
from codegen.sunway.text import dialect
from codegen.sunway.text.bodies import LocalView
from codegen.sunway.text.views import SlaveView, line
from codegen.target.view import fresh, reserved

if TYPE_CHECKING:
    from codegen.sunway.slave import KernelPrinter

OWN = ("shape", "tall", "wide", "deep", "ldm", "across", "tiles", "steps", "half", "t", "q")


@record
class MeshTiles:
    """What the parts of the text share: the kernel, the C names of its loops, and names of its own variables."""

    phase: "KernelPrinter"
    m: Mesh
    names: Mapping[str, str]
    own: Mapping[str, str]

    def text(self, loop: For, which: str = "end") -> str:
        """A bound of a loop."""
        ints = self.phase._ints(self.names)
        return ints.text(loop.lower, 5) if which == "start" else ints.text(past(loop), 5)

    def extent(self, loop: For) -> str:
        low = self.text(loop, "start")
        return self.text(loop) if low == "0" else f"{self.text(loop)} - {low}"

    def at(self, turn: str) -> tuple[str, str]:
        """The first row and column of this core's tile in a turn."""
        o, w = self.own, self.phase.words
        rows, columns = (self.text(lp, "start") for lp in (self.m.rows, self.m.columns))
        it = f"({turn} / {o['across']} * {SIDE} + {w.row}) * {o['tall']}"
        jt = f"({turn} % {o['across']} * {SIDE} + {w.column}) * {o['wide']}"
        return (it if rows == "0" else f"{rows} + {it}", jt if columns == "0" else f"{columns} + {jt}")

    def where(self, turn: str, it: str, jt: str) -> SlaveView:
        a, b = self.at(turn)
        return line(f"const long {it} = {a}, {jt} = {b};")

    @property
    def step(self) -> str:
        """The depth of a step: half of a row's or column's cores hand out their slices, while the others fetch."""
        return f"{GIVERS} * {self.own['deep']}"


def mesh_views(phase: KernelPrinter, m: Mesh, outer: Mapping[str, str], held: dict[str, Held]) -> tuple[SlaveView, ...]:
    """The whole kernel."""
    taken = reserved(phase.scop) | set(outer.values()) | set(phase.words.all)
    names = {**outer, **{lp.var: fresh(lp.loop.name, frozenset(taken)) for lp in (m.rows, m.columns, m.depth)}}
    taken |= set(names.values())
    own = {n: fresh(n, frozenset(taken)) for n in OWN}
    tiles = MeshTiles(phase, m, names, own)
    phase.buffers += [m.target, *(replace(b, ahead=phase.group.crts) for b in (m.left, m.right))]
    phase.helpers |= {"tw_min", "tw_max", "tw_panels", "tw_shape", *(() if phase.model else ("tw_widen",))}
    taken |= set(own.values())
    c = m.target.name
    it, jt = names[m.rows.var], names[m.columns.var]
    wide, q, t = own["wide"], own["q"], own["t"]
    body = (
        tiles.where(t, it, jt),
        line(f"const long {c}_len0 = tw_min({own['tall']}, {tiles.text(m.rows)} - {it});"),
        line(f"const long {c}_len1 = tw_min({wide}, {tiles.text(m.columns)} - {jt});"),
        line(f"double (*const {c}_t)[{wide}] = (void *){c}_ldm;"),
        SlaveView("if", f"{t} >= 0", (*_comes(tiles), *_nests(tiles, m.before, held, taken))),
        SlaveView("for", f"long {q} = {t} < 0 ? {own['steps']} - 1 : 0; {q} < {own['steps']}; {q}++, "
                   f"{own['half']} ^= 1", _step(tiles)),
        SlaveView("if", f"{t} >= 0", (*_nests(tiles, m.after, held, taken), *_goes(tiles))),
    )  # fmt: skip
    head = f"long {t} = -1; {t} < {own['tiles']}; {t}++"
    loop = SlaveView("for", head, body, comment="a tile on every core; the first turn only fetches slices")
    sent = tuple(line(f"athread_rma_wait_value(&{b.name}_sent, 1);") for b in (m.left, m.right) if phase.group.crts)
    views = (*_sizes(tiles), loop, *sent, line(dialect.wait(phase.group, f"&{c}_put", f"{c}_out")))
    return views if m.when is None else (SlaveView("if", phase._ints(outer).text(m.when), views),)


def mesh_declarations(phase: KernelPrinter, m: Mesh) -> tuple[SlaveView, ...]:
    """Reply words, and counts of commands on their way."""
    c = m.target.name
    got = f"{c}_got, " if m.target.get else ""
    out = [line(f"volatile int {got}{c}_put = 0, {m.left.name}_got, {m.right.name}_got;"), line(f"int {c}_out = 0;")]
    if phase.group.crts:
        out.append(line(f"volatile int {m.left.name}_here[2], {m.right.name}_here[2];"))
        out.append(line(f"volatile int {m.left.name}_sent = 1, {m.right.name}_sent = 1;", "nothing is on its way"))
    return tuple(out)  # fmt: skip


def _sizes(x: MeshTiles) -> tuple[SlaveView, ...]:
    """The shape for these extents, local memory cut up for it, and how often what happens."""
    m, o, group = x.m, x.own, x.phase.group
    lanes, copies = group.lanes(8), 3 if group.crts else 1
    rows, columns, deep, c = x.extent(m.rows), x.extent(m.columns), x.extent(m.depth), m.target.name
    a, b, ldm = m.left.name, m.right.name, o["ldm"]
    model = (line("sw_work(10000);"),) if x.phase.model else ()
    arrived = () if not group.crts else (
        line(f"double *const {a}_in[2] = {{ {b}_ldm + {o['deep']} * {o['wide']}, "
             f"{b}_ldm + {o['deep']} * ({o['wide']} + {o['tall']}) }};", "from other cores"),
        line(f"double *const {b}_in[2] = {{ {a}_in[1] + {o['tall']} * {o['deep']}, "
             f"{a}_in[1] + ({o['tall']} + {o['wide']}) * {o['deep']} }};"),
    )  # fmt: skip
    return (
        line(f"if ({rows} <= 0 || {columns} <= 0)"),
        line("  return;"),
        line(f"const tw_shape {o['shape']} = tw_best_shape({rows}, {columns}, {deep}, {pool(group)}, {lanes}, "
             f"{copies}, {8 * group.byte:.3g}, {group.row:.3g}, {group.command:.3g});"),
        *model,
        line(f"const long {o['tall']} = {o['shape']}.tall, {o['wide']} = {o['shape']}.wide, "
             f"{o['deep']} = {o['shape']}.deep;", "of a core's tile and of its slices"),
        line(f"double {ldm}[{pool(group)}] __attribute__((aligned({group.vector_bits // 8})));"),
        line(f"double *const {c}_ldm = {ldm};"),
        line(f"double *const {a}_ldm = {c}_ldm + {o['tall']} * {o['wide']};"),
        line(f"double *const {b}_ldm = {a}_ldm + {o['tall']} * {o['deep']};"),
        *arrived,
        line(f"const long {o['across']} = tw_panels({columns}, {SIDE} * {o['wide']});"),
        line(f"const long {o['tiles']} = {o['across']} * tw_panels({rows}, {SIDE} * {o['tall']});"),
        line(f"const long {o['steps']} = tw_max(1, tw_panels({deep}, {x.step}));", "of a turn"),
        *((line(f"const long {a}_rows = tw_panels({o['tall']}, {GIVERS});", "of the left panel, fetched by a core"),)
          if not group.crts else ()),
        line(f"int {o['half']} = 0;", "of the rows and columns that hands out slices; the other one fetches its next"),
    )  # fmt: skip


def _comes(x: MeshTiles) -> tuple[SlaveView, ...]:
    """The place of the tile is free again, and the tile is brought there, with its rows at one stride."""
    b, c, o, group = x.m.target, x.m.target.name, x.own, x.phase.group
    free = line(dialect.wait(group, f"&{c}_put", f"{c}_out"))
    if not b.get:
        return (free,)
    command = _whole(x).commands(dialect.get, group, f"{c}_ldm", f"&{c}_got")
    there = f"tw_widen({c}_t[0], {c}_len0, {c}_len1, {o['wide']});"
    if x.phase.model:
        there = f"sw_work({c}_len1 < {o['wide']} ? 4.0 * {c}_len0 * {c}_len1 : 0);"
    views = (line(f"{c}_got = 0;"), command, line(dialect.wait(group, f"&{c}_got", "1")), line(there))
    return free, SlaveView("if", f"{c}_len0 > 0 && {c}_len1 > 0", views, comment=f"{c} comes")


def _goes(x: MeshTiles) -> tuple[SlaveView, ...]:
    """The tile is written back; that is waited for when its place is needed again."""
    c, o = x.m.target.name, x.own
    ready = f"tw_narrow({c}_ldm, {c}_len0, {c}_len1, {o['wide']});"
    if x.phase.model:
        ready = f"sw_work({c}_len1 < {o['wide']} ? 4.0 * {c}_len0 * {c}_len1 : 0);"
    command = _whole(x).commands(dialect.put, x.phase.group, f"{c}_ldm", f"&{c}_put")
    views = (line(ready), line(f"{c}_put = 0;"), command, line(f"{c}_out = 1;"))
    return (SlaveView("if", f"{c}_len0 > 0 && {c}_len1 > 0", views, comment=f"{c} goes"),)


def _whole(x: MeshTiles) -> DmaTransfer:
    """All of the target's tile."""
    b, c = x.m.target, x.m.target.name
    return DmaTransfer(b, geometry_of(x.phase, b), _lows(x, b, x.names), (f"{c}_len0", f"{c}_len1"))


def _nests(
    x: MeshTiles, nodes: tuple[CNode, ...], held: dict[str, Held], taken: frozenset[str]
) -> tuple[SlaveView, ...]:
    """What else happens to the tile."""
    m = x.m
    place = LocalView(f"{m.target.name}_t", m.target.lows, m.target.most)
    sides = {m.rows.var: "\0tall", m.columns.var: "\0wide"}
    inside = {**x.names, "\0tall": x.own["tall"], "\0wide": x.own["wide"]}
    local = dict.fromkeys(m.target.keys, place)
    out: list[SlaveView] = []
    for node in nodes:
        out += x.phase._views(resized(m, node, sides), inside, held, taken, local)
    return tuple(out)


def _step(x: MeshTiles) -> tuple[SlaveView, ...]:
    """A step of a turn: the next slices are on their way while these are multiplied."""
    from codegen.sunway.mesh.work import product

    m, o = x.m, x.own
    t, q, kt = o["t"], o["q"], x.names[m.depth.var]
    low = x.text(m.depth, "start")
    more = f"{q} + 1 < {o['steps']}"
    work = (line(f"const long {kt} = {'' if low == '0' else low + ' + '}{q} * {x.step};"), *product(x))
    return (
        line(f"const long {t}_next = {more} ? {t} : {t} + 1, "
             f"{kt}_next = {more} ? {'' if low == '0' else low + ' + '}({q} + 1) * {x.step} : {low};"),
        SlaveView("if", f"{t}_next < {o['tiles']}", _slices(x), comment="slices for the next step"),
        SlaveView("if", f"{t} >= 0", work),
    )  # fmt: skip


def _lows(x: MeshTiles, b: LocalBuffer, names: Mapping[str, str]) -> tuple[str, ...]:
    ints = x.phase._ints(names)
    return tuple(ints.text(e, 5) for e in b.lows)


def sides(x: MeshTiles, it: str, jt: str, kt: str) -> tuple[tuple[LocalBuffer, str, str, str, str], ...]:
    """What a core fetches of the two panels: the buffer, how far into its row's or column's panel it begins, its sides,
    and which half of the cores it belongs to."""
    m, w, d = x.m, x.phase.words, x.own["deep"]
    end = x.text(m.depth)
    rows, columns = f"{x.text(m.rows)} - {it}", f"{x.text(m.columns)} - {jt}"
    slice_of = f"tw_min({d}, {end} - {kt} - {{}} % {GIVERS} * {d})"
    halves = (f"{w.column} / {GIVERS}", f"{w.row} / {GIVERS}")
    right = (m.right, f"{w.row} % {GIVERS} * {d}", slice_of.format(w.row), f"tw_min({x.own['wide']}, {columns})",
             halves[1])  # fmt: skip
    if x.phase.group.crts:
        at = f"{w.column} % {GIVERS} * {d}"
        return (m.left, at, f"tw_min({x.own['tall']}, {rows})", slice_of.format(w.column), halves[0]), right
    mine = f"{w.column} % {GIVERS} * {m.left.name}_rows"
    tall = f"tw_min({m.left.name}_rows, tw_min({x.own['tall']}, {rows}) - {mine})"
    return (m.left, mine, tall, f"tw_min({x.step}, {end} - {kt})", halves[0]), right


def _slices(x: MeshTiles) -> tuple[SlaveView, ...]:
    """Cores whose turn is next fetch their slices, where there are any."""
    m, group, kt = x.m, x.phase.group, x.names[x.m.depth.var]
    it, jt = (f"{x.names[lp.var]}_next" for lp in (m.rows, m.columns))
    out: list[SlaveView] = [x.where(f"{x.own['t']}_next", it, jt)]
    names = {**x.names, m.rows.var: it, m.columns.var: jt, m.depth.var: f"{kt}_next"}
    for b, offset, n0, n1, half in sides(x, it, jt, f"{kt}_next"):
        by = m.depth.var if b is m.right or group.crts else m.rows.var
        lows = list(_lows(x, b, names))
        along = 0 if by in expr_names(b.lows[0]) else 1
        lows[along] = f"{lows[along]} + {offset}"
        out.append(line(f"const long {b.name}_n0 = {n0}, {b.name}_n1 = {n1};"))
        t = DmaTransfer(b, geometry_of(x.phase, b), tuple(lows), (f"{b.name}_n0", f"{b.name}_n1"))
        get = t.commands(dialect.get, group, f"{b.name}_ldm", f"&{b.name}_got")
        sent = (line(f"athread_rma_wait_value(&{b.name}_sent, 1);"),) if group.crts else ()
        out.append(SlaveView("if", f"{half} != {x.own['half']} && {b.name}_n0 > 0 && {b.name}_n1 > 0",
                        (*sent, line(f"{b.name}_got = 0;"), get)))  # fmt: skip
    return tuple(out)


def scaled(factor: Expr, element: str) -> str:
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

    return text(factor).removeprefix("(").removesuffix(")") if isinstance(factor, Binary) else text(factor)
