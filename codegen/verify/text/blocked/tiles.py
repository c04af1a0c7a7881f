"""Symbolic run of micro-kernel calls: rows, columns and depths of each, and copies of tiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from codegen.record import record
from codegen.verify.poly import ONE, ZERO, Poly, poly
from codegen.verify.text.blocked.claim import PackedOperand
from codegen.verify.text.blocked.corners import all_belong, with_depth
from codegen.verify.text.blocked.offsets import Offsets
from codegen.verify.text.blocked.state import TARGET, BufferPointer, Effects, LocalArray, ScratchTile
from codegen.verify.text.compare import COLUMN, DEPTH, ROW
from codegen.verify.text.integers import Integers
from codegen.verify.text.lanes import show
from codegen.verify.text.read import Node, Unread
from codegen.verify.text.spans import Effect, Span


@record
class KernelUpdate:
    """What a kernel is called for: its first row and column, how many its operands have packed, the depths, and the
    rows and columns of its tile."""

    row: Poly
    column: Poly
    rows: Poly
    columns: Poly
    depth: Span
    mr: Poly
    nr: Poly


class RegisterTiles(Offsets):
    """Calls of kernels, and elements that move between the target and a copy of a tile."""

    def _side(self, area: str) -> PackedOperand:
        return self.claim.left if area == "left" else self.claim.right

    def _cell(self, side: PackedOperand, at: Poly, begins: bool = False) -> tuple[Poly, Poly, Poly]:
        """A buffer's element: the first row or column of its sliver, the depth, and the place within that. Where
        something only `begins` there, it may be behind the last depth."""
        f = self.facts
        deep = self._integers().value(Node("name", "tw_k"))
        if len(deep.terms) != 1:
            raise Unread("the depth of a block is no name")
        slivers, rest = at.divided(deep)
        x = slivers.over(poly(side.each))
        if x is None or f.expand(x).over(side.width) is None:
            raise Unread(f"{at} is in no sliver of {side.width}")
        k, o = rest.divided(side.unit)
        if side.unit == ONE:
            raise Unread("slivers of one row")
        most = self._integers().value(Node("name", "tw_kc"))
        rows = self.buffers.areas[side.area].over(most * side.each)
        if rows is None:
            raise Unread(f"the {side.area} operand's buffer is no number of rows of {most}")
        # With that many rows of that depth, a sliver that ends within the rows ends within the buffer.
        for p in (x, k, deep - (0 if begins else 1) - k, o, side.unit - 1 - o, most - deep, rows - x - side.width):
            if not f.holds(p) and not f.holds(f.expand(p)):
                raise Unread(f"the {side.area} operand's buffer does not hold element {at}: {p} may be negative")
        return x, k, o

    def _keep_tile(self, e: Effect) -> None:
        depth = Span(e.base[2], e.base[3]) if e.kind == "steps" else None
        self.tiles["tw_tile"] = ScratchTile(e.base[0], e.base[1], e.spans, self.claim.right.width, depth)

    def _tile_load(self, at: Poly, value: Node) -> Effects:
        stride = self.claim.right.width
        r, c = at.divided(stride)
        i, j = (self._block(x) + self._start(x) for x in "ij")
        if not self._same(value, self.claim.target, {ROW: i + r, COLUMN: j + c}):
            raise Unread(f"the tile gets another element: {show(value)}")
        self._moves(i + r, j + c)
        return {"tile": Effect("tile", {"r": Span(r, r + 1), "c": Span(c, c + 1)}, (i, j))}

    def _to_target(self, to: Node, value: Node) -> Effects:
        """An element of the tile back to its place."""
        if value.kind != "index" or value.kids[0] != Node("name", "tw_tile"):
            raise Unread(f"a store {show(to)} = {show(value)}")
        tile, at = self.tiles.get("tw_tile"), self._integers().value(value.kids[1])
        if tile is None or tile.depth is None:
            raise Unread("a tile is stored that took no steps")
        r, c = at.divided(tile.stride)
        for p, s in ((r, tile.spans["r"]), (c, tile.spans["c"])):
            if not (self.facts.holds(p - s.lo) and self.facts.holds(s.hi - 1 - p)):
                raise Unread(f"element {at} of the tile was not loaded")
        i, j = tile.row + r, tile.column + c
        if not self._same(to, self.claim.target, {ROW: i, COLUMN: j}):
            raise Unread(f"the tile's element goes to another place: {show(to)}")
        self._moves(i, j)
        return {TARGET: Effect(TARGET, {"i": Span(i, i + 1), "j": Span(j, j + 1), "k": tile.depth})}

    def _kernel(self, e: Node) -> Effects:
        """A call of a register kernel, which `kernel.py` has shown to do what its layout says."""
        claim, lay, f = self.claim, self.claim.kernels[e.text], self.facts
        steps, a, *apart = e.kids
        distances = [apart.pop(0) for _ in range(2 if lay.strided else 0)]
        b, at, ld, *consts = apart
        if lay.further:
            far, step, *consts = consts
            self._fetches(far, step)
        if [c.text for c in consts] != self._const_names() or any(c.kind != "name" for c in consts):
            raise Unread("a kernel is called with other constants")
        depth = self._integers().value(steps).over(poly(claim.rounds))
        if depth is None or not f.holds(depth):
            raise Unread("a kernel takes a part of a step, or fewer than none")
        j, other, columns = self._operand(claim.right, b, depth, lay.columns)
        place = self.names.get(a.text)
        if distances and isinstance(place, BufferPointer) and place.of == "element":
            i, deep, rows = self._in_array(place, distances, depth, lay.mr)
        else:
            i, deep, rows = self._operand(claim.left, a, depth, lay.mr)
            if distances and [self._integers().value(x) for x in distances] != [ONE, poly(lay.a_rows)]:
                raise Unread("a kernel takes the left operand to be packed otherwise")
        if not f.equal(deep, other):
            raise Unread("a kernel's operands begin at different depths")
        if (poly(lay.a_rows), lay.lefts * claim.rounds * lay.copies) != (claim.left.width, claim.left.each):
            raise Unread("a kernel reads the left operand in another layout")
        if (lay.b_columns, lay.rights * claim.rounds) != (claim.right.width, claim.right.each):
            raise Unread("a kernel reads the right operand in another layout")
        tile = KernelUpdate(i, j, rows, columns, Span(deep, deep + depth), poly(lay.mr), lay.columns)
        return self._updates(at, ld, tile)

    def _fetches(self, far: Node, step: Node) -> None:
        """Where a kernel fetches lines, which is all that it does there: any address and distance that were found."""
        if far.kind != "name" or not isinstance(self.names.get(far.text), BufferPointer):
            raise Unread(f"a kernel fetches from an address that is not known: {show(far)}")
        if step.kind != "name" or not isinstance(self.names.get(step.text), BufferPointer):
            self._integers().value(step)

    def _operand(self, side: PackedOperand, node: Node, depth: Poly, width: Poly | int) -> tuple[Poly, Poly, Poly]:
        """Row or column and depth at which a packed operand begins, and how many of the rows or columns it holds."""
        p, f = self.names.get(node.text), self.facts
        if not isinstance(p, BufferPointer) or p.of != side.area:
            raise Unread(f"a kernel's {side.area} operand is somewhere else")
        x, k, o = self._cell(side, p.at, begins=True)
        if o != ZERO:
            raise Unread("a kernel's operand begins within a depth")
        held = self.held.get(side.area)
        if held is None or not held.spans:
            raise Unread(f"nothing is known of the {side.area} operand's buffer when a kernel reads it")
        count = f.minimum(held.spans["x"].hi - x, poly(width) if isinstance(width, int) else width)
        have = (x - held.spans["x"].lo, k - held.spans["k"].lo, held.spans["k"].hi - k - depth)
        whole = {"q": poly(len(side.values)), "l": poly(side.copies)}
        full = all(f.equal(held.spans[c].lo, ZERO) and f.equal(held.spans[c].hi, n) for c, n in whole.items())
        if not full or not all(f.holds(g) for g in have) or not f.holds(count):
            raise Unread(f"a kernel reads more of the {side.area} operand than is packed")
        self._reads(side.area)
        return held.base[0] + x, held.base[1] + k, count

    def _in_array(
        self, place: BufferPointer, distances: Sequence[Node], depth: Poly, mr: int
    ) -> tuple[Poly, Poly, Poly]:
        """The same of a left operand that is read where it lies: this tile's rows from this block's depth on, all of
        which are there."""
        claim, (row, step) = self.claim, distances
        if not claim.left_may_stay:
            raise Unread("a left operand that has to be packed is read where it lies")
        i, k = self._block("i") + self._start("i"), self._block("k")
        (value,), at = claim.left.values, {ROW: i, DEPTH: k}
        if place.node is None or not self._same(place.node, value, at):
            raise Unread("a kernel reads another element of the left operand")
        apart = self.names.get(row.text)
        below = apart.node if isinstance(apart, BufferPointer) and apart.of == "distance" else None
        if below is None or not self._step_of(below, value, at) or self._integers().value(step) != ONE:
            raise Unread("a kernel takes the left operand's rows or steps to be in another distance")
        ends = (i, i + mr - 1, k, k + depth - 1)
        if not all(self._in_range(c, x) for c, x in zip("iikk", ends, strict=True)):
            raise Unread("a kernel reads more of the left operand than there is")
        return i, k, poly(mr)

    def _reads(self, area: str) -> None:
        """A buffer is read."""
        if area not in self.buffers.filled:
            self.buffers.relied.add(area)
        if self.team.inside and area not in self.team.own:
            if area in self.team.filling:
                raise Unread("threads read a buffer that others may still fill")
            self.team.dirty = True

    def _updates(self, at: Node, ld: Node, update: KernelUpdate) -> Effects:
        """What the kernel makes of the tile that it works on."""
        i, j, depth, mr, nr = update.row, update.column, update.depth, update.mr, update.nr
        f, place, stride = self.facts, self.names.get(at.text), self.names.get(ld.text)
        if not isinstance(place, BufferPointer):
            raise Unread("a kernel works on something else")
        if place.of != "element":
            return self._on_copy(place, stride, update)
        if self.claim.careful:
            raise Unread("a kernel stores elements that may not have changed")
        target = self.claim.target
        step = stride.node if isinstance(stride, BufferPointer) and stride.of == "distance" else None
        if place.node is None or not self._same(place.node, target, {ROW: i, COLUMN: j}):
            raise Unread("a kernel works on another element of the target")
        if self.claim.target_base:
            even = stride == self._row_distance(i) and self._evenly("i", i, mr, False)
        else:
            even = step is not None and self._step_of(step, target, {ROW: i, COLUMN: j})
        if mr != ONE and not even:
            raise Unread("a kernel takes the target's rows to be in another distance")
        if not (self._evenly("j", j, nr, True) if self.claim.target_base else self._unit_columns(i, j)):
            raise Unread("the target's columns are not neighbours in memory")
        for need, have in ((mr, update.rows), (nr, update.columns)):
            if not f.holds(have - need):
                raise Unread(f"a kernel updates {need} rows or columns where {have} are packed")
        if not all_belong(self.claim.corners, (i, j), (mr, nr), depth, f):
            raise Unread("a kernel updates elements that do not belong")
        sizes = [self._named("tw_m", mr), self._named("tw_n", nr)]
        return {TARGET: Effect(TARGET, {"i": Span(i, i + sizes[0]), "j": Span(j, j + sizes[1]), "k": depth})}

    def _named(self, name: str, size: Poly) -> Poly:
        """A number by a name that has its value here, so that cases can be compared."""
        found = self.names.get(name)
        return found if isinstance(found, Poly) and self.facts.equal(found, size) else size

    def _on_copy(self, place: BufferPointer, stride: Any, update: KernelUpdate) -> Effects:
        i, j, depth, mr, nr = update.row, update.column, update.depth, update.mr, update.nr
        array, tile, f = self.names.get(place.of), self.tiles.get(place.of), self.facts
        if not isinstance(array, LocalArray) or place.at != ZERO or tile is None or tile.depth is not None:
            raise Unread("a kernel works on a tile that was not loaded")
        if stride != tile.stride or not f.holds(array.size - stride * (mr - 1) - nr):
            raise Unread("a kernel takes the tile to be larger")
        if not f.equal(tile.row, i) or not f.equal(tile.column, j):
            raise Unread("a kernel updates another tile than its operands are for")
        for have, count, size in ((tile.spans["r"], update.rows, mr), (tile.spans["c"], update.columns, nr)):
            if not f.equal(have.lo, ZERO) or not f.holds(size - have.hi) or not f.holds(count - have.hi):
                raise Unread("a kernel leaves out a part of the tile")
        deep = [x for x in self.claim.corners if with_depth(x)]
        if not all_belong(deep, (i, j), (tile.spans["r"].hi, tile.spans["c"].hi), depth, f):
            raise Unread("a kernel takes steps that some element of the tile does not take")
        return {"steps": Effect("steps", tile.spans, (i, j, depth.lo, depth.hi))}

    def _step_of(self, step: Node, value: Node, at: Mapping[str, Poly]) -> bool:
        """Is it the distance of an element from the one in the next row?"""
        if step[:2] != ("binary", "-") or any(x[:2] != ("unary", "&") for x in step.kids):
            return False
        (below,), (here,) = (x.kids for x in step.kids)
        return self._same(below, value, {**at, ROW: at[ROW] + 1}) and self._same(here, value, at)

    def _unit_columns(self, i: Poly, j: Poly) -> bool:
        """The target's last subscript moves with the column, by one, and no other does."""
        e, last = self.claim.target, True
        while e.kind == "index":
            names = {ROW: i, COLUMN: j}
            here = Integers(self.facts, names).value(e.kids[1])
            moved = Integers(self.facts, {**names, COLUMN: j + 1}).value(e.kids[1])
            if moved - here != (ONE if last else ZERO):
                return False
            e, last = e.kids[0], False
        return not last
