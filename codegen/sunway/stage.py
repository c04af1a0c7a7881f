"""Local copies: which data a core holds where, and when they come and go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Union

import islpy as isl

from codegen.ast.ctree import Block, CExpr, CNode, Declare, For, If, Multiply, expr_names, walk
from codegen.diagnostics import Unsupported
from codegen.record import record
from codegen.scop.dependences import Dependences, param_space
from codegen.scop.model import Array, Scop
from codegen.scop.tree import THREADED
from codegen.sunway.footprint import (
    Box,
    Use,
    box_of,
    condition_text,
    elements,
    fed,
    level_domain,
    runs_below,
    unfed,
    uses_below,
)
from codegen.sunway.machine import CoreGroup
from codegen.verify.readback import Point, Run, enter

# Read-only references share a buffer when the box around both is no larger than their boxes by this factor.
SHARE = 1.1
TABLE = 4096  # bytes of a table that stays in local memory for a whole kernel


@record
class Buffer:
    """A box of an array in local memory. `lows` and `lens` are in terms of the loops around its `Stage`."""

    name: str
    array: str
    most: tuple[int, ...]
    lows: tuple[CExpr, ...]
    lens: tuple[CExpr, ...]
    get: bool
    put: bool
    ahead: bool  # fetched one iteration early, into the other of two copies
    when: CExpr | None  # needed only where this holds
    keys: frozenset[tuple[int, int]]  # the accesses that use it
    bytes: int  # of one element
    note: str = ""
    enlarged: bool = False  # the box holds elements that nothing here touches
    common: bool = False  # the same for all cores, and fetched once for all of them

    @property
    def size(self) -> int:
        """Elements of one copy."""
        n = 1
        for k in self.most:
            n *= k
        return n

    @property
    def footprint(self) -> int:
        return self.size * self.bytes * (2 if self.ahead else 1)


@record
class Stage:
    """Buffers are filled, the body runs on them, and they are written back."""

    buffers: tuple[Buffer, ...]
    body: "SNode"


SNode = Union[CNode, Stage]


@record
class Lost:
    """An array that stays in main memory in part of a kernel, and why."""

    array: str
    why: str


@dataclass
class Stager:
    """Stages one kernel. `phase` is the point just outside it."""

    scop: Scop
    deps: Dependences
    group: CoreGroup
    phase: Point
    kernel: CNode
    ahead: bool = True
    budget: int = 0
    staged: set[tuple[int, int]] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    lost: dict[str, str] = field(default_factory=dict)
    needs: dict[str, int] = field(default_factory=dict)  # bytes that did not fit, by array
    touched: dict[str, isl.Set] = field(default_factory=dict)  # exact elements of each buffer, with loops as parameters
    _writes: list[Use] = field(default_factory=list)
    _taken: int = 0

    def run(self) -> SNode:
        self.budget = self.budget or self.group.ldm_bytes - self.group.reserve
        self._own = _declared(self.scop, self.kernel)
        self.budget -= sum(self._own.values())
        self._runs = runs_below(self.kernel, self.phase)
        self._all = uses_below(self.scop, self._runs, self.phase)
        self._writes = [u for u in self._all if u.write]
        common = self._common() if self.ahead else []
        tree = self._visit(self.kernel, self.phase, self.budget - sum(b.footprint for b in common))
        return Stage(tuple(common), tree) if common else tree

    def left(self) -> Mapping[str, str]:
        """Arrays with accesses that go to main memory, with the reason."""
        return {u.access.array: self.lost.get(u.access.array, "it is used outside the tiles")
                for u in self._all if u.key not in self.staged}

    def refuse_overflow(self, tree: SNode, strict: bool) -> None:
        """Raise, with all numbers, if a tile does not fit into local memory; if not `strict`, only if nothing does."""
        left = self.left()
        needs = {a: n for a, n in self.needs.items() if a in left}
        if self.budget >= 0 and (not needs or (not strict and self.staged)):
            return
        room = self.group.ldm_bytes - self.group.reserve
        have = [*sorted(self._own.items()), *((b.name, b.footprint) for b in buffers_of(tree)), *sorted(needs.items())]
        head = f"{sum(n for _, n in have)} bytes of local memory are needed and there are {room}"
        text = ", ".join(f"`{a}` {n}" for a, n in have)
        raise Unsupported("sunway-ldm", f"{head}: {text}", self.scop.loc, "use smaller tiles or smaller local arrays")

    def _common(self) -> list[Buffer]:
        """Small tables that all of the kernel reads and nothing writes: every core needs the same."""
        context = level_domain(self.phase)
        written = {w.access.array for w in self._writes}
        out = []
        for name in sorted({u.access.array for u in self._all} - written):
            mine = [u for u in self._all if u.access.array == name]
            box = None if unfit(self.scop.arrays[name], mine) else box_of(_union([u.elements for u in mine]), context)
            if box is None or _size(box) * self.scop.arrays[name].elem.bytes > TABLE:
                continue
            b = self._buffer(mine, None, self._runs, self.phase, context)
            if b is None or b.enlarged:
                continue
            out.append(replace(b, common=True))
            self._take(b, mine, context)
        return out

    def _take(self, b: Buffer, members: list[Use], context: isl.Set) -> None:
        self._taken += b.footprint
        self.touched[b.name] = _union([u.elements for u in members]).intersect_params(context)
        self.names.add(b.name)
        self.staged |= b.keys

    # -- walking -----------------------------------------------------------------------------------

    def _visit(self, node: SNode, at: Point, room: int) -> SNode:
        if isinstance(node, For):
            inner = enter(node, at)
            return replace(node, body=self._body(node, inner, room))
        if isinstance(node, Block):
            return Block(tuple(self._visit(c, at, room) for c in node.children))  # type: ignore[misc]
        if isinstance(node, If):
            cond = at.condition(node.cond)
            then = self._visit(node.then, replace(at, domain=at.domain.intersect(cond).coalesce()), room)
            orelse = node.orelse and self._visit(
                node.orelse, replace(at, domain=at.domain.subtract(cond).coalesce()), room
            )
            return If(node.cond, then, orelse)  # type: ignore[arg-type]
        if isinstance(node, (Declare, Multiply)):
            return replace(node, body=self._visit(node.body, at, room))  # type: ignore[arg-type]
        return node

    def _body(self, node: For, at: Point, room: int) -> CNode:
        body = node.body
        if not node.loop.tile or any(_is_bound(n) for n in _fors(body)):
            return self._visit(body, at, room)  # type: ignore[return-value]
        buffers = self._buffers(node, body, at, room)
        room -= sum(b.footprint for b in buffers)
        inner = self._visit(body, at, room)
        return Stage(tuple(buffers), inner) if buffers else inner  # type: ignore[return-value]

    # -- choosing ----------------------------------------------------------------------------------

    def _buffers(self, loop: For, body: CNode, at: Point, room: int) -> list[Buffer]:
        runs = runs_below(body, at)
        uses = [u for u in uses_below(self.scop, runs, at) if u.key not in self.staged]
        context = level_domain(at)
        room = min(room, self.budget - self._taken)  # buffers of parts that run one after the other stand side by side
        chosen: list[Buffer] = []
        for name in sorted({u.access.array for u in uses}):
            why = unfit(self.scop.arrays[name], uses)
            if why:
                self.lost[name] = why
                continue
            mine = [u for u in uses if u.access.array == name]
            for members in self._groups(mine, runs, at, context):
                b = self._buffer(members, loop, runs, at, context)
                if b is None:
                    continue
                used = sum(x.footprint for x in chosen)
                if used + b.footprint > room and b.ahead and used + b.footprint // 2 <= room:
                    b = replace(b, ahead=False)
                if used + b.footprint > room:
                    self.lost[name] = f"{b.footprint} bytes do not fit into the {room - used} that are left"
                    self.needs[name] = b.footprint
                    continue
                chosen.append(b)
                self._take(b, members, context)
        return chosen

    def _groups(self, uses: list[Use], runs: Sequence[Run], at: Point, context: isl.Set) -> list[list[Use]]:
        """References that must share a buffer: all writes, and the reads that see them. Others may.

        A read that meets a written element but takes the value from before is right with a copy of its own: the
        order of the tree has it before the write, and the copy is made before either."""
        writes = [u for u in uses if u.write]
        groups: list[list[Use]] = []
        rest = [u for u in uses if not u.write]
        if writes:
            written = _union([u.elements for u in writes])
            flow = self._flow(uses[0].access.array)
            meets = [
                u
                for u in rest
                if _own(u, writes)
                or (not u.elements.is_disjoint(written)
                and fed(self.scop, flow, u, writes, runs, len(at.vars)))
            ]
            groups.append([*writes, *meets])
            rest = [u for u in rest if u not in meets]
        reads: list[list[Use]] = []
        for u in rest:
            for g in reads:
                if _share(g, u, context):
                    g.append(u)
                    break
            else:
                reads.append([u])
        return groups + reads

    def _buffer(
        self, members: list[Use], loop: For | None, runs: Sequence[Run], at: Point, context: isl.Set
    ) -> Buffer | None:
        name = members[0].access.array
        array = self.scop.arrays[name]
        touched = _union([u.elements for u in members])
        box = box_of(touched, context)
        if box is None:
            self.lost.setdefault(name, "its footprint has no constant bound")
            return None
        writes, reads = [u for u in members if u.write], [u for u in members if not u.write]
        get = bool(reads) and (
            not writes
            or unfed(self.scop, self._flow(name), reads, writes, runs, len(at.vars))
        )
        note = ""
        extra = box.elements.intersect_params(context).subtract(touched)
        enlarged = not extra.is_empty()
        if enlarged and not writes and not self._alone(name, extra, at):
            self.lost[name] = "the box around a tile holds elements that other cores write"
            return None
        if writes:
            exact = _union([u.elements for u in writes])
            missing = box.elements.intersect_params(context).subtract(exact)
            if not missing.is_empty():
                if not self._alone(name, missing, at):
                    self.lost[name] = "the box around a tile holds elements that other cores write"
                    return None
                get, note = True, "read first, since the box holds more than is written"
        when = self._when(touched, context)
        values = context if when is None else context.intersect(touched.params())
        lows, lens = box.texts(values)
        moves = loop is not None and any(loop.var in expr_names(e) for e in (*lows, *lens))
        return Buffer(
            self._name(array), name, box.most, lows, lens,
            get, bool(writes),
            loop is not None and moves and self.ahead and get and not writes and when is None
            and not _tiled(loop.body) and self._untouched(members),
            None if when is None else condition_text(when, context),
            frozenset(u.key for u in members), array.elem.bytes, note, enlarged,
        )  # fmt: skip

    def _when(self, touched: isl.Set, context: isl.Set) -> isl.Set | None:
        """Where the box is not empty, if that is not everywhere."""
        there = touched.params()
        return None if context.is_subset(there) else there.gist(context)

    def _flow(self, name: str) -> isl.UnionMap:
        return self.deps.flows.get(name, isl.UnionMap.empty(param_space(self.scop)))

    def _alone(self, name: str, missing: isl.Set, at: Point) -> bool:
        """Does no other core write into this part of the box? Cores differ in the variables of bound loops."""
        bound = [lp.var for lp in at.loops[len(self.phase.loops) :] if _is_bound(lp)]
        outer = len(self.phase.vars)
        for w in self._writes:
            if w.access.array != name:
                continue
            if not all(v in w.run.point.vars for v in bound):
                return False
            theirs = elements(w.run, w.number, w.access, len(w.run.point.vars))
            for v in w.run.point.vars[outer:]:
                theirs = _rename(theirs, v, v + "_other")
            for v in bound:
                meet = missing.intersect(theirs)
                if not meet.intersect_params(_differ(meet.get_space(), v, v + "_other")).is_empty():
                    return False
        return True

    def _untouched(self, members: list[Use]) -> bool:
        """Does nobody write these elements while the kernel runs?"""
        depth = len(self.phase.vars)
        writes = [elements(w.run, w.number, w.access, depth) for w in self._writes
                  if w.access.array == members[0].access.array]
        mine = [elements(u.run, u.number, u.access, depth) for u in members]
        return all(w.is_disjoint(m) for w in writes for m in mine)

    def _name(self, array: Array) -> str:
        name, n = array.name, 2
        while name in self.names:
            name, n = f"{array.name}{n}", n + 1
        return name


def _tiled(node: CNode) -> bool:
    """Are there tile loops inside? Then those do the fetching ahead."""
    return any(n.loop.tile for n in _fors(node))


def _declared(scop: Scop, kernel: CNode) -> dict[str, int]:
    """Bytes of the region's own variables that are kept in local memory, by name."""
    out: dict[str, int] = {}
    for h in (h for n in walk(kernel) if isinstance(n, Declare) for h in n.slots):
        array = scop.arrays[h.array]
        sizes = [array.extents[k - array.scope] if s < 0 else str(max(s, 1)) for k, s in enumerate(h.sizes)]
        if not all(s.isdigit() for s in sizes):
            raise Unsupported("sunway-ldm", f"`{h.array}` has no constant size, so local memory may overflow", scop.loc,
                              "declare it outside the region, or give it a fixed size")
        out[h.array] = array.elem.bytes * prod(map(int, sizes))
    return out


