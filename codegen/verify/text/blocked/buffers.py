"""Checks the stores of a blocked product into packed buffers and local arrays: every element gets the operand's
value for its row or column and depth, once, and no thread overwrites what others read. A layer of `BlockRun`
(`execute.py`)."""

from __future__ import annotations

from codegen.verify.poly import ONE, ZERO, Poly, poly, total, var
from codegen.verify.text.blocked.claim import PackedOperand
from codegen.verify.text.blocked.state import NOUGHT, BufferPointer, Effects, LocalArray, Staged
from codegen.verify.text.blocked.tiles import RegisterTiles
from codegen.verify.text.compare import DEPTH
from codegen.verify.text.lanes import show
from codegen.verify.text.read import Node, Unread, nodes
from codegen.verify.text.spans import CountedLoop, Effect, Span


class Buffers(RegisterTiles):
    """Stores into buffers and local arrays."""

    def _pack(self, base: BufferPointer, index: Poly, value: Node) -> Effects:
        """A store into a buffer."""
        side, kb = self._side(base.of), self._block("k")
        x, k, o = self._cell(side, base.at + index)
        self.buffers.filled.add(base.of)
        self.buffers.packs.append(base.of)
        if base.of in self.buffers.sealed:
            raise Unread(f"the {base.of} operand is packed again")
        if self.team.inside and base.of not in self.team.own:
            self._fills_shared(base.of)
        start = (self._block("j" if base.of == "right" else "i"), kb)
        if value == NOUGHT:
            return {base.of: Effect(base.of, {}, start, {"x": Span(x, x + side.width), "k": Span(k, k + 1)})}
        q, lane, copy = self._in_unit(side, o)
        at = {side.row: start[0] + x + lane, DEPTH: kb + k}
        for c, p in zip("jk" if base.of == "right" else "ik", at.values(), strict=True):
            if not self._in_range(c, p):
                raise Unread(f"the {base.of} operand is read where coordinate {c} is {p}")
        if not self._holds_value(value, side.values[q], at):
            raise Unread(f"the {base.of} operand's buffer gets another value: {show(value)}")
        place = {"x": x + lane, "k": k, "q": poly(q), "l": copy}
        return {base.of: Effect(base.of, {c: Span(p, p + 1) for c, p in place.items()}, start)}

    def _fetched(self, e: Node) -> Effects:
        """An address that is only looked ahead at: that of an operand's element, of a row or column and a depth that
        are there. Whatever is read to find it exists then."""
        place = e.kids[0].kids[0] if len(e.kids) == 1 and e.kids[0][:2] == ("unary", "&") else NOUGHT
        deep = self.names.get("tw_ahead")
        for side, c in ((self.claim.left, "i"), (self.claim.right, "j")):
            parts = [self.names.get(x) for x in (f"{self.claim.names[c]}b", f"{self.claim.names[c]}t", "tw_l")]
            at = total(p for p in parts if isinstance(p, Poly))
            if isinstance(deep, Poly) and self._in_range("k", deep) and self._in_range(c, at):
                wanted = [n for v in side.values for n in nodes(v) if n.kind in ("index", "member")]
                if any(self._same(place, n, {side.row: at, DEPTH: deep}) for n in wanted):
                    return {}
        raise Unread(f"something else than an element of an operand is fetched: {show(e)}")

    def _fills_shared(self, area: str) -> None:
        """A store into a buffer that threads share."""
        team = self.team
        if not team.dealing:
            raise Unread("every thread fills a buffer that they share")
        if team.dirty:
            raise Unread("threads fill a buffer that others may still read")
        if area in team.before:
            raise Unread("threads fill a buffer that others may still fill")
        team.unclean = min(team.unclean, team.met)
        team.filling |= {area}

    def _in_unit(self, side: PackedOperand, o: Poly) -> tuple[int, Poly, Poly]:
        """Which value, row or column and copy it is."""
        m, copy = o.divided(poly(side.copies)) if side.copies > 1 else (o, ZERO)
        for q in range(len(side.values)):
            lane = m - side.width * q
            if all(map(self.facts.holds, (lane, side.width - 1 - lane, copy, side.copies - 1 - copy))):
                return q, lane, copy
        raise Unread(f"element {o} of a depth is no one value")

    def _local(self, name: str, array: LocalArray, at: Poly, value: Node) -> Effects:
        """A store into a local array: the scratch tile, or values on their way into a buffer."""
        if not (self.facts.holds(at) and self.facts.holds(array.size - 1 - at)):
            raise Unread(f"{name} has no element {at}")
        if name == "tw_tile":
            return self._tile_load(at, value)
        moving = [lp for lp in self.open if lp.name in at.names]
        if len(moving) > 1 or any(at.part(lp.name) != ONE or lp.step != ONE for lp in moving):
            raise Unread(f"{name} is filled by more than one loop")
        for lp in moving or [CountedLoop("", ZERO, ONE, ONE)]:
            start = at - var(lp.name) if lp.name else at
            self.staged[name].append(Staged(lp.name, Span(lp.first, lp.past), start, value, dict(self.names)))
        return {}
