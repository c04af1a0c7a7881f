"""Proof of the functions that load resident tiles before the first kernel of a launch and store them after the last.

They go through the tiles of a core as kernels do, and move those that stay, each to or from a place of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from codegen.ast.ctree import Block, CExpr, CNode, For, Name
from codegen.record import record
from codegen.scop.model import Scop
from codegen.verify.cores.commands import CoreBuffer, command_of, wait_of
from codegen.verify.cores.expr import polynomial
from codegen.verify.cores.frame import LocalMemoryFrame
from codegen.verify.cores.kernel import KernelReader
from codegen.verify.cores.launches.barriers import canonical_deal
from codegen.verify.cores.memory import TransferCommand
from codegen.verify.cores.records import KernelNames, StagedBoxes
from codegen.verify.cores.types import plain_type
from codegen.verify.cores.values import NameScope
from codegen.verify.poly import ONE
from codegen.verify.readback import TreePoint
from codegen.verify.text.read import NOTHING, Node, Unread, read_statements

_KEPT = re.compile(r", ([\w ]+?) \(\*(\w+)\)\[(\d+)\]")
_SILENT = ("ldm_hold", "ldm_release")


@record
class MoverTask:
    """The loops of a kernel that deal its tiles out, and the head of the function that goes through them."""

    bound: tuple[For, ...]
    at: TreePoint
    head: str


@dataclass
class Mover(KernelReader):
    """The text of such a function: what it moves, by the place in local memory, and for how many tiles."""

    moved: dict[str, tuple[TransferCommand, int]] = field(default_factory=dict)
    bound: tuple[For, ...] = ()

    @property
    def deal(self) -> tuple[object, ...]:
        return canonical_deal(self, self.bound)

    def _list(
        self, body: Sequence[Node], nodes: Sequence[CNode], sc: NameScope, at: TreePoint,
        stages: tuple[StagedBoxes, ...],
        frame: LocalMemoryFrame | None = None,
    ) -> list[CNode]:  # fmt: skip
        if self._bound < self.wide:
            return super()._list(body, nodes, sc, at, stages, frame)
        f = frame or LocalMemoryFrame(self.buffers)
        for s in body:
            wait = wait_of(s.kids[0]) if s.kind == "do" else None
            if s.kind == "if" and s.kids[1] == Node("continue"):
                self._deal(s, f)
            elif self._tile(s):
                continue
            elif s.kind == "declare":
                sc = self._declare(s, sc, f)
            elif s.kind == "if" and s.kids[0].text in self.limits and s.kids[2] == NOTHING:
                inner = s.kids[1].kids if s.kids[1].kind == "block" else (s.kids[1],)
                self._move(inner, self.limits[s.kids[0].text], sc)
            elif wait is None or self._counters.get(wait.much.text) != wait.reply:
                raise Unread("something else where tiles come or go")
        if self._turn and not self._mine:
            raise Unread("tiles of other cores come or go")
        return []

    def _move(self, body: Sequence[Node], limit: int, sc: NameScope) -> None:
        """One tile comes or goes: commands, each with the number by which a word counts them."""
        open_: TransferCommand | None = None
        for s in body:
            if _silent(s):
                continue
            if open_ is not None:
                self._check_count(s, open_, sc)
                open_ = None
                continue
            open_ = command_of(sc, self.buffers, s)
            if open_ is None or open_.copy != self.words.tile or open_.buffer in self.moved or open_.shared:
                raise Unread("something else where a tile comes or goes")
            self.moved[open_.buffer] = open_, limit
            self._done.discard(next((n for n, r in self._counters.items() if r == open_.reply), ""))
        if open_ is not None:
            raise Unread("a command that nobody counts")

    def _check_count(self, s: Node, c: TransferCommand, sc: NameScope) -> None:
        e = s.kids[0] if s.kind == "do" else NOTHING
        once = e.kind == "after" and e.text == "++"
        more = sc.integer(e.kids[1]) if e.kind == "assign" and e.text == "+=" else None
        known = (once or more is not None) and self._counters.get(e.kids[0].text) == c.reply
        much = polynomial(more) if more is not None else ONE
        if not known or c.commands() != much:
            raise Unread("a command that nobody counts")


def _silent(s: Node) -> bool:
    """Is it a word to the emulator alone?"""
    if s.kind == "for":
        return _silent(s.kids[3])
    if s.kind == "block":
        return all(map(_silent, s.kids))
    return s.kind == "do" and s.kids[0].kind == "call" and s.kids[0].text in _SILENT


def kept_places(parameters: str) -> tuple[dict[str, CoreBuffer], str]:
    """Places for tiles among the parameters of a function, and the other parameters."""
    found = {m[2]: CoreBuffer(int(m[3]), 0, plain_type(m[1])) for m in _KEPT.finditer(parameters)}
    return found, _KEPT.sub("", parameters)


def read_mover(scop: Scop, task: MoverTask, text: str, words: KernelNames) -> Mover:
    """Raises Unread where a function does more than to move tiles that stay, or leaves commands open."""
    node: CNode = Block(())
    for lp in reversed(task.bound):
        node = replace(lp, body=node)
    places, rest = kept_places(task.head[task.head.index("(") :])
    mover = Mover(scop, words, len(task.bound), {}, buffers=dict(places), bound=task.bound)
    if re.fullmatch(rf"\(\w+_args \*{words.args}, int {words.id}\)", rest) is None:
        raise Unread("a function for tiles with other parameters")
    integers: Mapping[str, CExpr] = {words.id: Name(words.id)}
    scope = NameScope(scop, integers, {}, {}, {}, frozenset(), {}, words.args)
    mover.run(read_statements(text), node, scope, task.at)
    if mover.moved and not set(mover._counters) <= mover._done:
        raise Unread("nobody waits for tiles that come or go")
    if not mover._counts or any(c.reply not in mover._nought for c, _ in mover.moved.values()):
        raise Unread("tiles that come or go are counted in another way")
    return mover
