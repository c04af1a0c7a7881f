"""Builds the statements of the function that runs all time steps of a stencil on a core (a tree of `SlaveView`,
which a template prints): tiles fetched with a halo, a sweep for each statement, results put into second copies of
the arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from codegen.ast.ctree import Bin, CExpr, For, Fun, Instance, Int, Name
from codegen.scop.tree import Loop
from codegen.strategy.loops.stencil import Stencil
from codegen.sunway.slave import KernelPrinter
from codegen.sunway.staging.local import LocalBuffer
from codegen.sunway.staging.transfer import DmaTransfer, Geometry
from codegen.sunway.stencil.shape import StencilTile
from codegen.sunway.text import dialect
from codegen.sunway.text.bodies import LocalView, base_type
from codegen.sunway.text.views import SlaveView, line
from codegen.target.view import fresh, reserved

if TYPE_CHECKING:
    from codegen.sunway.launch import LaunchPrinter


def stencil_views(launch: LaunchPrinter, s: Stencil, shape: StencilTile) -> tuple[SlaveView, ...]:
    """The body of the function that runs all time steps. Arrays called X_other are the second copies."""
    return _Writer(launch, s, shape).views()


class _Writer:
    def __init__(self, launch: LaunchPrinter, s: Stencil, shape: StencilTile) -> None:
        self.launch, self.s, self.shape = launch, s, shape
        self.scop, self.group, self.w = launch.scop, launch.group, launch.words
        taken = reserved(self.scop) | set(self.w.all) | self.scop.names
        words = ("steps", "left", "block", "blocks", "tt", "halo", "margin", "here", "border", "now")
        self.n = {w: fresh(w, taken) for w in words}
        self.at = [fresh(f"t{d}", taken) for d in range(s.axes)]
        self.low = [fresh(f"low{d}", taken) for d in range(s.axes)]
        self.len = [fresh(f"len{d}", taken) for d in range(s.axes)]
        self.all = (*s.written, *s.read)
        self.extents = self.scop.arrays[self.all[0]].extents
        self.phase = KernelPrinter(self.scop, self.group, launch.grid, launch.helpers, frozenset(), self.w,
                           style=launch.style, model=launch.model)  # fmt: skip
        launch.helpers |= {"tw_min", "tw_max"}

    def views(self) -> tuple[SlaveView, ...]:
        ints = self.phase._ints({})
        n, s = self.n, self.s
        past = ints.text(s.loop.upper, 5) + (" + 1" if s.loop.op == "<=" else "")
        first = ints.text(s.loop.lower, 5)
        total = f"tw_max(0, {past}{'' if first == '0' else f' - {first}'})"
        per = self.shape.steps
        out = list(self._buffers())
        out += [
            line(f"const long {n['left']} = {total};"),
            line("/* An even number of blocks, so that the last one writes to the caller's arrays. */"),
            line(f"const long {n['blocks']} = {n['left']} ? ({n['left']} + {2 * per - 1}) / {2 * per} * 2 : 0;"),
        ]
        inner: list[SlaveView] = [
            line(f"const long {n['steps']} = ({n['left']} * ({n['block']} + 1)) / {n['blocks']} - "
                 f"({n['left']} * {n['block']}) / {n['blocks']};"),
            line(f"const long {n['halo']} = {n['steps']} ? {s.halo} + {s.growth} * ({n['steps']} - 1) : 0;"),
            line(f"long {self.w.turn} = 0;"),
        ]
        for a in s.written:
            kind, dims = self._type(a)
            inner.append(line(f"{kind} (*const {a}_from){dims} = {n['block']} % 2 ? {a}_other : {a};"))
            inner.append(line(f"{kind} (*const {a}_to){dims} = {n['block']} % 2 ? {a} : {a}_other;"))
        body: list[SlaveView] = [
            line(f"if ({self.w.turn}++ % {self.launch.grid.count} != {self.w.id})"), line("  continue;"), *self._tile(),
        ]  # fmt: skip
        loops: tuple[SlaveView, ...] = tuple(body)
        for d in reversed(range(s.axes)):
            head = f"long {self.at[d]} = 0; {self.at[d]} < {self.extents[d]}; {self.at[d]} += {self.shape.sides[d]}"
            loops = (SlaveView("for", head, loops),)
        inner += loops
        inner.append(line(dialect.BARRIER))
        out.append(
            SlaveView(
                "for",
                f"long {n['block']} = 0; {n['block']} < {n['blocks']}; {n['block']}++",
                tuple(inner),
                comment=f"up to {per} time steps",
            )
        )
        return tuple(out)

    def _type(self, a: str) -> tuple[str, str]:
        return base_type(self.scop.arrays[a].elem), "".join(f"[{e}]" for e in self.extents[1:])

    def _buffers(self) -> list[SlaveView]:
        out = []
        halo = self.shape.halo(self.s)
        size = 1
        for side in self.shape.sides:
            size *= side + 2 * halo
        for a in self.all:
            out.append(line(f"{self._type(a)[0]} {a}_ldm[{size}] __attribute__((aligned(32)));"))
        out.append(line("volatile int got, put;"))
        for a in self.s.written:
            kind, dims = self._type(a)
            star = f"(*const {a}_other){dims}" if dims else f"*const {a}_other"
            out.append(line(f"{kind} {star} = (void *){self.w.args}->{a}_other;"))
        return out

    def _tile(self) -> list[SlaveView]:
        n, s = self.n, self.s
        out: list[SlaveView] = []
        for d in range(s.axes):
            low, far = self.low[d], f"tw_min({self.extents[d]}, {self.at[d]} + {self.shape.sides[d]} + {n['halo']})"
            out.append(line(f"const long {low} = tw_max(0, {self.at[d]} - {n['halo']});"))
            out.append(line(f"const long {self.len[d]} = {far} - {low};"))
        counts = []
        out.append(line("got = 0;"))
        for a in self.all:
            t = self._transfer(a, f"{a}_from" if a in s.written else a)
            get = t.commands(dialect.get, self.group, f"{a}_ldm", "&got")
            test = self._wanted(a) if a in s.fresh else ""
            name = self._name(a, "in")
            if test:
                out.append(line(f"const int {name} = {test};"))
            out.append(SlaveView("if", name, (get,)) if test else get)
            counts.append(t.count if not test else f"{name} * {t.count}" if t.count != "1" else name)
        out.append(line(dialect.wait(self.group, "&got", _sum(counts))))
        for a in self.all:
            kind, _ = self._type(a)
            dims = "".join(f"[{x}]" for x in self.len[1:])
            star = f"(*const {a}_t){dims}" if dims else f"*const {a}_t"
            out.append(line(f"{kind} {star} = (void *){a}_ldm;"))
        out.append(SlaveView("for", f"long {n['tt']} = {n['steps']} - 1; {n['tt']} >= 0; {n['tt']}--",
                        (*self._now(), *(v for k in range(len(s.sweeps)) for v in self._sweep(k))),
                        comment="steps that are still to come"))
        out.append(line("put = 0;"))
        for d in range(s.axes):
            own = f"tw_min({self.shape.sides[d]}, {self.extents[d]} - {self.at[d]})"
            out.append(line(f"const long {self.len[d]}_own = {own};"))
        self._puts: list[str] = []
        for a in s.written:
            out += self._put(a)
        out.append(line(dialect.wait(self.group, "&put", _sum(self._puts))))
        return out

    def _now(self) -> list[SlaveView]:
        """The number of the step, where something is indexed by it."""
        n, s = self.n, self.s
        if all(c is None for x in s.sweeps for c in x.clocks):
            return []
        first = self.phase._ints({}).text(s.loop.lower, 5)
        done = f"({n['left']} * {n['block']}) / {n['blocks']}"
        return [line(f"const long {n['now']} = {first} + {done} + {n['steps']} - 1 - {n['tt']};")]

    def _wanted(self, a: str) -> str:
        """An array that every step writes before it reads is fetched only where the tile meets its fixed border."""
        ints = self.phase._ints({})
        tests = [f"{self.n['steps']} == 0"]
        for x in (x for x in self.s.sweeps if x.target == a):
            for d in range(self.s.axes):
                tests.append(f"{self.low[d]} < {ints.text(x.lows[d], 5)}")
                tests.append(f"{self.low[d]} + {self.len[d]} > {ints.text(x.highs[d], 5)}")
        return " || ".join(dict.fromkeys(tests))

    def _geometry(self, base: str) -> Geometry:
        strides = tuple(" * ".join(f"({e})" if not e.isidentifier() else e for e in self.extents[k + 1 :]) or "1"
                        for k in range(self.s.axes))
        return Geometry(base, strides, False)

    def _transfer(self, a: str, base: str) -> DmaTransfer:
        most = (2,) * self.s.axes
        b = LocalBuffer(a, a, most, (), (), True, False, False, None, frozenset(), self.scop.arrays[a].elem.bytes)
        return DmaTransfer(b, self._geometry(base), tuple(self.low), tuple(self.len))

    def _put(self, a: str) -> list[SlaveView]:
        """The tile without its margin: moved together in local memory, then written by strided commands."""
        s, axes = self.s, range(self.s.axes)
        own = [f"{self.len[d]}_own" for d in axes]
        index = "".join(f"[{self.at[d]} - {self.low[d]} + q{d}]" for d in axes)
        place = "q0"
        for d in list(axes)[1:]:
            place = f"({place}) * {own[d]} + q{d}" if d > 1 else f"{place} * {own[d]} + q{d}"
        move: SlaveView = line(f"{a}_ldm[{place}] = {a}_t{index};")
        for d in reversed(axes):
            move = SlaveView("for", f"long q{d} = 0; q{d} < {own[d]}; q{d}++", (move,))
        if self.launch.model:
            move = line(f"sw_work(1.0 * {' * '.join(own)});")
        b = LocalBuffer(a, a, (2,) * s.axes, (), (), False, True, False, None, frozenset(),
                        self.scop.arrays[a].elem.bytes)
        t = DmaTransfer(b, self._geometry(f"{a}_to"), tuple(self.at), tuple(own))
        both = move, t.commands(dialect.put, self.group, f"{a}_ldm", "&put")
        if a not in s.fresh:
            self._puts.append(t.count)
            return list(both)
        name, n = self._name(a, "out"), self.n
        self._puts.append(name if t.count == "1" else f"{name} * {t.count}")
        last = f"{self._name(a, 'in')} || {n['block']} + 1 == {n['blocks']}"
        why = "within the borders it is written again before anybody reads it"
        return [line(f"const int {name} = {last};", why), SlaveView("if", name, both)]

    def _name(self, a: str, word: str) -> str:
        return fresh(f"{a}_{word}", reserved(self.scop))

    def _sweep(self, k: int) -> list[SlaveView]:
        """One statement on the part of the box that later steps need."""
        n, s, x = self.n, self.s, self.s.sweeps[k]
        margin = fresh(f"{n['margin']}{k}", reserved(self.scop))
        own = f"{s.margins[k]} + " if s.margins[k] else ""
        out = [line(f"const long {margin} = {own}{s.growth} * {n['tt']};")]
        stmt = self.scop.statement(x.stmt)
        names: dict[str, str] = {margin: margin}
        its = []
        for d in range(s.axes):
            var = f"\0{d}"
            its.append(var)
            names[self.at[d]], names[self.low[d]] = self.at[d], self.low[d]
        names[n["now"]] = n["now"]
        accesses = []
        for shift, clock in zip(x.shifts, x.clocks, strict=True):
            row = [_moved(Name(n["now"]), clock or 0)] if shift is None else [
                _moved(Name(its[d]), c) for d, c in enumerate(shift)]  # fmt: skip
            accesses.append(tuple(row))
        node: object = Instance(x.stmt, (Int(0), *(Name(v) for v in its)), tuple(accesses), ())
        lows = tuple(Name(v) for v in self.low)
        local: Mapping[tuple[int, int], LocalView] = {
            (id(node), q): LocalView(f"{a.array}_t", lows, (2,) * s.axes)
            for q, a in enumerate(stmt.accesses) if x.shifts[q] is not None
        }
        for d in reversed(range(s.axes)):
            at, side = Name(self.at[d]), self.shape.sides[d]
            low = Fun("max", (x.lows[d], Bin("-", at, Name(margin))))
            high = Fun("min", (x.highs[d], Bin("+", Bin("+", at, Int(side)), Name(margin))))
            node = For(its[d], low, "<", high, 1, node, Loop(stmt.iterators[x.axes[d]] if x.axes[d] else f"x{d}", {}))  # type: ignore[arg-type]
        taken = reserved(self.scop) | set(self.w.all) | set(self.n.values()) | set(self.at) | set(self.low)
        return [*out, *self.phase._views(node, names, {}, frozenset(taken | set(self.len)), local)]  # type: ignore[arg-type]


def _moved(at: Name, by: int) -> CExpr:
    return at if not by else Bin("+", at, Int(by)) if by > 0 else Bin("-", at, Int(-by))


def _sum(counts: list[str]) -> str:
    """Counts added up, numbers at once."""
    known = sum(int(c) for c in counts if c.isdigit())
    return " + ".join([c for c in counts if not c.isdigit()] + ([str(known)] if known else []))
