"""Builds the statements of a nest in vectors on a compute core (`SlaveView`): register blocks with their edges, or a
plain loop in lanes; and what it costs in cycles, as numbers and as C text for the timing model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from codegen.ast.ctree import Bin, CExpr, For, Instance, Name, expr_names, substitute
from codegen.record import record
from codegen.scop.expr import Expr, Ref
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop, Statement
from codegen.sunway.plan.cost import COUNTING, arithmetic, point_cost, trips
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.text.views import SlaveView, line
from codegen.sunway.vector.nests import LaneText, RegisterBlock, vector_type
from codegen.target.text.body import BodyPrinter
from codegen.target.text.cexpr import IntPrinter


@record
class VectorPrinter:
    """Prints one nest. `body` makes printers of statement bodies, `names` has names of loops, `fresh` makes others."""

    scop: Scop
    group: CoreGroup
    helpers: set[str]
    names: Mapping[str, str]
    body: Callable[[IntPrinter], BodyPrinter]
    local: Mapping[tuple[int, int], object]
    fresh: Callable[[str], str]

    def ints(self, names: Mapping[str, str]) -> IntPrinter:
        return IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)

    def views(self, b: RegisterBlock) -> tuple[SlaveView, ...]:
        s = self.scop.statement(b.nest.instance.stmt)
        elem = self.scop.arrays[s.accesses[s.target].array].elem
        lanes = self.group.lanes(elem.bytes)
        names = {**self.names, **{lp.var: self.fresh(lp.loop.name) for lp in b.nest.loops}}
        kind, suffix = vector_type(elem.bits, lanes)
        own = {w: self.fresh(w) for w in ("acc", "u", "w", *(f"v{k}" for k in range(len(s.accesses))),
                                          *(f"x{k}" for k in range(len(s.accesses) + 4)))}  # fmt: skip
        make = _Nest(self, b, names, kind, suffix, lanes, "double" if elem.bits == 64 else "float", own)
        return make.blocked() if b.depth else make.simple()

    def model(self, b: RegisterBlock) -> tuple[SlaveView, ...]:
        """Cycles in place of the nest; loops that others depend on stay loops."""
        own = {lp.var for lp in b.nest.loops}
        if not any(own & (expr_names(lp.lower) | expr_names(lp.upper)) for lp in b.nest.loops):
            return (line(f"sw_work({self.cost(b, self.names)});"),)
        names = {**self.names, **{lp.var: self.fresh(lp.loop.name) for lp in b.outer}}
        views: tuple[SlaveView, ...] = (line(f"sw_work({self.cost(replace(b, outer=()), names)});"),)
        ints = self.ints(names)
        for lp in reversed(b.outer):
            n = names[lp.var]
            head = f"long {n} = {ints.text(lp.lower)}; {n} {lp.op} {ints.text(lp.upper, 5)}; {n}++"
            views = (SlaveView("for", head, views),)
        return views

    def cost(self, b: RegisterBlock, names: Mapping[str, str]) -> str:
        """Cycles, as a C expression in terms of the loops around."""
        ints = self.ints(names)
        n = {lp.var: trips(lp, ints) for lp in b.nest.loops}
        c = block_cost(self.scop, self.group, b, self.local)
        around = " * ".join(n[lp.var] for lp in b.outer) or "1"
        if not b.depth:
            lane = n[b.lane.var]
            return f"{around} * ({lane} / {c.lanes} * {c.step:g} + {lane} % {c.lanes} * {c.plain:g} + {c.around:g})"
        self.helpers.add("tw_max")
        depth = " * ".join(n[lp.var] for lp in b.depth)
        rows = n[b.row.var] if b.row is not None else "1"
        block = f"({depth} * {c.step:g} + {c.around:g})"
        blocks = f"{rows} / {b.tall} * ({n[b.lane.var]} / {b.wide * c.lanes})"
        left = f"({rows} * {n[b.lane.var]} - {blocks} * {b.tall * b.wide * c.lanes})"
        return f"{around} * ({blocks} * {block} + {left} * {depth} * {c.plain:g})"


@record
class BlockCost:
    """Cycles of a nest in vectors: for a step of its depth, or for a vector where it has none; around each block, or
    row; and for an element of the edges."""

    lanes: int
    step: float
    around: float
    plain: float


def block_cost(
    scop: Scop, group: CoreGroup, b: RegisterBlock, local: Mapping[tuple[int, int], object]
) -> BlockCost:
    """Both pipes count: arithmetic in one; loads, stores and what brings one element to all lanes in the other."""
    s = scop.statement(b.nest.instance.stmt)
    lanes = group.lanes(scop.arrays[s.accesses[s.target].array].elem.bytes)
    innermost = (*(lp.var for lp in b.outer), b.lane.var, *(lp.var for lp in b.depth))
    plain = point_cost(scop, group, b.nest.instance, local, innermost)
    if not b.depth:
        slots = 2 * len(b.vectors) + 2 + (2 if s.op != "=" else 0) + COUNTING
        return BlockCost(lanes, max(arithmetic(s, group), slots), 4, plain)
    # A turned vector is made of elements of several rows; of the others each may lie across two vectors' places.
    loads = sum(lanes + group.set_slots if k in b.turned else 2 for k in b.vectors)
    scalars = len(_read(s) - {*b.vectors})
    slots_of_step = loads * b.wide + b.tall * scalars * group.broadcast + COUNTING
    step = max(b.tall * b.wide * arithmetic(s, group), slots_of_step)
    return BlockCost(lanes, step, b.tall * b.wide * 5 + 8, plain)


@record
class _Nest:
    """The pieces of one nest."""

    p: VectorPrinter
    b: RegisterBlock
    names: Mapping[str, str]
    kind: str
    suffix: str
    lanes: int
    elem: str
    own: Mapping[str, str]  # names of the nest's own variables

    # -- access texts ------------------------------------------------------------------------------

    def _printer(self) -> BodyPrinter:
        return self.p.body(self.p.ints(self.names))

    def _at(self, shifts: Mapping[str, str]) -> Instance:
        """The instance with some loop variables moved on by C variables."""
        env: dict[str, CExpr] = {v: Bin("+", Name(v), Name(t)) for v, t in shifts.items()}
        node = self.b.nest.instance
        made = Instance(
            node.stmt,
            tuple(substitute(e, env) for e in node.iterators),
            tuple(tuple(substitute(e, env) for e in a) for a in node.accesses),
            tuple(substitute(e, env) for e in node.values),
        )
        return made

    def _access(self, number: int, shifts: Mapping[str, str]) -> str:
        printer = self._printer()
        at = self._at(shifts)
        known = getattr(printer, "locals", {})
        moved = {**known, **{(id(at), k): known[id(self.b.nest.instance), k]
                             for k in range(len(at.accesses)) if (id(self.b.nest.instance), k) in known}}
        return replace(printer, locals=moved).access(self._s, at, number)  # type: ignore[call-arg]

    def _scalar(self, e: Expr, shifts: Mapping[str, str]) -> str:
        printer = self._printer()
        at = self._at(shifts)
        known = getattr(printer, "locals", {})
        moved = {**known, **{(id(at), k): known[id(self.b.nest.instance), k]
                             for k in range(len(at.accesses)) if (id(self.b.nest.instance), k) in known}}
        return replace(printer, locals=moved)._text(e, self._s, at, 1)  # type: ignore[call-arg]

    @property
    def _s(self):  # type: ignore[no-untyped-def]
        return self.p.scop.statement(self.b.nest.instance.stmt)

    def _head(self, lp: For, start: str = "", step: int = 1) -> str:
        ints = self.p.ints(self.names)
        name = self.names[lp.var]
        first = start or ints.text(lp.lower)
        advance = f"{name}++" if step == 1 else f"{name} += {step}"
        return f"long {name} = {first}; {name} {lp.op} {ints.text(lp.upper, 5)}; {advance}"

    def _end(self, lp: For) -> str:
        ints = self.p.ints(self.names)
        return ints.text(lp.upper, 5) + (" + 1" if lp.op == "<=" else "")

    def _around(self, loops: tuple[For, ...], body: tuple[SlaveView, ...]) -> tuple[SlaveView, ...]:
        for lp in reversed(loops):
            body = (SlaveView("for", self._head(lp), body),)
        return body

    def _plain(self) -> SlaveView:
        s = self._s
        return line(f"{self._access(s.target, {})} {s.op} {self._scalar(s.rhs, {})};")

    def _lanes_of(self, vector: Callable[[int], str], shifts: Mapping[str, str]) -> LaneText:
        return LaneText(self.suffix, self.kind, self.lanes, frozenset({*self.b.vectors, *self._own()}),
                     lambda e: self._scalar(e, shifts), vector, self.p.group.crts,
                     self.p.group.fuses)

    def _own(self) -> set[int]:
        """Reads of the target's own element."""
        s = self._s
        at = self.b.nest.instance.accesses
        return {k for k in range(len(s.accesses)) if k != s.target and at[k] == at[s.target]
                and s.accesses[k].array == s.accesses[s.target].array}

    # -- a loop in lanes ---------------------------------------------------------------------------

    def simple(self) -> tuple[SlaveView, ...]:
        """Vectors along the lane loop, innermost; what is left over one by one."""
        b, s = self.b, self._s
        name, n = self.names[b.lane.var], self.lanes
        read = {*b.vectors, *(self._own() if s.op == "=" else ())}
        refs = sorted(read)
        acc = self.own["acc"]
        loads = [line(f"{self.kind} {', '.join([*(self.own[f'v{k}'] for k in refs), acc])};")]
        for k in refs:
            loads.append(line(f"simd_loadu({self.own[f'v{k}']}, &{self._access(k, {})});"))
        if s.op != "=":
            loads.append(line(f"simd_loadu({acc}, &{self._access(s.target, {})});"))
        lanes = self._lanes_of(lambda k: self.own[f"v{k}"], {})
        work = line(f"{acc} = {lanes.accumulate(s.op, s.rhs, acc)};")
        store = line(f"simd_storeu({acc}, &{self._access(s.target, {})});")
        ints = self.p.ints(self.names)
        last = f"{name} + {n} <= {self._end(b.lane)}"
        vectors = SlaveView("for", f"; {last}; {name} += {n}", (*loads, work, store), comment=f"{n} at a time")
        rest = SlaveView("for", f"; {name} < {self._end(b.lane)}; {name}++", (self._plain(),))
        start = line(f"long {name} = {ints.text(b.lane.lower)};")
        return self._around(b.outer, (SlaveView("block", body=(start, vectors, rest)),))

    # -- register blocks ---------------------------------------------------------------------------

    def blocked(self) -> tuple[SlaveView, ...]:
        """Blocks of the target in registers over the whole depth; edges one by one."""
        b = self.b
        lane, wide = self.names[b.lane.var], b.wide * self.lanes
        ints = self.p.ints(self.names)
        start = line(f"long {lane} = {ints.text(b.lane.lower)};")
        blocks = SlaveView("for", f"; {lane} + {wide} <= {self._end(b.lane)}; {lane} += {wide}", self._block(),
                      comment=f"{b.tall} x {wide} elements in registers")
        depth = self._around(b.depth, (self._plain(),))
        if b.row is None:
            rest = SlaveView("for", f"; {lane} < {self._end(b.lane)}; {lane}++", depth)
            return self._around(b.outer, (SlaveView("block", body=(start, blocks, rest)),))
        row = self.names[b.row.var]
        edge = SlaveView("for", f"long {row}_e = {row}; {row}_e < {row} + {b.tall}; {row}_e++",
                    (line(f"const long {row} = {row}_e;"), SlaveView("for", f"long {lane}_e = {lane}; {lane}_e < "
                     f"{self._end(b.lane)}; {lane}_e++", (line(f"const long {lane} = {lane}_e;"), *depth))))
        full = SlaveView("for", f"; {row} + {b.tall} <= {self._end(b.row)}; {row} += {b.tall}", (start, blocks, edge))
        left = SlaveView(
            "for", f"; {row} < {self._end(b.row)}; {row}++", (SlaveView("for", self._head(b.lane), depth),)
        )
        first = line(f"long {row} = {ints.text(b.row.lower)};")
        return self._around(b.outer, (SlaveView("block", body=(first, full, left)),))

    def _block(self) -> tuple[SlaveView, ...]:
        b, s = self.b, self._s
        u, w, acc_ = self.own["u"], self.own["w"], self.own["acc"]
        tall = b.row is not None
        rows = b.tall
        down = {b.row.var: u} if b.row is not None else {}
        acc = f"{acc_}[{u}][{w} / {self.lanes}]" if tall else f"{acc_}[{w} / {self.lanes}]"
        each = f"long {w} = 0; {w} < {b.wide * self.lanes}; {w} += {self.lanes}"
        rows_head = f"int {u} = 0; {u} < {rows}; {u}++"

        def grid(view: SlaveView, *before: SlaveView) -> tuple[SlaveView, ...]:
            inner = SlaveView("for", each, (view,))
            return (SlaveView("for", rows_head, (*before, inner)),) if tall else (*before, inner)

        target = self._access(s.target, {b.lane.var: w, **down})
        declare = f"{self.kind} {acc_}[{rows}][{b.wide}];" if tall else f"{self.kind} {acc_}[{b.wide}];"
        loads: list[SlaveView] = []
        for k in b.vectors:
            loads += [
                line(f"{self.kind} {self.own[f'v{k}']}[{b.wide}];"),
                SlaveView("for", each, (line(self._load(k)),)),
            ]
        scalars: dict[str, tuple[str, bool]] = {}  # texts, their names, and whether they are elements in memory

        lanes = self._lanes_of(lambda k: f"{self.own[f'v{k}']}[{w} / {self.lanes}]", down)

        def spread(e: Expr) -> str:
            text = self._scalar(e, down)
            x = scalars.setdefault(text, (self.own[f"x{len(scalars)}"], isinstance(e, Ref) and self._in_memory(e)))[0]
            return x if scalars[text][1] or self.p.group.crts else lanes.splat(x)

        step = line(f"{acc} = {replace(lanes, same=spread).accumulate(s.op, s.rhs, acc)};")
        values = tuple(y for text, (x, there) in scalars.items() for y in self._in_all_lanes(x, text, there))
        return (
            line(declare),
            *grid(line(f"simd_loadu({acc}, &{target});")),
            *self._around(b.depth, (*loads, *grid(step, *values))),
            *grid(line(f"simd_storeu({acc}, &{target});")),
        )

    def _in_memory(self, e: Ref) -> bool:
        """Is it an element of an array, which a load can bring to all lanes?"""
        return bool(self.b.nest.instance.accesses[e.access])

    def _in_all_lanes(self, x: str, text: str, there: bool) -> tuple[SlaveView, ...]:
        """A value of all lanes under a name, by the shortest way that the machine has."""
        if self.p.group.crts:
            return line(f"{self.kind} {x};"), line(f"{x} = simd_vcpyf{self.suffix}({text});")
        if there:
            return line(f"{self.kind} {x};"), line(f"simd_loade({x}, &{text});")
        return (line(f"const {self.elem} {x} = {text};"),)

    def _load(self, k: int) -> str:
        """One vector of an operand; of a turned one, an element of each of several rows."""
        w, into = self.own["w"], f"{self.own[f'v{k}']}[{self.own['w']} / {self.lanes}]"
        if k not in self.b.turned:
            return f"simd_loadu({into}, &{self._access(k, {self.b.lane.var: w})});"
        parts = ", ".join(self._access(k, {self.b.lane.var: f"{w} + {q}" if q else w}) for q in range(self.lanes))
        return f"{into} = simd_set_{self.kind}({parts});"


def _read(s: Statement) -> set[int]:
    """Accesses of the right-hand side, other than the written element."""
    return {e.access for e in walk_expr(s.rhs) if isinstance(e, Ref)} - {s.target}
