"""Prints plans as text, directive by directive (`show`), and hashes them (`plan_hash`); `plan_reader` parses them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

import islpy as isl

from codegen.plan.model import (
    Balance,
    CopyReads,
    Diamond,
    Directive,
    Distribute,
    Expand,
    Forward,
    Grid,
    InLanes,
    Interleave,
    Jam,
    LoopRef,
    Multiply,
    OnMesh,
    Order,
    Parallel,
    Pipeline,
    Plan,
    Ranks,
    Registers,
    Relayout,
    Reverse,
    ScalarReplace,
    Schedule,
    Skew,
    StageIn,
    StageShared,
    Stay,
    StoreIn,
    StripMine,
    Substitute,
    Tile,
    TimeSteps,
    Unroll,
    Unskew,
    Vector,
)
from codegen.scop.model import Scop
from codegen.scop.product import Exact, MatrixVector, Nested
from codegen.scop.tree import Band, Hold, Leaf, Loop, Node, kids


def show(plans: tuple[Plan, ...], scops: Mapping[int, Scop]) -> str:
    """The text of a plan file."""
    out = []
    for plan in plans:
        head = f"region {plan.region}" + (f" part {plan.part}" if plan.part else "")
        head += f" digest {plan.digest}" if plan.digest else ""
        scop = scops.get(plan.region)
        where = f"  # {scop.function}, line {scop.loc.line}" if scop is not None else ""
        out.append(head + where)
        out.extend("  " + line for d in plan.directives for line in show_directive(d, scop))
    return "\n".join(out) + "\n" if out else ""


def plan_hash(text: str) -> str:
    """Twelve digits that stand for a plan: the same for a plan that was printed and given back, whatever its
    comments and layout."""
    words = " ".join(word for line in text.splitlines() for word in line.partition("#")[0].split())
    return hashlib.sha256(words.encode()).hexdigest()[:12]


def show_directive(d: Directive, scop: Scop | None) -> list[str]:
    """One directive as lines without indentation."""
    return _SHOW[type(d)](d, scop)


def keyword(d: Directive) -> str:
    """The word that a directive begins with."""
    return "schedule" if isinstance(d, Schedule) else show_directive(d, None)[0].partition(" ")[0]


def _schedule(d: Schedule, scop: Scop | None) -> list[str]:
    assert scop is not None
    return ["schedule {", *["  " + line for line in show_tree(d.tree, scop)], "}"]


def show_tree(node: Node, scop: Scop) -> list[str]:
    """A tree as nested `loop ... { ... }`; a statement stands for itself."""
    if isinstance(node, Leaf):
        return [node.stmt]
    if isinstance(node, Band):
        head = "loop " + ", ".join(_loop(lp, scop) for lp in node.loops) + " {"
        return [head, *["  " + line for line in show_tree(node.child, scop)], "}"]
    if isinstance(node, Hold):
        return show_tree(node.child, scop)
    return [line for child in kids(node) for line in show_tree(child, scop)]


def _loop(lp: Loop, scop: Scop) -> str:
    """`i` when every statement's value is its own iterator i, else `i = {S1: i; S2: i + 1}`."""
    texts = {name: affine_text(lp.exprs[name]) for name in _in_order(lp.exprs)}
    if all(t == lp.name for t in texts.values()):
        return lp.name
    if len(set(texts.values())) == 1:
        return f"{lp.name} = ({next(iter(texts.values()))})"
    return f"{lp.name} = {{{'; '.join(f'{n}: {t}' for n, t in texts.items())}}}"


def _in_order(by_statement: Mapping[str, object]) -> list[str]:
    return sorted(by_statement, key=lambda n: int(n[1:]))


def affine_text(value: isl.PwAff) -> str:
    """An affine value in isl's notation, without its space."""
    pieces = value.get_pieces()
    assert len(pieces) == 1, "schedules are affine"
    text = pieces[0][1].to_str()
    inner = text[text.rindex("-> [") + 4 : text.rindex("]")]
    return str(inner[1:-1]) if inner.startswith("(") and inner.endswith(")") else str(inner)


def _block(d: StripMine, scop: Scop | None) -> list[str]:
    values = "; ".join(f"{n}: {affine_text(d.values[n])}" for n in _in_order(d.values))
    apart = "; ".join(f"{n}: {', '.join(map(affine_text, d.apart[n]))}" for n in _in_order(d.apart) if d.apart[n])
    return [f"block {d.name} = {{{values}}} by {d.size}" + (f" split {{{apart}}}" if apart else "")]


def _tile(d: Tile, scop: Scop | None) -> list[str]:
    return ["tile " + ", ".join(f"{ref}:{size}" for ref, size in d.loops) + (" full" if d.full else "")]


def _parallel(d: Parallel, scop: Scop | None) -> list[str]:
    return [f"parallel {d.loop}" + (f" with {d.also}" if d.also else "") + (f" by {d.by}" if d.by else "")]


def _keep(d: CopyReads, scop: Scop | None) -> list[str]:
    read = "".join(f"[{x}]" for x in d.subscripts)
    cells = "".join(f"[{x}: {size}]" for x, size in d.at)
    return [f"copy {d.name}{cells} = {d.array}{read} for {', '.join(d.stmts)}"]


def _lanes(d: InLanes) -> str:
    block = f" by {d.vectors}" if d.vectors > 1 or d.row else ""
    return f"lanes {d.loop}{block}" + (f" with {d.row} by {d.rows}" if d.row else "")


def _stage(d: StageIn, scop: Scop | None) -> list[str]:
    where = f"at {LoopRef(d.loop, d.stmt)}" if d.loop else f"in {d.stmt}"
    return [f"stage {d.array} {where}" + (" ahead" if d.ahead else "")]


