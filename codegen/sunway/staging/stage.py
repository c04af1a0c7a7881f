"""Inserts local-memory buffers into a kernel's C tree as `Stage` nodes (`Stager.run`): which arrays, the box of each,
at which tile loop or for the whole kernel, and which are double-buffered. `left` returns the arrays that stay in main
memory, with reasons; `refuse_overflow` raises Unsupported where tiles do not fit local memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from math import prod

import islpy as isl

from codegen.ast.ctree import Block, CNode, Declare, For, If, ProductNode, expr_names, walk
from codegen.ast.isl_expressions import condition_expr
from codegen.diagnostics import Unsupported
from codegen.scop.dependences import Dependences, param_space
from codegen.scop.model import Array, Scop
from codegen.scop.tree import THREADED
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.staging.boxes import box_of, joined, lines, widths
from codegen.sunway.staging.directives import StagingDirectives
from codegen.sunway.staging.footprint import BoxUse, level_domain, of_region, unfed, uses_below
from codegen.sunway.staging.local import LocalBuffer, SNode, Stage, buffers_of, declared_bytes
from codegen.sunway.staging.shared_boxes import gathered, nobody_else_writes, unfit, union, untouched
from codegen.verify.readback import StatementRun, TreePoint, enter, runs_below

TABLE = 4096  # bytes of a table that stays in local memory for a whole kernel


@dataclass
class Stager:
    """Stages one kernel. `phase` is the point just outside it."""

    scop: Scop
    deps: Dependences
    group: CoreGroup
    phase: TreePoint
    kernel: CNode
    ahead: bool = True
    wanted: StagingDirectives | None = None  # what a plan says is to be staged; None: what fits
    gathered: frozenset[str] = frozenset()  # variables of which each core has a part of its own
    budget: int = 0
    staged: set[tuple[int, int]] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    lost: dict[str, str] = field(default_factory=dict)
    needs: dict[str, int] = field(default_factory=dict)  # bytes that did not fit, by array
    touched: dict[str, isl.Set] = field(default_factory=dict)  # exact elements of each buffer, with loops as parameters
    _writes: list[BoxUse] = field(default_factory=list)
    _early: set[str] = field(default_factory=set)  # buffers that can be fetched one iteration early
    _taken: int = 0

    def run(self) -> SNode:
        self.budget = self.budget or self.group.ldm_bytes - self.group.reserve
        self._own = declared_bytes(self.scop, self.kernel)
        self.budget -= self.own_bytes
        self._runs = runs_below(self.kernel, self.phase)
        uses = uses_below(self.scop, self._runs, self.phase)
        self._all = [u for u in uses if u.access.array not in self.gathered]
        self._writes = [u for u in self._all if u.write]
        common = self._common() if self.ahead else []
        tree = self._two_copies(self._visit(self.kernel, self.phase, self.budget - sum(b.footprint for b in common)))
        return Stage(tuple(common), tree) if common else tree

    @property
    def own_bytes(self) -> int:
        """What the region's own variables take of local memory."""
        return sum(self._own.values())

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

    def _common(self) -> list[LocalBuffer]:
        """Small tables that all of the kernel reads and nothing writes: every core needs the same."""
        context = level_domain(self.phase)
        written = {w.access.array for w in self._writes}
        out = []
        for name in sorted({u.access.array for u in self._all} - written):
            if self.wanted is not None and self.wanted.asked(name, self.kernel) is None:
                continue
            mine = [u for u in self._all if u.access.array == name]
            if unfit(self.scop.arrays[name], mine):
                continue
            sides = widths(reduce(joined, (lines(u.elements, context) for u in mine)))
            if sides is None or prod(sides) * self.scop.arrays[name].elem.bytes > TABLE:
                continue
            b = self._buffer(mine, None, self._runs, self.phase, context)
            if b is None or b.enlarged:
                continue
            out.append(replace(b, common=True))
            self._take(b, mine, context)
        return out

    def _take(self, b: LocalBuffer, members: list[BoxUse], context: isl.Set) -> None:
        self._taken += b.footprint
        self.touched[b.name] = union([u.elements for u in members]).intersect_params(context)
        self.names.add(b.name)
        self.staged |= b.keys

    # -- walking -----------------------------------------------------------------------------------

    def _visit(self, node: SNode, at: TreePoint, room: int) -> SNode:
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
        if isinstance(node, (Declare, ProductNode)):
            return replace(node, body=self._visit(node.body, at, room))  # type: ignore[arg-type]
        return node

    def _body(self, node: For, at: TreePoint, room: int) -> CNode:
        body = node.body
        if not node.loop.tile or any(_is_bound(n) for n in _fors(body)):
            return self._visit(body, at, room)  # type: ignore[return-value]
        buffers = self._buffers(node, body, at, room)
        room -= sum(b.footprint for b in buffers)
        inner = self._visit(body, at, room)
        return Stage(tuple(buffers), inner) if buffers else inner  # type: ignore[return-value]

    # -- choosing ----------------------------------------------------------------------------------

    def _buffers(self, loop: For, body: CNode, at: TreePoint, room: int) -> list[LocalBuffer]:
        runs = runs_below(body, at)
        skipped = self.gathered
        uses = [
            u for u in uses_below(self.scop, runs, at) if u.key not in self.staged and u.access.array not in skipped
        ]
        context = level_domain(at)
        room = min(room, self.budget - self._taken)  # buffers of parts that run one after the other stand side by side
        chosen: list[LocalBuffer] = []
        for name in sorted({u.access.array for u in uses}):
            why = unfit(self.scop.arrays[name], uses)
            if why:
                self.lost[name] = why
                continue
            asked = None if self.wanted is None else self.wanted.asked(name, loop.body, loop.loop.name)
            if self.wanted is not None and asked is None:
                self.lost.setdefault(name, "the plan does not stage it")
                continue
            mine = [u for u in uses if u.access.array == name]
            for members in gathered(self.scop, self._flow(name), mine, runs, len(at.vars), context):
                b = self._buffer(members, loop, runs, at, context)
                if b is None:
                    continue
                if b.ahead and (asked is None or asked.ahead):
                    self._early.add(b.name)
                b = replace(b, ahead=False)
                used = sum(x.footprint for x in chosen)
                if used + b.footprint > room:
                    self.lost[name] = f"{b.footprint} bytes do not fit into the {room - used} that are left"
                    self.needs[name] = b.footprint
                    continue
                chosen.append(b)
                self._take(b, members, context)
        return chosen

    def _two_copies(self, tree: SNode) -> SNode:
        """With a second copy of buffers that can be fetched early, as far as there is room when all have one."""
        if isinstance(tree, Stage):
            return Stage(tuple(map(self._twice, tree.buffers)), self._two_copies(tree.body))
        if isinstance(tree, (For, Declare, ProductNode)):
            return replace(tree, body=self._two_copies(tree.body))  # type: ignore[arg-type]
        if isinstance(tree, Block):
            return Block(tuple(self._two_copies(c) for c in tree.children))  # type: ignore[misc]
        if isinstance(tree, If):
            orelse = tree.orelse and self._two_copies(tree.orelse)
            return If(tree.cond, self._two_copies(tree.then), orelse)  # type: ignore[arg-type]
        return tree

    def _twice(self, b: LocalBuffer) -> LocalBuffer:
        if b.name not in self._early or b.footprint > self.budget - self._taken:
            return b
        self._taken += b.footprint
        return replace(b, ahead=True)

    def _buffer(
        self, members: list[BoxUse], loop: For | None, runs: Sequence[StatementRun], at: TreePoint, context: isl.Set
    ) -> LocalBuffer | None:
        name = members[0].access.array
        array = self.scop.arrays[name]
        touched = union([u.elements for u in members])
        box = box_of(touched, context, partial(of_region, self.scop, name))
        if box is None:
            self.lost.setdefault(name, "its footprint has no constant bound")
            return None
        writes, reads = [u for u in members if u.write], [u for u in members if not u.write]
        get = bool(reads) and (
            not writes
            or unfed(self.scop, self._flow(name), reads, writes, runs, len(at.vars))
        )
        note, whole = "", box.elements.intersect_params(context)
        enlarged = not whole.is_subset(touched)
        missing = bool(writes) and not whole.is_subset(union([u.elements for u in writes]))
        # Nobody else writes what is touched, so the box is asked about as a whole: what is left of it has many parts.
        if (missing or (enlarged and not writes)) and not self._alone(name, whole, at):
            self.lost[name] = "the box around a tile holds elements that other cores write"
            return None
        if missing:
            get, note = True, "read first, since the box holds more than is written"
        when = self._when(touched, context)
        values = context if when is None else context.intersect(touched.params())
        lows, lens = box.texts(values)
        moves = loop is not None and any(loop.var in expr_names(e) for e in (*lows, *lens))
        return LocalBuffer(
            self._name(array), name, box.most, lows, lens,
            get, bool(writes),
            loop is not None and moves and self.ahead and get and not writes and when is None
            and not _tiled(loop.body) and untouched(self.scop, members, self._writing(name), len(self.phase.vars)),
            None if when is None else condition_expr(when, context),
            frozenset(u.key for u in members), array.elem.bytes, note, enlarged,
        )  # fmt: skip

    def _when(self, touched: isl.Set, context: isl.Set) -> isl.Set | None:
        """Where the box is not empty, if that is not everywhere."""
        there = touched.params()
        return None if context.is_subset(there) else there.gist(context)

    def _flow(self, name: str) -> isl.UnionMap:
        return self.deps.flows.get(name, isl.UnionMap.empty(param_space(self.scop)))

    def _writing(self, name: str) -> list[BoxUse]:
        return [w for w in self._writes if w.access.array == name]

    def _alone(self, name: str, part: isl.Set, at: TreePoint) -> bool:
        """Does no other core write into this part of the box?"""
        bound = [lp.var for lp in at.loops[len(self.phase.loops) :] if _is_bound(lp)]
        return nobody_else_writes(self.scop, part, self._writing(name), bound, len(self.phase.vars))

    def _name(self, array: Array) -> str:
        name, n = array.name, 2
        while name in self.names:
            name, n = f"{array.name}{n}", n + 1
        return name


def _tiled(node: CNode) -> bool:
    """Are there tile loops inside? Then those do the fetching ahead."""
    return any(n.loop.tile for n in _fors(node))


def _is_bound(node: For) -> bool:
    return node.loop.kind in THREADED


def _fors(node: CNode) -> list[For]:
    return [n for n in walk(node) if isinstance(n, For)]


