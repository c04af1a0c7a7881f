"""State of local memory during a list of statements of a core's kernel: boxes that are fetched, being fetched, or to be
written back. Commands, waits and uses are noted in their order; one that comes too early, too late or for nobody raises
Unread.

Boxes come before anything else happens in the list and go after it. Every command is waited for: those that fetch
before the box is used, those that bring back before its buffer is needed again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from codegen.ast.ctree import CExpr, Name
from codegen.verify.cores.commands import CoreBuffer, Wait, command_of
from codegen.verify.cores.expr import polynomial, same
from codegen.verify.cores.memory import BoxCopy, TransferCommand, box
from codegen.verify.cores.values import NameScope
from codegen.verify.text.read import NOTHING, Node, Unread

STAYS = "\0not "  # with a name behind it: a condition that holds for tiles that do not stay
PUTS = ("athread_put", "athread_dma_iput_stride")


class BufferView(NamedTuple):
    """A name that addresses a buffer, or one of its copies, by rows of some shape."""

    name: str
    buffer: str
    copy: str
    shape: tuple[CExpr, ...]
    kept: str = ""  # where the tile is if it stays
    stays: str = ""  # what tells whether it does


class Guarded(NamedTuple):
    """A command, and where it is given."""

    command: TransferCommand
    when: CExpr | None


@dataclass
class LocalMemoryFrame:
    """What has happened so far in a list of statements."""

    buffers: Mapping[str, CoreBuffer]
    ahead: Mapping[str, TransferCommand] = field(default_factory=dict)  # fetched by the iteration before, by buffer
    now: str = ""  # the variable that tells which copy that is
    stepped: bool = False  # the next iteration's are on their way
    loop: tuple[str, int, Node] | None = None  # whose iterations: its variable, step and condition
    raw: Mapping[str, TransferCommand] = field(default_factory=dict)  # for the iteration that NEXT stands for
    views: list[BufferView] = field(default_factory=list)
    gets: dict[str, Guarded] = field(default_factory=dict)
    puts: dict[str, Guarded] = field(default_factory=dict)
    zero: dict[str, CExpr | None] = field(default_factory=dict)  # reply words that were reset, and where
    met: bool = False  # all cores have met since then
    here: set[str] = field(default_factory=set)  # buffers whose fetch was waited for
    free: dict[str, CExpr | None] = field(default_factory=dict)  # buffers whose put of before was waited for, and where
    late: set[str] = field(default_factory=set)  # those whose put here is not waited for here
    told: set[str] = field(default_factory=set)  # those of them whose number of commands is known later
    gone: set[str] = field(default_factory=set)
    open: bool = False  # boxes are in use

    def command(self, c: TransferCommand, when: CExpr | None, alone: bool) -> None:
        """A command is given. `alone`: by the first core, for all of them."""
        if c.reply not in self.zero or not _same_test(self.zero[c.reply], when):
            raise Unread(f"a command for `{c.buffer}` whose reply word counts others, too")
        del self.zero[c.reply]
        if c.put:
            if c.buffer not in self.puts or self.puts[c.buffer] != Guarded(c, when) or c.buffer in self.gone:
                raise Unread(f"`{c.buffer}` is brought back in another way")
            self.gone.add(c.buffer)
            return
        if self.open or c.buffer in self.gets:
            raise Unread(f"`{c.buffer}` is fetched while it is in use")
        if c.shared != alone or (alone and not self.met):
            raise Unread(f"`{c.buffer}` is fetched for cores that are not ready for it")
        self.gets[c.buffer] = Guarded(c, when)

    def counted(self, sc: NameScope, buffer: str, much: Node, when: CExpr | None) -> None:
        """A word says how many commands of a put are on their way, for who waits for them later."""
        mine = self.puts[buffer] if buffer in self.gone else None
        known = mine is not None and _same_test(mine.when, when)
        if not known or polynomial(sc.integer(much)) != mine.command.commands():  # type: ignore[union-attr]
            raise Unread(f"`{buffer}` is brought back by more or fewer commands")
        self.told.add(buffer)

    def wait(self, sc: NameScope, w: Wait, when: CExpr | None) -> None:
        much = polynomial(sc.integer(w.much))
        for b, c in self.ahead.items():
            if c.reply == w.reply and when is None and much == c.commands():
                self.here.add(b)
                return
        for b, g in self.gets.items():
            if g.command.reply == w.reply and _same_test(g.when, when) and much == g.command.commands():
                self.here.add(b)
                return
        for b in self.gone:
            g = self.puts[b]
            if g.command.reply == w.reply and _same_test(g.when, when) and much == g.command.commands():
                self.late.discard(b)
                return
        raise Unread(f"a wait for `{w.reply}`, which counts no such commands")

    def begin(self, puts: Mapping[str, Guarded]) -> dict[str, BoxCopy]:
        """The boxes of this list, when the first thing happens that may use them."""
        if self.open:
            if self.gone:
                raise Unread("something happens after boxes were brought back")
            return {}
        self.open, self.puts, self.late = True, dict(puts), set(puts)
        found = {v.name: self._copy(v) for v in self.views}
        unused = {*self.gets, *self.puts} - {v.buffer for v in self.views}
        if unused:
            raise Unread(f"`{min(unused)}` is fetched or brought back for nobody")
        return found

    def _copy(self, v: BufferView) -> BoxCopy:
        get, put = self.gets.get(v.buffer), self.puts.get(v.buffer)
        ahead = v.buffer in self.ahead
        if ahead:
            if get is not None or put is not None or v.copy != self.now:
                raise Unread(f"`{v.buffer}` has two copies and is used as if it had one")
            get = Guarded(self.ahead[v.buffer], None)
        elif v.copy or self.buffers[v.buffer].copies != 1:
            raise Unread(f"one of two copies of `{v.buffer}` that nobody fills")
        either = get or put
        if either is None:
            raise Unread(f"`{v.buffer}` has no part of an array")
        if get is not None and v.buffer not in self.here:
            raise Unread(f"`{v.buffer}` is used before it is there")
        if v.stays and (ahead or any(g is not None and g.when != Name(f"{STAYS}{v.stays}") for g in (get, put))):
            raise Unread(f"`{v.buffer}` is fetched or brought back for a tile that stays")
        if not v.stays and isinstance(either.when, Name) and either.when.name.startswith(STAYS):
            raise Unread(f"`{v.buffer}` is not fetched or brought back for tiles of others that stay")
        lows, lens = box(either.command, v.shape)
        if get is not None and put is not None:
            other = box(put.command, v.shape)
            alike = get.command.outside == put.command.outside and _same_test(get.when, put.when)
            if not alike or not all(map(same, (*lows, *lens), (*other[0], *other[1]))):
                raise Unread(f"`{v.buffer}` is brought back to another part of its array")
        array = either.command.outside.array
        when = None if v.stays else either.when
        found = BoxCopy(v.name, v.buffer, array, lows, lens, get is not None, put is not None, ahead, when)
        return found._replace(kept=v.kept, stays=v.stays)

    def end(self) -> None:
        """The list is over."""
        if self.ahead and not self.stepped:
            raise Unread("what the next iteration needs is not fetched")
        if self.open and set(self.puts) != self.gone:
            raise Unread(f"`{min(set(self.puts) - self.gone)}` is not brought back")
        good = {b for b in self.told & set(self.free) if _same_test(self.free[b], self.puts[b].when)}
        if not self.late <= good:
            raise Unread(f"`{min(self.late - good)}` is used again before it was brought back")
        if not self.open and (self.views or self.gets):
            raise Unread("boxes that nobody uses")


def _same_test(a: CExpr | None, b: CExpr | None) -> bool:
    return (a is None) == (b is None) and (a is None or b is None or same(a, b))


def puts_in(
    sc: NameScope,
    buffers: Mapping[str, CoreBuffer],
    later: Sequence[Node],
    test: Callable[[NameScope, Node], CExpr | None],
) -> dict[str, Guarded]:
    """The commands that bring boxes back, of those that are still to come in a list."""
    found: dict[str, Guarded] = {}

    def look(nodes: Sequence[Node], when: CExpr | None) -> None:
        for n in nodes:
            if n.kind == "if" and n.kids[2] == NOTHING:
                inner = n.kids[1].kids if n.kids[1].kind == "block" else (n.kids[1],)
                if any(_is_put(x) for x in inner):
                    look(inner, test(sc, n.kids[0]))
            elif _is_put(n):
                c = command_of(sc, buffers, n)
                assert c is not None
                if c.buffer in found:
                    raise Unread(f"`{c.buffer}` is brought back twice")
                found[c.buffer] = Guarded(c, when)

    look(later, None)
    return found


def _is_put(node: Node) -> bool:
    if node.kind == "for":
        return _is_put(node.kids[3])
    if node.kind == "block":
        return len(node.kids) == 1 and _is_put(node.kids[0])
    return node.kind == "do" and node.kids[0].kind == "call" and node.kids[0].text in PUTS