def _registers(d: Registers, scop: Scop | None) -> list[str]:
    tile = ", ".join(f"{ref}:{n}" for ref, n in d.loops)
    unit = f" on {d.unit}" if d.unit else ""
    return [f"registers {tile} threads {d.threads[0]} by {d.threads[1]}{unit}"]


def _shared(d: StageShared, scop: Scop | None) -> list[str]:
    pad = f" pad {d.pad}" if d.pad else ""
    return [f"stage {d.array} in shared at {d.loop}:{d.size} stages {d.stages}{pad}"]


def _store(d: StoreIn, scop: Scop | None) -> list[str]:
    dims = "".join(f" [{it} - {start}: {size}]" for it, start, size in d.dims)
    return [f"store {d.variable} in {d.loop}{dims}"]


def _multiply(d: Multiply, scop: Scop | None) -> list[str]:
    h = d.how
    if isinstance(h, MatrixVector):
        return _matvec(d, h)
    parts = [f"rows {', '.join(d.rows)}", *([f"columns {', '.join(d.columns)}"] if d.columns else [])]
    head = f"product {d.stmt} {' '.join(parts)} depth {', '.join(d.depth)}"
    nests = [line for x in h.exact for line in _nest(x)]
    if isinstance(h, Nested):
        return [head, f"  isa {h.isa} bits {h.bits} {nests[0].removeprefix('  or ')}", *nests[1:]]
    tile = f"tile {h.mr} by {h.nv} vectors{' spread' if h.spread else ''}"
    return [
        head,
        f"  isa {h.isa} bits {h.bits} {tile}, block {h.mc} by {h.kc} by {h.nc}{f' run {h.run}' if h.run else ''},",
        f"  direct {h.direct} threads {h.threads}",
        *nests,
    ]


def _nest(x: Exact) -> list[str]:
    if not x.strides:
        return [f"  or nest {_loops(x.loops)}"]
    sides = zip(("left", "right", "target"), x.strides, strict=True)
    apart = ", ".join(f"{side} {' '.join(f'{n}:{step}' for n, step in part)}" for side, part in sides)
    return [f"  or nest {_loops(x.loops)},", f"  {apart}"]


def _loops(loops: tuple[tuple[str, int, int, str], ...]) -> str:
    words = {"A": " left", "B": " right"}
    return ", ".join(
        f"{n}:{size}" + (f" + {rest}" if rest else "") + (" threads" if "T" in marks else "")
        + ("".join([" pack", *(words[x] for x in marks if x in words)]) if set(marks) & set(words) else "")
        for n, size, rest, marks in loops
    )


def _matvec(d: Multiply, h: MatrixVector) -> list[str]:
    sets = f" pair {h.pair}," if h.pair else ""
    sets += f" period {h.period} ways {h.ways}," if h.period else ""
    return [
        f"product {d.stmt} rows {', '.join(d.rows)} depth {', '.join(d.depth)}",
        f"  isa {h.isa} bits {h.bits} form {h.form} streams {h.streams} by {h.vectors} vectors,{sets}",
        f"  block {h.block} shared {h.shared} ahead {h.ahead}, near {h.near} close {h.close},",
        f"  direct {h.direct} threads {h.threads}",
    ]


_SHOW: Mapping[type, Callable[..., list[str]]] = {
    Forward: lambda d, s: [f"forward {d.variable}"],
    Substitute: lambda d, s: [f"substitute {d.variable}"],
    Expand: lambda d, s: [
        f"expand {d.variable} over {', '.join(d.over)}{f' in {d.within}' if d.within else ''} limit {d.limit}"
    ],
    StripMine: _block,
    CopyReads: _keep,
    Relayout: lambda d, s: [f"layout {d.name} = {d.array} by {d.size}{' new' if d.fresh else ''}"],
    Schedule: _schedule,
    Tile: _tile,
    Balance: lambda d, s: [f"balance {d.loop} by {d.size}"],
    Diamond: lambda d, s: [f"diamond {d.time}, {d.space} by {d.size}"],
    Order: lambda d, s: ["order " + ", ".join(map(str, d.loops))],
    Reverse: lambda d, s: [f"reverse {d.loop}"],
    Skew: lambda d, s: [f"skew {d.loop} by {d.factor}*{d.by}"],
    Unskew: lambda d, s: [f"unskew {d.loop} as {d.iterator}"],
    Distribute: lambda d, s: [f"distribute {d.loop}"],
    Parallel: _parallel,
    Ranks: lambda d, s: [f"ranks {d.loop}"],
    Pipeline: lambda d, s: [f"pipeline {d.loop} along {d.along}"],
    Vector: lambda d, s: [f"vector {d.loop}" + (f" by {d.times} of {d.width} bytes" if d.width else "")],
    Interleave: lambda d, s: [f"interleave {d.loop}"],
    ScalarReplace: lambda d, s: [f"scalar_replace {d.loop}"],
    Jam: lambda d, s: [f"jam {d.loop} by {d.factor}"],
    Unroll: lambda d, s: [f"unroll {d.loop} by {d.factor}"],
    StoreIn: _store,
    StageIn: _stage,
    OnMesh: lambda d, s: [f"mesh {d.stmt}"],
    InLanes: lambda d, s: [_lanes(d)],
    TimeSteps: lambda d, s: [
        f"steps {d.loop} by {d.steps} of {', '.join(map(str, d.sides))}"
        f"{f' threads {d.threads}' if d.threads else ''}{' stream' if d.stream else ''}"
    ],
    Stay: lambda d, s: [f"stay {d.array} from {d.stmt} by {d.tiles}"],
    Registers: _registers,
    StageShared: _shared,
    Grid: lambda d, s: ["grid " + ", ".join(f"{ref}:{n}" for ref, n in d.loops)],
    Multiply: _multiply,
}
