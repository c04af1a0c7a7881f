"""Builds the multiplication step of a mesh matrix product on Sunway cores (`product`: from `MeshTiles` to `SlaveView`
statements): wait for the slices, scale the left one, pass them along rows and columns by register messages or RMA
broadcasts, and multiply in vectors. For the timing model, calls that count cycles stand in place of the arithmetic."""

from __future__ import annotations

from codegen.scop.expr import Binary, Expr, Lit, Ref, Sym
from codegen.sunway.mesh.panels import GIVERS
from codegen.sunway.mesh.views import MeshTiles, scaled, sides
from codegen.sunway.plan.cost import COUNTING
from codegen.sunway.text import dialect
from codegen.sunway.text.views import SlaveView, line
from codegen.sunway.vector.nests import ROWS, VECTORS
from codegen.target.view import fresh, reserved

WORDS = ("i", "j", "k", "u", "w", "s", "here", "left", "right", "acc", "from", "x", "e")
BLOCK = 42  # cycles for loading and storing a block of the target
SLICE = 6  # cycles around a slice of a block


def product(x: MeshTiles) -> tuple[SlaveView, ...]:
    """Wait for the slices; then all of them in turn, on every core."""
    taken = frozenset(reserved(x.phase.scop) | set(x.names.values()) | set(x.own.values()))
    words = {n: fresh(n, taken) for n in WORDS}
    return (*_arrived(x, words), *(_by_broadcast if x.phase.group.crts else _by_messages)(x, words))


def _arrived(x: MeshTiles, n: dict[str, str]) -> list[SlaveView]:
    m, group = x.m, x.phase.group
    it, jt, kt = (x.names[lp.var] for lp in (m.rows, m.columns, m.depth))
    out: list[SlaveView] = []
    for b, _, n0, n1, half in sides(x, it, jt, kt):
        copy = f"{b.name}_ldm"
        size = (f"{b.name}_len0", f"{b.name}_len1")
        out.append(line(f"const long {size[0]} = {n0}, {size[1]} = {n1};"))
        views: list[SlaveView] = [line(dialect.wait(group, f"&{b.name}_got", "1"))]
        if b is m.right and not x.phase.model:
            views.append(line(f"tw_widen({copy}, {size[0]}, {size[1]}, {x.own['wide']});"))
        elif b is m.left and not isinstance(m.scalar, Ref):
            views += _scale(x, n, f"{size[0]} * {size[1]}")  # once for all who will multiply with it
        out.append(SlaveView("if", f"{half} == {x.own['half']} && {size[0]} > 0 && {size[1]} > 0", tuple(views)))
    return out


def _scale(x: MeshTiles, n: dict[str, str], count: str) -> list[SlaveView]:
    """The left slice times what stands in front of it, in vectors where that is a plain product."""
    m, lanes, e, scalar = x.m, x.phase.group.lanes(8), n["e"], x.m.scalar
    at = f"{m.left.name}_ldm[{e}]"
    factor = _factor(scalar)
    if x.phase.model:
        return [line(f"sw_work({count} * {2 / lanes if factor else 2:g});")]
    if factor is None:
        return [SlaveView("for", f"long {e} = 0; {e} < {count}; {e}++", (line(f"{at} = {scaled(scalar, at)};"),))]
    f, v, kind = scaled(factor, ""), n["left"], f"doublev{lanes}"
    return [SlaveView("for", f"long {e} = 0; {e} < {count}; {e} += {lanes}", (
        line(f"{kind} {v};"), line(f"simd_load({v}, &{at});"),
        line(f"{v} = simd_vmuld({v}, simd_set_{kind}({', '.join([f] * lanes)}));"),
        line(f"simd_store({v}, &{at});")))]  # fmt: skip


def _factor(e: Expr) -> Expr | None:
    """What an element is multiplied with, if that is all that happens to it; a product may be written either way."""
    if not isinstance(e, Binary) or e.op != "*":
        return None
    other = e.left if isinstance(e.right, Ref) else e.right if isinstance(e.left, Ref) else None
    if isinstance(other, Sym):
        return other if other.ctype is not None and other.ctype.kind == "float" and other.ctype.bits <= 64 else None
    return other if isinstance(other, Lit) and not other.text.lower().endswith("l") else None


def _counts(x: MeshTiles) -> tuple[str, str]:
    """Rows and columns that the first core has; all others go along."""
    m, o, w = x.m, x.own, x.phase.words
    it, jt = x.names[m.rows.var], x.names[m.columns.var]
    down = f"tw_min({o['tall']}, {x.text(m.rows)} - {it} + {w.row} * {o['tall']})"
    across = f"tw_min({o['wide']}, {x.text(m.columns)} - {jt} + {w.column} * {o['wide']})"
    return down, across


