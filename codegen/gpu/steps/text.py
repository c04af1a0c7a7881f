"""Prints the kernel of a stencil on tiles that go through several time steps, and the function that starts it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod

from codegen.ast.ctree import Instance
from codegen.diagnostics import Unsupported
from codegen.gpu.steps.context import LaunchContext, StepText, printer, render
from codegen.gpu.steps.model import PLACE, LoadedArray, StepTile, is_thin
from codegen.gpu.steps.read_back import read_cell
from codegen.gpu.tiles.text import Printed
from codegen.record import record
from codegen.scop.model import Scop
from codegen.strategy.loops.stencil import StencilSweep
from codegen.verify.text.read import Unread

# Names of the template that are printed without their first letters where the region has no such names.
LOCALS = (
    "row", "first_row", "own", "next", "value", "at", "stride", "in", "step", "r", "p1", "p2", "x0", "x1", "x2",
    "begin_0", "base_0", "base_1", "base_2", "left", "done", "some", "now", "grid", "block", "blocks_0",
    "blocks_1", "blocks_2", "room", "have", "bytes", "steps",
)  # fmt: skip


def kernel_text(scop: Scop, p: StepTile, how: Printed, calls: Mapping[str, str], api: str) -> StepText:
    """The kernel, and the function that starts it."""
    context = _Context(scop, p, how, dict(calls), printer(scop, p.stencil))
    return render("gpu/steps.cu.j2", context, context.values(), LOCALS, api)


@record
class _Context(LaunchContext):
    tile: StepTile

    COUNT = "tw_steps"

    def values(self) -> dict[str, object]:
        p, s = self.tile, self.tile.stencil
        sweeps = [self._sweep(n, x) for n, x in enumerate(s.sweeps)]
        clock = any(c is not None for x in s.sweeps for c in x.clocks)
        cells = [("tw_first_row", f"(int)threadIdx.{'xyz'[s.axes - 1]} * ROWS")]
        cells += [(f"tw_p{k}", f"(int)threadIdx.{'xyz'[s.axes - 1 - k]}") for k in range(1, s.axes)]
        return {
            "comment": self._comment(), "arrays": [self._array(n, a) for n, a in enumerate(p.loaded)], "sweeps": sweeps,
            "held_kind": self._kind(p.carried[0].name), "cells": [{"name": n, "value": v} for n, v in cells],
            "firsts": [f"tw_base_{k}" for k in range(s.axes)], "row_point": "tw_x0", "first_point": "tw_begin_0",
            "place": self._place((0,) * s.axes), "before": p.before, "loop": p.loop,
            "clock": "tw_time" if clock else "", "stride": self._strides()[0],
            "at": self._at(), "own_lines": self._own_lines(), "inner": self._inner(),
        }  # fmt: skip

    def _comment(self) -> str:
        p = self.tile
        stmts, sides = ", ".join(x.stmt for x in p.stencil.sweeps), " by ".join(map(str, p.shape.sides))
        margins = " and ".join(map(str, dict.fromkeys(p.margins)))
        return (
            f"{stmts}: {p.shape.steps} iterations of {p.stencil.loop.loop.name} in one launch, on tiles of {sides} "
            f"points that overlap by {margins} at either end; each thread has {p.shape.rows} of them"
        )

    def _tile_of(self, array: str) -> str:
        base = self.scop.arrays[array].base
        return f"tw_{base}_tile" if f"{base}_tile" in self.how.taken else f"{base}_tile"

    def _at(self) -> str:
        names = ["tw_begin_0", *(f"tw_x{k}" for k in range(1, self.tile.stencil.axes))]
        parts = (n if s == "1" else f"{n} * ({s})" for n, s in zip(names, self._strides(), strict=True))
        return " + ".join(parts)

    def _array(self, n: int, a: LoadedArray) -> dict[str, object]:
        p, base = self.tile, self.scop.arrays[a.name].base
        inner = range(1, p.stencil.axes)
        writers = [x for x in p.stencil.sweeps if x.target == a.name]
        tests = [f"({self._between(range(p.stencil.axes), x.lows, x.highs)})" for x in writers]
        held = p.held(0) == a.name
        room = prod(p.shape.sides) * p.bytes[a.name]
        assert room % 16 == 0
        return {
            "name": base, "kind": self._kind(a.name), "tile": self._tile_of(a.name), "offset": n * room,
            "fresh": a.fresh, "in_lines": self._between(inner, a.lows, a.highs),
            "in_rows": self._between((0,), a.lows, a.highs), "from": f"{base}_from", "to": f"{base}_to",
            "is_written": tests[0] if len(tests) == 1 else f"({' || '.join(tests)})", "held": held,
            "result": "tw_own[tw_r]" if held else f"{self._tile_of(a.name)}[{self._place((0,) * p.stencil.axes)}]",
        }  # fmt: skip

    def _place(self, shift: Sequence[int]) -> str:
        """Where the cell lies that is so far away from a thread's row `tw_r`."""
        text = PLACE[len(shift)]
        for k in range(len(shift) - 1, -1, -1):
            away = f" + {shift[k]}" if shift[k] > 0 else f" - {-shift[k]}" if shift[k] else ""
            cell = f"tw_row(tw_r{away})" if k == 0 else f"tw_within(tw_p{k}{away}, SIDE_{k})" if away else f"tw_p{k}"
            text = re.sub(rf"\bp{k}\b", cell, text)
        return text

    def _sweep(self, number: int, x: StencilSweep) -> dict[str, object]:
        p, s = self.tile, self.scop.statement(x.stmt)
        axes = p.stencil.axes
        body, at, known = self._statement(x, "tw_next[tw_r]", lambda name, shift: self._cell(number, name, shift))
        self.check(body, number, at, known)
        own = self._cell(number, x.target, (0,) * axes)
        return {
            "stmt": s.name, "kind": self._kind(x.target), "thin": is_thin(x), "own": own,
            "body": [*([] if s.op == "=" else [f"tw_next[tw_r] = {own};"]), body],
            "in_lines": self._between(range(1, axes), x.lows, x.highs),
            "in_rows": self._between((0,), x.lows, x.highs), "tile": self._tile_of(x.target),
            "last": number == len(p.stencil.sweeps) - 1 and not is_thin(x),
        }  # fmt: skip

    def check(self, body: str, sweep: int, at: Instance, known: Mapping[int, str]) -> None:
        """Raises Unsupported unless a point is computed as the plain sweep does it, from cells of the same points."""
        p, x = self.tile, self.tile.stencil.sweeps[sweep]
        held = p.held(sweep)
        try:
            for k in known.keys() - {self.scop.statement(x.stmt).target}:
                found = read_cell(known[k], self._tile_of(held) if held else "", p.stencil.axes)
                if found != (self._tile_of(x.arrays[k]), x.shifts[k]):
                    raise Unread(f"`{known[k]}` stands for another element of `{x.arrays[k]}`")
            self._check_statement(body, x, at, known)
        except Unread as problem:
            raise Unsupported("no-proof", str(problem), self.scop.loc) from None

    def _cell(self, sweep: int, name: str, shift: Sequence[int]) -> str:
        """A cell that is so far from a thread's own: in its registers, or in shared memory."""
        there = f"{self._tile_of(name)}[{self._place(shift)}]"
        if self.tile.held(sweep) != name or any(shift[1:]):
            return there
        d = shift[0]
        if abs(d) >= self.tile.shape.rows:
            return there
        if not d:
            return "tw_own[tw_r]"
        test = f"tw_r >= {-d}" if d < 0 else f"tw_r < ROWS - {d}"
        return f"({test} ? tw_own[tw_r {'+' if d > 0 else '-'} {abs(d)}] : {there})"

    def _own_lines(self) -> str:
        axes = range(1, self.tile.stencil.axes)
        found = (f"tw_p{k} >= MARGIN_{k} && tw_p{k} < SIDE_{k} - MARGIN_{k}" for k in axes)
        return " && ".join(found) or "true"

    def _inner(self) -> str:
        """Does every sweep compute all points of the tile? One that stands still along an axis has to miss it."""
        tests: dict[str, None] = {}
        for x in self.tile.stencil.sweeps:
            away = []
            for k in range(self.tile.stencil.axes):
                low, high = self.ints.text(x.lows[k], 5), self.ints.text(x.highs[k], 5)
                if not is_thin(x):
                    tests.update({f"tw_base_{k} >= {low}": None, f"tw_base_{k} + SIDE_{k} <= {high}": None})
                elif not x.axes[k]:
                    away.append(f"tw_base_{k} >= {high} || tw_base_{k} + SIDE_{k} <= {low}")
            if away:
                tests[f"({' || '.join(away)})"] = None
        return " && ".join(tests)
