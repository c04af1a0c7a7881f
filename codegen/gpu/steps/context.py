"""What the texts of a stencil's kernels have in common: names, parameters, boxes of points, and the function that
starts launches in pairs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from codegen.ast.ctree import Bin, CExpr, Instance, Int, Name
from codegen.gpu.body import DeviceBody, plain_type
from codegen.gpu.staged.read_back import check_statements
from codegen.gpu.steps.model import TIME, BlockShape, CarriedArray, LoadedArray, first
from codegen.gpu.tiles.text import Printed, RegisterBody
from codegen.gpu.transfers import strides_of
from codegen.print.templates import environment
from codegen.record import record
from codegen.scop.model import Scop
from codegen.strategy.loops.stencil import Stencil, StencilSweep
from codegen.target.text.cexpr import IntPrinter

MOST_BLOCKS = (2147483647, 65535, 65535)  # along x, y and z
_BEHIND = "/* Carries out iterations"


class Tile(Protocol):
    """What every kind of tile has that goes through several time steps."""

    @property
    def stencil(self) -> Stencil: ...
    @property
    def shape(self) -> BlockShape: ...
    @property
    def carried(self) -> tuple[CarriedArray, ...]: ...
    @property
    def loaded(self) -> tuple[LoadedArray, ...]: ...
    @property
    def resident(self) -> int: ...
    @property
    def least(self) -> int: ...
    @property
    def room(self) -> int: ...
    @property
    def constants(self) -> dict[str, int]: ...


@record
class StepText:
    """Kernel and starting function of a stencil, and how the launcher calls it."""

    text: str
    name: str  # of the function
    arguments: tuple[str, ...]  # behind the iterations that are left, and the first of them


@record
class LaunchContext:
    """A stencil with its tiles, and how it is printed. `LENGTH` is a value of its own that launches get, if any; they
    may be told to do fewer iterations than tiles are made for, if they have a `COUNT`."""

    scop: Scop
    tile: Tile
    how: Printed
    calls: dict[str, str]
    ints: IntPrinter

    LENGTH = ""
    COUNT = ""

    def launches(self) -> dict[str, object]:
        """What the starting function and the kernel's head are printed from."""
        p, s = self.tile, self.tile.stencil
        return {
            "name": self.how.name, "constants": p.constants, "threads": p.shape.threads, "resident": p.resident,
            "points": [self._point(k) for k in range(s.axes)], "double": 2 * p.least, "least": p.least,
            "refused": self._refused(),
            "bytes": p.room, "steps": p.shape.steps, "block": [*reversed(p.shape.sides[1:]), p.shape.chunks],
            "kind": self._kind(p.carried[0].name), "length": self.LENGTH,
            "seconds": [f"{self.scop.arrays[c.name].base}_second" for c in p.carried if not c.other],
            "elements": " * ".join(str(self._point(k)["extent"]) for k in range(s.axes)),
        }  # fmt: skip

    def given(self, words: set[str], every: set[str]) -> dict[str, list[str]]:
        """Parameters of the kernel and of the function that starts it, and what each is called with."""
        p = self.tile
        written = [self.scop.arrays[a].base for a in p.stencil.written]
        values = [n for n in self.how.parameters if n not in written]
        kernel = [n for n in values if n in words]
        arrays = [n for n in written if n in words]
        declared = [*(self.how.parameters[n] for n in kernel), *(f"const {self._kind_of(n)} *{n}" for n in arrays)]
        there, back = [*kernel, *arrays], [*kernel, *arrays]
        own = list(there)
        for c in p.carried:
            here = self.scop.arrays[c.name].base
            other = self.scop.arrays[c.other].base if c.other else f"{here}_second"
            kind = self._kind(c.name)
            declared += [f"const {kind} *{here}_from", f"{kind} *{here}_to"]
            own += [f"{here}_from", f"{here}_to"]
            there, back = [*there, here, other], [*back, other, here]
        if TIME in words:
            declared, own = [*declared, f"const long {TIME}"], [*own, TIME]
            there, back = [*there, f"{TIME} + tw_done"], [*back, f"{TIME} + tw_done + tw_now"]
        if self.LENGTH:
            declared, own = [*declared, f"const long {self.LENGTH}"], [*own, self.LENGTH]
            there, back = [*there, self.LENGTH], [*back, self.LENGTH]
        if self.COUNT:
            declared, own = [*declared, f"const int {self.COUNT}"], [*own, self.COUNT]
            there, back = [*there, "(int)tw_now"], [*back, "(int)tw_now"]
        host = [n for n in values if n in every]
        pointers = [n for n in written if n in [*arrays, *there, *back]]
        parameters = ["const long tw_left", *([f"const long {TIME}"] if TIME in words else [])]
        parameters += [self.how.parameters[n] for n in host] + [f"{self._kind_of(n)} *{n}" for n in pointers]
        time = [TIME] if TIME in words else []
        return {
            "kernel_parameters": declared, "kernel_arguments": own, "host_parameters": parameters, "there": there,
            "back": back, "call": [*time, *host, *pointers],
        }  # fmt: skip

    def _kind(self, array: str) -> str:
        return plain_type(self.scop.arrays[array].elem)

    def _kind_of(self, base: str) -> str:
        return next(plain_type(a.elem) for a in self.scop.arrays.values() if a.base == base)

    def _point(self, axis: int) -> dict[str, object]:
        axes = self.tile.stencil.axes
        number = f"(long)blockIdx.{'xyz'[axes - 1 - axis]}"
        array = self.scop.arrays[self.tile.carried[0].name]
        extent = array.extents[axis]
        return {
            "axis": axis, "name": f"tw_x{axis}" if axis else "tw_begin_0", "first": f"tw_base_{axis}",
            "cell": f"tw_p{axis}" if axis else "tw_first_row",
            "formula": re.sub(r"\bblock\b", number, first(axis)), "blocks": f"tw_blocks_{axis}",
            "most": MOST_BLOCKS[axes - 1 - axis],
            "extent": extent if extent.isdigit() else f"(long){extent if extent.isidentifier() else f'({extent})'}",
        }  # fmt: skip

    def _strides(self) -> tuple[str, ...]:
        array = self.tile.carried[0].name
        return strides_of(self.scop.arrays[array], self.scop.accesses_to(array)[0][1])

    def _between(self, axes: Sequence[int], lows: Sequence[CExpr], highs: Sequence[CExpr]) -> str:
        """Are points between these, along some axes?"""
        found = [
            f"tw_x{k} >= {self.ints.text(lows[k], 5)} && tw_x{k} < {self.ints.text(highs[k], 5)}" for k in axes
        ]
        return " && ".join(found) or "true"

    def _statement(
        self, x: StencilSweep, new: str, cell: Callable[[str, tuple[int, ...]], str]
    ) -> tuple[str, Instance, dict[int, str]]:
        """The statement of a sweep at a point, with `new` for what it writes and `cell` for values at a distance; the
        point; and what stands for which access."""
        s, stencil = self.scop.statement(x.stmt), self.tile.stencil
        index: list[tuple[CExpr, ...]] = []
        known: dict[int, str] = {}
        for k, (name, shift, clock) in enumerate(zip(x.arrays, x.shifts, x.clocks, strict=True)):
            if shift is None:
                assert clock is not None
                index.append((plus(Name("tw_time"), clock),))
                continue
            index.append(tuple(plus(Name(f"tw_x{d}"), shift[d]) for d in range(stencil.axes)))
            if k == s.target:
                known[k] = new
            elif name in stencil.written:
                known[k] = cell(name, shift)
        at = Instance(s.name, (), tuple(index), ())
        return RegisterBody(self.scop, self.ints, {}, frozenset(), self.calls, known).statement(s, at), at, known

    def _check_statement(self, body: str, x: StencilSweep, at: Instance, known: Mapping[int, str]) -> None:
        """Raises Unread unless a point is computed as the plain sweep does it, from what stands for its elements."""
        s = self.scop.statement(x.stmt)
        plain = DeviceBody(self.scop, self.ints, {}, frozenset(), self.calls)
        cells = {text: plain.access(s, at, k) for k, text in known.items()}
        check_statements([body], [plain.statement(s, at)], cells, {})

    def _refused(self) -> list[str]:
        """Sweeps without points: the plain loops do nothing then."""
        found = dict.fromkeys(
            f"{self.ints.text(low, 5)} >= {self.ints.text(high, 5)}"
            for x in self.tile.stencil.sweeps
            for low, high in zip(x.lows, x.highs, strict=True)
            if not (isinstance(low, Int) and isinstance(high, Int))
        )
        return list(found)