def _grid(n: dict[str, str], lanes: int, text: str) -> SlaveView:
    each = f"int {n['w']} = 0; {n['w']} < {VECTORS * lanes}; {n['w']} += {lanes}"
    return SlaveView(
        "for", f"int {n['u']} = 0; {n['u']} < {ROWS}; {n['u']}++", (SlaveView("for", each, (line(text),)),)
    )


def _added(x: MeshTiles, n: dict[str, str], acc: str, right: str) -> SlaveView:
    """A product goes to a register of sums: by one operation that rounds once, or by two."""
    if x.phase.group.fuses:
        return line(f"{acc} = simd_vmad({n['left']}, {right}, {acc});")
    return line(f"{acc} = simd_vaddd({acc}, simd_vmuld({n['left']}, {right}));")


def _block_slots(x: MeshTiles) -> int:
    """Slots of the arithmetic pipe for a step of the depth."""
    return ROWS * VECTORS * (1 if x.phase.group.fuses else 2)


def _sender_slots(x: MeshTiles) -> float:
    """Slots of the memory pipe, for a step of the depth, of a core that sends both operands: all others wait for it."""
    return VECTORS + ROWS * x.phase.group.broadcast + ROWS + 1 + COUNTING  # loads that send, and branches


def _by_messages(x: MeshTiles, n: dict[str, str]) -> tuple[SlaveView, ...]:
    """Vector by vector: a row of cores sends right operands down, the column that has a row of the left one along."""
    m, w, kt = x.m, x.phase.words, x.names[x.m.depth.var]
    lanes, size = x.phase.group.lanes(8), x.own["deep"]
    down, across = _counts(x)
    wide, end = VECTORS * lanes, x.text(m.depth)
    if x.phase.model:
        blocks = f"tw_panels({down}, {ROWS}) * tw_panels({across}, {wide})"
        deep = f"tw_max(0, tw_min({x.step}, {end} - {kt}))"
        work = f"{blocks} * ({deep} * {max(_block_slots(x), _sender_slots(x)):g} + {BLOCK} + {GIVERS * SLICE})"
        return (line(f"sw_mesh_work({work}, {blocks} * {deep});"),)
    i, j, k, u, v, s, deep = (n[t] for t in ("i", "j", "k", "u", "w", "s", "here"))
    kind, a, first = f"doublev{lanes}", m.left.name, f"{x.own['half']} * {GIVERS}"
    acc, right = f"{n['acc']}[{u}][{v} / {lanes}]", f"{n['right']}[{v} / {lanes}]"
    target = f"&{m.target.name}_t[{i} + {u}][{j} + {v}]"
    each = f"int {v} = 0; {v} < {wide}; {v} += {lanes}"
    up = f"int {u} = 0; {u} < {ROWS}; {u}++"
    b_at = f"&{m.right.name}_ldm[{k} * {x.own['wide']} + {j} + {v}]"
    # Loads that send what they load: one slot of the memory pipe each, and not more of them than products.
    give_b = SlaveView("if", f"{w.row} == {first} + {s}",
        (SlaveView("for", each, (line(f"simd_loadc({right}, {b_at});"),)),),
        (SlaveView("for", each, (line(f"{right} = simd_getc({right});"),)),))  # fmt: skip
    give_a = SlaveView("if", f"{w.column} == {n['from']}[{u}]",
        (line(f"simd_loader({n['left']}, &{a}_row[{u}][{s} * {size} + {k}]);"),),
        (line(f"{n['left']} = simd_getr({n['left']});"),))  # fmt: skip
    step = (
        line(f"{kind} {n['left']}, {n['right']}[{VECTORS}];"),
        give_b,
        SlaveView(
            "for", up, (give_a, SlaveView("for", each, (_added(x, n, acc, right),)))
        ),
    )
    whose = SlaveView("for", up, (
        line(f"{n['from']}[{u}] = {first} + ({i} + {u}) / {a}_rows;"),
        line(f"{a}_row[{u}] = &{a}_ldm[({i} + {u}) % {a}_rows * {a}_len1];")))  # fmt: skip
    slices = SlaveView("for", f"int {s} = 0; {s} < {GIVERS}; {s}++", (
        line(f"const long {deep} = tw_min({size}, {end} - {kt} - {s} * {size});"),
        SlaveView("for", f"long {k} = 0; {k} < {deep}; {k}++", step)),
        comment="a slice comes down from one row of cores, its left rows along from their columns")  # fmt: skip
    block = (line(f"{kind} {n['acc']}[{ROWS}][{VECTORS}];"), _grid(n, lanes, f"simd_load({acc}, {target});"), slices,
             _grid(n, lanes, f"simd_store({acc}, {target});"))  # fmt: skip
    return (SlaveView("for", f"long {i} = 0; {i} < {down}; {i} += {ROWS}", (
        line(f"long {n['from']}[{ROWS}];"),
        line(f"const double *{a}_row[{ROWS}];"),
        whose,
        SlaveView("for", f"long {j} = 0; {j} < {across}; {j} += {wide}", block)),
        comment=f"{ROWS} x {wide} elements in registers"),)  # fmt: skip


