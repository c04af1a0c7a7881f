"""Proof of broadcasts in a mesh product: one core of a row or column sends a slice to all of them, one step before it
is used.

There are two places for slices that arrive. All cores meet before a slice is sent, so that nobody works any more on the
one that was in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from codegen.verify.cores.commands import BARRIERS
from codegen.verify.cores.loop_heads import step_of
from codegen.verify.cores.mesh.names import LocalPlace, MeshScope, check_zero, conjuncts, most, statements
from codegen.verify.cores.mesh.sizes import BYTES, MeshSizes, tests
from codegen.verify.cores.mesh.transfers import is_set, message_waited, word_of
from codegen.verify.poly import Poly, poly
from codegen.verify.text.integers import ways
from codegen.verify.text.read import NOTHING, Node, Unread

_BROADCASTS = ("athread_rma_row_ibcast", "athread_rma_col_ibcast")
_SET = Node("number", "0")


class Broadcast(NamedTuple):
    """A slice that one core of a row or column has sent to all of them: from where, how many elements, which core, and
    the word that counts it where it arrives."""

    source: LocalPlace
    length: Poly
    core: tuple[str, Poly]
    here: str


class BroadcastReader:
    """Reads the loop over slices. `rooms` has the room in each region, to which it adds, and the word that tells that a
    slice is gone from there; `blocks` reads the product with a slice, from a depth on, and gives the depth below which
    sums are complete afterwards."""

    def __init__(
        self, x: MeshSizes, sc: MeshScope, begin: Poly, rooms: tuple[dict[str, Poly], Mapping[str, str]],
        blocks: Callable[[Node, MeshScope, Poly], Poly],
    ) -> None:  # fmt: skip
        self.x, self.sc, self.begin, self.blocks = x, sc, begin, blocks
        self.sizes, self.words = rooms
        self.count = x.words.rows // 2
        self.sent: dict[tuple[str, str], Broadcast] = {}  # by region and copy

    def run(self, s: Node) -> None:
        first, cond, step, inside = s.kids
        name, cells = first.text, cond.kids
        last = self.sc.value(cells[1]).number if cond.kind == "binary" and cells[0] == Node("name", name) else None
        if first.kind != "declare" or first.kids[2] != _SET or step_of(step, name) != 1 or last is None:
            raise Unread("slices are passed on in another way")
        if cond.text not in ("<", "<=") or last + (cond.text == "<=") != self.count + 1:
            raise Unread("more or fewer slices than there are")
        waiting: list[Broadcast] = []
        for k in range(self.count + 1):
            sc, body = self.sc.named(name, poly(k)), statements(inside)
            if len(body) < 2:
                raise Unread("slices are passed on in another way")
            now = self._send(body.pop(0), sc, k)
            while body[0].kind == "declare" and len(body) > 1:
                sc = sc.declared(body.pop(0))
            if len(body) != 1:
                raise Unread("something else happens where slices are passed on")
            if {b.here for b in now} & {b.here for b in waiting}:
                raise Unread("a slice is sent to where another one is worked on")
            self._receive(body[0], sc, k - 1, waiting)
            waiting = now

    def _depth(self, sc: MeshScope, k: int) -> Poly:
        """Of a slice, where it has any."""
        return sc.facts.minimum(self.x.shape.deep, self.x.spans[2].past - self.begin - self.x.shape.deep * k)

    # -- sending -------------------------------------------------------------------------------------

    def _send(self, s: Node, sc: MeshScope, k: int) -> list[Broadcast]:
        """Slice k goes to all cores, where there is one."""
        if s.kind != "if" or s.kids[2] != NOTHING:
            raise Unread("slices that are not sent")
        if k == self.count:
            self._check_never(s, sc)
            return []
        if not sc.whenever(tests(sc, conjuncts(s.kids[0])), (self._depth(sc, k) - 1,)):
            raise Unread("slices are sent where there are none")
        body, sc = statements(s.kids[1]), sc.given(self._depth(sc, k) - 1)
        if len(body) != 4 or body[1].kind != "do" or body[1].kids[0] not in BARRIERS:
            raise Unread("cores do not wait before a slice is sent")
        found = dict(self._broadcast(b, sc) for b in body[2:])
        words = body[0].kids[0].kids if body[0].kind == "do" and body[0].kids[0].kind == "comma" else ()
        back = [self._word(e.kids[0], sc) for e in words if e.kind == "assign" and e.kids[1] == _SET]
        if sorted(back) != sorted(b.here for b in found.values()) or len(words) != len(set(back)):
            raise Unread("words that count slices are not set back")
        if len(found) != 2 or len({b.source for b in found.values()}) != 2:
            raise Unread("a slice is sent twice")
        self.sent |= found
        return list(found.values())

    def _check_never(self, s: Node, sc: MeshScope) -> None:
        if any(sc.facts.copy().assume(w) is not None for w in ways(sc.cond(s.kids[0]))):
            raise Unread("a slice that is not there is sent or worked on")

    def _word(self, e: Node, sc: MeshScope) -> str:
        name = sc.ints.element(e) if e.kind == "index" else e.text
        if name.split("[")[0] not in self.x.replies:
            raise Unread(f"`{name}` counts no messages")
        return name

    def _broadcast(self, s: Node, sc: MeshScope) -> tuple[tuple[str, str], Broadcast]:
        """The core of a row or column whose turn it is sends its slice."""
        w = self.x.words
        cond, then = s.kids[:2] if s.kind == "if" and s.kids[2] == NOTHING else (NOTHING, NOTHING)
        body = statements(then)
        call = body[2].kids[0] if len(body) == 3 and body[2].kind == "do" else NOTHING
        side = dict(zip(_BROADCASTS, (w.column, w.row), strict=True)).get(call.text, "")
        if not side or len(call.kids) != 5 or cond.text != "==" or cond.kids[0] != Node("name", side):
            raise Unread("a slice is sent by another core")
        to, source = self.x.place(sc, call.kids[0]), self.x.place(sc, call.kids[1])
        sent, here = word_of(call.kids[3]), self._word(call.kids[4].kids[0], sc)
        if message_waited(self.x, body[0]) != sent or not is_set(body[1], sent, "0"):
            raise Unread("a slice is sent while another one may be on its way")
        if self.words.get(source.region) != sent or f"[{to.copy}]" != here[here.find("[") :]:
            raise Unread("a slice is counted by another word")
        if source.copy or source.offset.terms or to.offset.terms:
            raise Unread("something else than a slice is sent")
        size, length = self.sizes[source.region], sc.value(call.kids[2])
        check_zero(sc.facts, "room for a slice", self.sizes.setdefault(to.region, size), size)
        if not any(sc.facts.holds(size * BYTES - n) for n in most(sc.facts, length)[::-1]):
            raise Unread("more is sent than there is room for")
        whole = length.over(poly(BYTES))
        if whole is None or not to.copy:
            raise Unread("something else than a slice is sent")
        return (to.region, to.copy), Broadcast(source, whole, (side, sc.value(cond.kids[1])), here)

    # -- receiving -----------------------------------------------------------------------------------

    def _receive(self, s: Node, sc: MeshScope, k: int, now: Sequence[Broadcast]) -> None:
        """Slice k is there; then all blocks take it."""
        if s.kind != "if" or s.kids[2] != NOTHING:
            raise Unread("slices that nobody works on")
        if k < 0:
            self._check_never(s, sc)
            return
        if not sc.whenever(sc.cond(s.kids[0]), (self._depth(sc, k) - 1,)):
            raise Unread("slices are worked on where there are none")
        body, sc = statements(s.kids[1]), sc.given(self._depth(sc, k) - 1)
        if sorted(self._waited(b, sc) for b in body[:2]) != sorted(b.here for b in now):
            raise Unread("a slice is worked on before it is there")
        if len(body) != 3:
            raise Unread("something else happens to a slice")
        start = self.begin + self.x.shape.deep * k
        others = {key: b for key, b in self.sent.items() if b not in now}
        self.sent = {key: b for key, b in self.sent.items() if b in now}
        done = self.blocks(body[-1], sc, start)
        self.sent |= others
        check_zero(sc.facts, "the depth of a slice", done, start + self.x.shape.deep)

    def _waited(self, s: Node, sc: MeshScope) -> str:
        e = s.kids[0] if s.kind == "do" else NOTHING
        if e.kind != "call" or e.text != "athread_rma_wait_value" or e.kids[1:] != (Node("number", "1"),):
            raise Unread("a slice is worked on before it is there")
        if e.kids[0].kind != "unary" or e.kids[0].text != "&":
            raise Unread("a reply that lies nowhere")
        return self._word(e.kids[0].kids[0], sc)


def sent_to(p: BroadcastReader | None, key: tuple[str, str]) -> Broadcast | None:
    found: Mapping[tuple[str, str], Broadcast] = p.sent if p is not None else {}
    return found.get(key)