def render(
    template: str, context: LaunchContext, values: Mapping[str, object], names: Sequence[str], api: str
) -> StepText:
    """A template with the parameters that its text needs; names of its own lose their first letters where the region
    has no such names."""
    made = environment().get_template(template)
    k = {**context.launches(), **values}
    nothing: dict[str, tuple[str, ...]] = dict.fromkeys(
        ("kernel_parameters", "kernel_arguments", "host_parameters", "there", "back"), ()
    )
    whole = made.render(k={**k, **nothing}, api=api)
    words, every = (set(re.findall(r"\w+", x)) for x in (whole.partition(_BEHIND)[0], whole))
    given = context.given(words, every)
    text = made.render(k={**k, **given}, api=api)
    for name in names:
        if name not in context.how.taken:
            text = re.sub(rf"\btw_{name}\b", name, text)
    return StepText(text.rstrip("\n"), f"{context.how.name}s", tuple(given["call"]))


def printer(scop: Scop, s: Stencil) -> IntPrinter:
    """Prints values with the names that points of a stencil, and time, have in its kernel."""
    names = (*(f"tw_x{k}" for k in range(s.axes)), "tw_time")
    return IntPrinter({x.name: x for x in scop.params}, {name: name for name in names})


def plus(e: CExpr, n: int) -> CExpr:
    return e if not n else Bin("+", e, Int(n)) if n > 0 else Bin("-", e, Int(-n))