def _by_broadcast(x: MeshTiles, n: dict[str, str]) -> tuple[SlaveView, ...]:
    """Slice by slice between local memories: while one is multiplied the next is on its way into the other copy."""
    m, w, kt = x.m, x.phase.words, x.names[x.m.depth.var]
    s, deep, size, end = n["s"], n["here"], x.own["deep"], x.text(m.depth)
    a, b = m.left.name, m.right.name
    copy, other = f"[{s} % 2]", f"[({s} + 1) % 2]"

    def depth(of: str) -> str:
        return f"tw_min({size}, {end} - {kt} - {of} * {size})"

    def send(which: str, to: str, buffer: str, count: str) -> SlaveView:
        what = f"{buffer}_in{copy}, {buffer}_ldm, {count} * 8"
        call = f"athread_rma_{to}_ibcast({what}, &{buffer}_sent, &{buffer}_here{copy});"
        who = f"{which} == {x.own['half']} * {GIVERS} + {s}"
        wait = line(f"athread_rma_wait_value(&{buffer}_sent, 1);")
        return SlaveView("if", who, (wait, line(f"{buffer}_sent = 0;"), line(call)))

    steps = (
        SlaveView("if", f"{s} < {GIVERS} && {depth(s)} > 0", (
            line(f"{a}_here{copy} = 0, {b}_here{copy} = 0;"),
            line(f"{dialect.BARRIER} /* nobody works on the slices of this copy any more */"),
            send(w.column, "row", a, f"{x.own['tall']} * {depth(s)}"),
            send(w.row, "col", b, f"{depth(s)} * {x.own['wide']}"),
        )),
        line(f"const long {deep} = {s} > 0 ? {depth(f'({s} - 1)')} : 0;"),
        SlaveView("if", f"{deep} > 0", (
            line(f"athread_rma_wait_value(&{a}_here{other}, 1);"),
            line(f"athread_rma_wait_value(&{b}_here{other}, 1);"),
            *_multiply(x, n, other),
        )),
    )  # fmt: skip
    loop = SlaveView("for", f"int {s} = 0; {s} <= {GIVERS}; {s}++", steps,
                comment="a slice comes from the column and the row of its number")  # fmt: skip
    return (loop,)


def _multiply(x: MeshTiles, n: dict[str, str], copy: str) -> tuple[SlaveView, ...]:
    m, lanes = x.m, x.phase.group.lanes(8)
    down, across = _counts(x)
    wide = VECTORS * lanes
    i, j, k, u, v, deep = (n[t] for t in ("i", "j", "k", "u", "w", "here"))
    if x.phase.model:
        blocks = f"tw_panels({down}, {ROWS}) * tw_panels({across}, {wide})"
        slots = VECTORS + ROWS * x.phase.group.broadcast + COUNTING
        return (line(f"sw_work({blocks} * ({deep} * {max(_block_slots(x), slots):g} + {BLOCK + SLICE}));"),)
    kind, acc = f"doublev{lanes}", f"{n['acc']}[{u}][{v} / {lanes}]"
    each, up = f"int {v} = 0; {v} < {wide}; {v} += {lanes}", f"int {u} = 0; {u} < {ROWS}; {u}++"
    target = f"&{m.target.name}_t[{i} + {u}][{j} + {v}]"
    right = f"{n['right']}[{v} / {lanes}]"
    step = (
        line(f"{kind} {n['right']}[{VECTORS}];"),
        SlaveView("for", each, (
            line(f"simd_load({right}, &{m.right.name}_in{copy}[{k} * {x.own['wide']} + {j} + {v}]);"),)),
        SlaveView("for", up, (
            line(f"const {kind} {n['left']} = simd_vcpyfd({m.left.name}_in{copy}[({i} + {u}) * {deep} + {k}]);"),
            SlaveView("for", each, (_added(x, n, acc, right),)),
        )),
    )  # fmt: skip
    block = (
        line(f"{kind} {n['acc']}[{ROWS}][{VECTORS}];"),
        _grid(n, lanes, f"simd_load({acc}, {target});"),
        SlaveView("for", f"long {k} = 0; {k} < {deep}; {k}++", step),
        _grid(n, lanes, f"simd_store({acc}, {target});"),
    )
    return (SlaveView("for", f"long {i} = 0; {i} < {down}; {i} += {ROWS}",
                 (SlaveView("for", f"long {j} = 0; {j} < {across}; {j} += {wide}", block),),
                 comment=f"{ROWS} x {wide} elements in registers"),)  # fmt: skip