def buffers_of(node: SNode) -> list[Buffer]:
    """All buffers of a staged tree, in its order."""
    if isinstance(node, Stage):
        return [*node.buffers, *buffers_of(node.body)]
    if isinstance(node, Block):
        return [b for c in node.children for b in buffers_of(c)]
    if isinstance(node, (For, Declare)):
        return buffers_of(node.body)
    if isinstance(node, If):
        return [*buffers_of(node.then), *([] if node.orelse is None else buffers_of(node.orelse))]
    return []


def _own(u: Use, writes: Sequence[Use]) -> bool:
    """Is it the read of `x += ...`, or of an element that the same instance writes?"""
    mine = u.run.instance
    return any(w.run.instance is mine and mine.accesses[w.number] == mine.accesses[u.number] for w in writes)


def _is_bound(node: For) -> bool:
    return node.loop.kind in THREADED


def _fors(node: CNode) -> list[For]:
    return [n for n in walk(node) if isinstance(n, For)]


def unfit(array: Array, uses: Sequence[Use]) -> str:
    """Why an array cannot be moved by DMA; empty if it can."""
    if array.rank == 0:
        return "it is a single value"
    if array.elem.kind not in ("float", "int") or array.elem.bytes < 4:
        return "its elements are no multiple of 4 bytes"
    if array.depth > 1:
        return "its rows lie anywhere"
    for u in uses:
        if u.access.array == array.name and any(s.kind not in ("sub", "flat") for s in u.access.path):
            return "it is reached through a pointer or a member"
    return ""


