"""Prints the kernel of a stencil whose tiles are marched along the first axis, and the function that starts it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from codegen.ast.ctree import CExpr, Instance
from codegen.diagnostics import Unsupported
from codegen.gpu.steps.context import LaunchContext, StepText, printer, render
from codegen.gpu.stream.model import PLACE, StreamTile, Version, values_read
from codegen.gpu.stream.read_back import read_cell
from codegen.gpu.tiles.text import Printed
from codegen.record import record
from codegen.scop.model import Scop
from codegen.verify.text.read import Unread

# Names of the template that are printed without their first letters where the region has no such names.
LOCALS = (
    "row", "first_row", "own", "at", "stride", "stride_0", "deep", "some", "r", "p2", "x0", "x1", "x2", "begin_0",
    "begin_1", "end_0", "base_0", "base_1", "base_2", "left", "done", "now", "grid", "block", "blocks_0", "blocks_1",
    "blocks_2", "room", "have", "bytes", "phase", "step", "steps", "here", "length", "parts", "planes", "turns",
    "least",
)  # fmt: skip


def kernel_text(scop: Scop, p: StreamTile, how: Printed, calls: Mapping[str, str], api: str) -> StepText:
    """The kernel, and the function that starts it."""
    context = _Context(scop, p, how, dict(calls), printer(scop, p.stencil))
    return render("gpu/stream.cu.j2", context, context.values(), LOCALS, api)


@record
class _Context(LaunchContext):
    tile: StreamTile

    LENGTH = "tw_length"

    def values(self) -> dict[str, object]:
        p, s = self.tile, self.tile.stencil
        masks: dict[str, str] = {}
        versions = [self._version(n, v, masks) for n, v in enumerate(p.versions)]
        strides = self._strides()
        return {
            "comment": self._comment(), "versions": versions, "loop": p.loop, "lag": p.lag, "stride_0": strides[0],
            "stride": strides[1], "masks": {name: test for test, name in masks.items()}, "inner": self._inner(),
            "deep": self._deep(), "ahead": p.ahead, "start": max(v.start for v in p.versions),
            "fill": p.margins[0] + p.lag,
            "clock": any(c is not None for x in s.sweeps for c in x.clocks),
            "at_once": p.pace.at_once if p.pace else 1, "worth": self._worth(),
            "at": f"tw_begin_1 * ({strides[1]}) + tw_x2" + ("" if strides[2] == "1" else f" * ({strides[2]})"),
        }  # fmt: skip

    def _comment(self) -> str:
        p = self.tile
        stmts, sides = ", ".join(x.stmt for x in p.stencil.sweeps), " by ".join(map(str, p.shape.sides))
        margins = " and ".join(map(str, dict.fromkeys(p.margins[1:])))
        return (
            f"{stmts}: {p.shape.steps} iteration{'s' if p.shape.steps > 1 else ''} of {p.stencil.loop.loop.name} in "
            f"one launch, plane by plane, on tiles of {sides} points that overlap by {margins} at either end; each "
            f"thread has {p.shape.rows} of them"
        )

    def _worth(self) -> str:
        """Are plain launches predicted to take less time? Empty where nothing is known of the device."""
        pace = self.tile.pace
        extents = [str(self._point(k)["extent"]) for k in range(self.tile.stencil.axes)]
        points = " * ".join(["(double)" + extents[0], *extents[1:]])
        return f"tw_least * {pace.step:.3g} > {points} * {pace.plain:.3g}" if pace else ""

    def _mask(self, lows: Sequence[CExpr], highs: Sequence[CExpr], masks: dict[str, str]) -> str:
        """The name of the word that says which rows of a thread are in a box."""
        test = self._between((1, 2), lows, highs)
        return masks.setdefault(test, f"tw_in_{len(masks)}")

    def _version(self, number: int, v: Version, masks: dict[str, str]) -> dict[str, object]:
        p, base = self.tile, self.scop.arrays[v.array].base
        box = next(a for a in p.loaded if a.name == v.array)
        x = next(x for x in p.stencil.sweeps if x.target == v.array)
        read = {p.latest(name, n) for n, w in enumerate(p.versions) if w.sweep >= 0
                for _, name, _ in values_read(self.scop, p.stencil, p.stencil.sweeps[w.sweep])}  # fmt: skip
        return {
            "number": number, "name": base, "kind": self._kind(v.array), "lag": v.lag, "start": v.start, "kept": v.kept,
            "shared": v.shared, "offset": sum(p.rooms[:number]), "brought": v.sweep < 0, "from": f"{base}_from",
            "to": f"{base}_to" if p.is_last(number) else "", "place": self._place(f"tw_phase % {v.shared}", 0, 0),
            "place_ahead": self._place(f"(tw_phase + {v.ahead}) % {v.shared}", 0, 0), "bytes": p.bytes[v.array],
            "in_rows": self._between((0,), x.lows, x.highs), "in": self._mask(x.lows, x.highs, masks),
            "has_rows": self._between((0,), box.lows, box.highs), "has": self._mask(box.lows, box.highs, masks),
            "edge": v.sweep >= 0 and number in read, "body": self._body(number, v) if v.sweep >= 0 else [],
            "alone": v.sweep >= 0 and self._is_alone(v),
            "stmt": p.stencil.sweeps[v.sweep].stmt if v.sweep >= 0 else "", "iteration": v.iteration,
        }  # fmt: skip

    def _is_alone(self, v: Version) -> bool:
        """Does a sweep read nothing of the grid but cells of its own block? It may then compute any cell."""
        x = self.tile.stencil.sweeps[v.sweep]
        return all(n in self.tile.stencil.written for n, d in zip(x.arrays, x.shifts, strict=True) if d is not None)

    def _body(self, number: int, v: Version) -> list[str]:
        """The statement of a sweep, for one cell."""
        x, zero = self.tile.stencil.sweeps[v.sweep], (0,) * self.tile.stencil.axes
        new = f"tw_new_{number}[tw_r]"
        body, at, known = self._statement(x, new, lambda name, shift: self._cell(number, name, shift))
        self._check(body, number, at, known)
        if self.scop.statement(x.stmt).op == "=":
            return [body]
        before = self._cell(number, x.target, zero)
        self._check_cell(before, number, x.target, zero)
        return [f"{new} = {before};", body]

    def _check(self, body: str, number: int, at: Instance, known: Mapping[int, str]) -> None:
        """Raises Unsupported unless a point is computed as the plain sweep does it, from cells of the same points."""
        x = self.tile.stencil.sweeps[self.tile.versions[number].sweep]
        for k in known.keys() - {self.scop.statement(x.stmt).target}:
            shift = x.shifts[k]
            assert shift is not None
            self._check_cell(known[k], number, x.arrays[k], shift)
        try:
            self._check_statement(body, x, at, known)
        except Unread as problem:
            raise Unsupported("no-proof", str(problem), self.scop.loc) from None

    def _check_cell(self, text: str, number: int, name: str, shift: tuple[int, ...]) -> None:
        """Raises Unsupported unless a text is the cell so far away of the version of an array that a sweep sees."""
        p = self.tile
        try:
            seen, age, away = read_cell(text, p.versions)
        except Unread as problem:
            raise Unsupported("no-proof", str(problem), self.scop.loc) from None
        plane = p.versions[number].lag - age - p.versions[seen].lag
        if (seen, plane, *away) != (p.latest(name, number), *shift):
            raise Unsupported("no-proof", f"`{text}` stands for another element of `{name}`", self.scop.loc)

    def _place(self, plane: str, row: int, column: int) -> str:
        """Where a cell of a plane lies that is so far away from a thread's row `tw_r`."""
        text = PLACE.replace("plane", f"({plane})")
        text = re.sub(r"\bp1\b", f"tw_row(tw_r{_away(row)})", text)
        return re.sub(r"\bp2\b", f"tw_within(tw_p2{_away(column)}, SIDE_2)" if column else "tw_p2", text)

    def _cell(self, number: int, name: str, shift: Sequence[int]) -> str:
        """A cell that is so far from the one that is computed: in registers of the thread, or in shared memory."""
        p = self.tile
        seen = p.latest(name, number)
        of = p.versions[seen]
        age, (_, row, column) = p.versions[number].lag - shift[0] - of.lag, shift
        if row or column:
            there = f"tw_plane_{seen}[{self._place(f'(tw_phase + {of.shared - age}) % {of.shared}', row, column)}]"
            if column or abs(row) >= p.shape.rows:
                return there
        elif not age:
            return f"tw_new_{seen}[tw_r]"
        old = f"tw_old_{seen}[(tw_phase + {of.kept - age}) % {of.kept}][tw_r{_away(row)}]"
        if not row:
            return old
        return f"(tw_r {f'>= {-row}' if row < 0 else f'< ROWS - {row}'} ? {old} : {there})"

    def _inner(self) -> str:
        """Does every sweep compute all points of the tile's planes?"""
        tests: dict[str, None] = {}
        for x in self.tile.stencil.sweeps:
            for k in (1, 2):
                low, high = self.ints.text(x.lows[k], 5), self.ints.text(x.highs[k], 5)
                tests.update({f"tw_base_{k} >= {low}": None, f"tw_base_{k} + SIDE_{k} <= {high}": None})
        return " && ".join(tests)

    def _deep(self) -> str:
        """Do all sweeps compute their planes in all phases from a step on, and are there as many more to be brought?"""
        tests: dict[str, None] = {}
        last = self.tile.phases + self.tile.ahead - 1
        for x in self.tile.stencil.sweeps:
            low, high = self.ints.text(x.lows[0], 5), self.ints.text(x.highs[0], 5)
            tests.update({f"tw_here - {self.tile.lag} >= {low}": None, f"tw_here + {last} < {high}": None})
        return " && ".join(tests)


def _away(d: int) -> str:
    return f" + {d}" if d > 0 else f" - {-d}" if d else ""
