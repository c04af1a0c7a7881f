"""Prints the C conditions and bounds of products over part of a box (triangles, bands): which register tiles are full,
partial or empty, and which steps of the depth all or some elements of a tile take.

Each corner is an affine value that must not be negative. One without the depth cuts tiles of the result: whole ones run
as ever, cut ones store only what belongs to them, empty ones are passed over. One with the depth shortens the steps of
a tile: those that all its elements take go through the kernel, the few before and after one by one.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ast.ctree import Bin, CExpr, For, Int, Name, Neg, substitute
from codegen.ast.linear import linear
from codegen.record import mutable, record
from codegen.target.text.cexpr import IntPrinter


@record
class Bundle:
    """One coordinate: its name, its range, and the loops it stands for."""

    name: str
    loops: tuple[For, ...]
    first: str
    past: str
    size: str

    @property
    def single(self) -> bool:
        return len(self.loops) == 1


@record
class CornerTexts:
    """C texts; "" where there is nothing to say."""

    wanted: str  # some element of the tile belongs
    whole: str  # all elements of the tile belong
    belongs: str  # one element of the result belongs
    starts: str  # first depth at which some element runs
    all_from: str  # first depth from which all elements run
    all_to: str  # end of the depths at which all run
    ends: str  # end of the depths at which some run
    runs: str  # one element runs at one depth
    step: str  # the statement for one element at one depth
    deep: bool  # the depth is cut
    top: str  # steps of the first row
    bottom: str  # steps of the last row, about


@mutable
class CutPrinter:
    ints: IntPrinter
    rows: Bundle
    columns: Bundle
    depth: Bundle
    mr: int
    nr: str

    def cut(self, corners: tuple[CExpr, ...], step: str) -> CornerTexts:
        deep = [e for e in corners if self._slope(e, self.depth)]
        flat = [e for e in corners if not self._slope(e, self.depth)]
        k = Name(f"{self.depth.name}r")
        one: dict[str, CExpr] = {
            self.rows.name: self._at(self.rows, "tr"),
            self.columns.name: self._at(self.columns, "tr"),
            self.depth.name: k,
        }
        low, high = f"{self.depth.name}b", f"{self.depth.name}b + tw_k"
        lower = [e for e in deep if self._slope(e, self.depth) > 0]
        upper = [e for e in deep if self._slope(e, self.depth) < 0]
        return CornerTexts(
            self._all([f"{self._extreme(e, True)} >= 0" for e in flat]),
            self._all([f"{self._extreme(e, False)} >= 0" for e in flat]),
            self._all([f"{self._text(e, one)} >= 0" for e in flat]),
            self._fold("tw_max", low, [self._extreme(self._at_zero(e), True, -1) for e in lower]),
            self._fold("tw_max", low, [self._extreme(self._at_zero(e), False, -1) for e in lower]),
            self._fold("tw_min", high, [self._extreme(self._at_zero(e), False, more=1) for e in upper]),
            self._fold("tw_min", high, [self._extreme(self._at_zero(e), True, more=1) for e in upper]),
            self._all([f"{self._text(e, one)} >= 0" for e in corners]),
            step,
            bool(deep),
            self._work(corners, self.rows.loops[0].lower),
            self._work(corners, Bin("-", self.rows.loops[0].upper, Int(1))),
        )

    def _work(self, corners: tuple[CExpr, ...], row: CExpr) -> str:
        """The steps of one row, but for factors that all rows have, and for corners of columns and depth together: only
        the threads' parts hang on it."""
        sides = ((self.columns, self.depth), (self.depth, self.columns))
        found = [self._length(corners, row, b) for b, other in sides if self._mine(corners, b, other)]
        return " * ".join(found) or "1"

    def _mine(self, corners: tuple[CExpr, ...], b: Bundle, other: Bundle) -> list[CExpr]:
        """Corners that cut one coordinate alone."""
        return [e for e in corners if abs(self._slope(e, b)) == 1 and not self._slope(e, other)]

    def _length(self, corners: tuple[CExpr, ...], row: CExpr, b: Bundle) -> str:
        """How much of a coordinate a row has."""
        other = self.depth if b is self.columns else self.columns
        env = {self.rows.loops[0].var: row, b.loops[0].var: Int(0)}
        ends = [(self._slope(e, b), linear(substitute(e, env))) for e in self._mine(corners, b, other)]
        low = [self.ints.wide(x.scaled(-1).expression()) for by, x in ends if x is not None and by > 0]
        high = [self.ints.wide(x.shifted(1).expression()) for by, x in ends if x is not None and by < 0]
        first = self._fold("tw_max", b.first, low)
        return f"tw_max(0, {self._fold('tw_min', b.past, high)}{f' - {first}' if first != '0' else ''})"

    def _all(self, conditions: list[str]) -> str:
        return " && ".join(conditions)

    def _fold(self, fun: str, start: str, values: list[str]) -> str:
        for v in values:
            start = f"{fun}({start}, {v})"
        return start

    def _at(self, b: Bundle, inner: str) -> CExpr:
        total: CExpr = Name(f"{b.name}b")
        for part in inner:
            total = Bin("+", total, Name(f"{b.name}{part}"))
        return total

    def _slope(self, e: CExpr, b: Bundle) -> int:
        return slope(e, b.loops[0].var)

    def _at_zero(self, e: CExpr) -> CExpr:
        return substitute(e, {self.depth.loops[0].var: Int(0)})

    def _text(self, e: CExpr, place: Mapping[str, CExpr]) -> str:
        env = {b.loops[0].var: place[b.name] for b in (self.rows, self.columns, self.depth)}
        return self.ints.text(substitute(e, env), 5)

    def _extreme(self, e: CExpr, largest: bool, sign: int = 1, more: int = 0) -> str:
        """The largest or smallest value over the tile, times `sign`, and `more`."""
        env = {b.loops[0].var: self._at(b, "t") for b in (self.rows, self.columns)}
        value: CExpr = substitute(e, env)
        if sign < 0 or more:
            total = linear(value)
            value = value if sign > 0 else Neg(value)
            value = Bin("+", value, Int(more)) if more else value
            value = value if total is None else total.scaled(sign).shifted(more).expression()
        text = self.ints.text(value, 5)
        for b, span in ((self.rows, str(self.mr - 1)), (self.columns, f"({self.nr} - 1)")):
            by = self._slope(e, b)
            if by and (by > 0) == largest:
                text += f" {'+' if sign * by > 0 else '-'} {'' if abs(by) == 1 else f'{abs(by)} * '}{span}"
        return text


def slope(e: CExpr, var: str) -> int:
    """The coefficient of a variable in a linear expression."""
    if isinstance(e, Name):
        return int(e.name == var)
    if isinstance(e, Neg):
        return -slope(e.arg, var)
    if isinstance(e, Bin) and e.op in "+-":
        return slope(e.left, var) + (1 if e.op == "+" else -1) * slope(e.right, var)
    if isinstance(e, Bin) and e.op == "*":
        factor, rest = (e.left, e.right) if isinstance(e.left, Int) else (e.right, e.left)
        assert isinstance(factor, Int)
        return factor.value * slope(rest, var)
    return 0