def _union(sets: Sequence[isl.Set]) -> isl.Set:
    total = sets[0]
    for s in sets[1:]:
        total = total.union(s)
    return total.coalesce()


def _share(group: list[Use], u: Use, context: isl.Set) -> bool:
    one = box_of(_union([g.elements for g in group]), context)
    other = box_of(u.elements, context)
    both = box_of(_union([*(g.elements for g in group), u.elements]), context)
    if one is None or other is None or both is None:
        return one is None and other is None
    return _size(both) <= SHARE * max(_size(one), _size(other)) + 64 or _size(both) < _size(one) + _size(other)


def _size(b: Box) -> int:
    n = 1
    for k in b.most:
        n *= k
    return n


def _rename(s: isl.Set, old: str, new: str) -> isl.Set:
    pos = s.find_dim_by_name(isl.dim_type.param, old)
    return s.set_dim_name(isl.dim_type.param, pos, new) if pos >= 0 else s


def _differ(space: isl.Space, a: str, b: str) -> isl.Set:
    """Parameters a and b are different."""
    space = space.params()
    names = [space.get_dim_name(isl.dim_type.param, k) for k in range(space.dim(isl.dim_type.param))]
    texts = ", ".join(n for n in names if n)
    return isl.Set.read_from_str(space.get_ctx(), f"[{texts}] -> {{ : {a} < {b} or {a} > {b} }}")
