"""Compares loops, conditions, statements and what is fetched ahead in a kernel's text with the proven tree
(`KernelReader`; raises Unread where they differ), and finds which core runs which iterations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.ast.ctree import Bin, CExpr, CNode, For, If, Instance, Int, Name
from codegen.scop.tree import THREADED
from codegen.verify.cores.commands import command_of
from codegen.verify.cores.expr import same
from codegen.verify.cores.frame import LocalMemoryFrame
from codegen.verify.cores.lanes import VECTOR
from codegen.verify.cores.loop_heads import check_end, step_of, with_integer
from codegen.verify.cores.memory import TransferCommand
from codegen.verify.cores.records import NEXT, Fetch, PrintedStatement, ReorderedNest, StagedBoxes
from codegen.verify.cores.statements import Places, check_statement
from codegen.verify.cores.values import NameScope, marked
from codegen.verify.cores.vectors import PrintedNest
from codegen.verify.cores.walk import KernelWalk
from codegen.verify.readback import TreePoint, enter
from codegen.verify.text.lanes import show
from codegen.verify.text.read import NOTHING, Node, Unread


class KernelReader(KernelWalk):
    """The text of a kernel with all that its tree has."""

    def _node(
        self, s: Node, todo: list[CNode], sc: NameScope, at: TreePoint, stages: tuple[StagedBoxes, ...],
        ahead: tuple[str, Fetch | None],
    ) -> list[CNode]:  # fmt: skip
        if not todo:
            raise Unread(f"more than there is to do: `{s.kind}`")
        head = todo[0]
        if s.kind == "if" and s.kids[2] == NOTHING and self._for_one(s.kids[0]):
            return self._one_core(s, todo, sc, at, stages)
        if s.kind in ("block", "for") and _in_vectors(s) and nest_of(head) is not None:
            return self._nest([s], todo, sc, at, stages)
        if s.kind == "block":
            if self._list(s.kids, [head], sc, at, stages):
                raise Unread("a part of the kernel is left out")
        elif s.kind == "for" and isinstance(head, For):
            self._loop(s, head, sc, at, stages, ahead)
        elif s.kind == "if" and isinstance(head, If):
            self._choice(s, head, sc, at, stages)
        elif isinstance(head, Instance):
            self._statement(s, head, sc, at, stages)
        else:
            raise Unread(f"`{s.kind}` in place of something else")
        return todo[1:]

    def _for_one(self, cond: Node) -> bool:
        """Is it the test for the one core that runs what stands beside the second of two bound loops?"""
        who = self.words.id if self._turn else self.words.column
        between = self.wide == 2 and self._bound == 1 and not self._only
        return between and cond == Node("binary", "==", (Node("name", who), Node("number", "0")))

    def _one_core(
        self, s: Node, todo: list[CNode], sc: NameScope, at: TreePoint, stages: tuple[StagedBoxes, ...]
    ) -> list[CNode]:
        self._only = True
        if self._list(s.kids[1].kids if s.kids[1].kind == "block" else (s.kids[1],), todo[:1], sc, at, stages):
            raise Unread("a part of the kernel is left out")
        self._only = False
        return todo[1:]

    def _choice(self, s: Node, head: If, sc: NameScope, at: TreePoint, stages: tuple[StagedBoxes, ...]) -> None:
        if not same(sc.integer(s.kids[0]), head.cond):
            raise Unread("another condition")
        cond = at.condition(head.cond)
        sides = [(s.kids[1], head.then, at.domain.intersect(cond))]
        if (s.kids[2] == NOTHING) != (head.orelse is None):
            raise Unread("a condition that leaves a side out")
        if head.orelse is not None:
            sides.append((s.kids[2], head.orelse, at.domain.subtract(cond)))
        for text, node, domain in sides:
            inner = replace(at, domain=domain.coalesce())
            if self._list(text.kids if text.kind == "block" else (text,), [node], sc, inner, stages):
                raise Unread("a part of the kernel is left out")

    def _statement(
        self, s: Node, head: Instance, sc: NameScope, at: TreePoint, stages: tuple[StagedBoxes, ...]
    ) -> None:
        places: Places = {}
        check_statement(sc, head, marked(self.scop, head), s, places)
        self._leaf(head, at, stages, places)

    def _leaf(self, head: Instance, at: TreePoint, stages: tuple[StagedBoxes, ...], places: Places) -> PrintedStatement:
        own = self._bound == self.wide and (self._mine or not self._turn)
        if not own and not (self._only and self._bound < self.wide):
            raise Unread(f"{head.stmt} runs on more than one core")
        if any(len(p) > 1 for p in places.values()):
            raise Unread(f"{head.stmt} finds an element in two places")
        leaf = PrintedStatement(head, at, stages, {k: min(p) for k, p in places.items() if p})
        self.leaves.append(leaf)
        return leaf

    def _nest(
        self, body: Sequence[Node], todo: list[CNode], sc: NameScope, at: TreePoint, stages: tuple[StagedBoxes, ...]
    ) -> list[CNode]:
        """A nest in vectors."""
        found = nest_of(todo[0]) if todo else None
        if found is None:
            raise Unread("vectors for something that is no nest of one statement")
        loops, instance = found
        nest = PrintedNest(loops, instance, marked(self.scop, instance))
        order = nest.read(sc, body)
        for lp in loops:
            at = enter(lp, at)
        leaf = self._leaf(instance, at, stages, nest.places)
        self.nests.append(ReorderedNest(leaf, loops, order))
        return todo[1:]

    # -- loops ---------------------------------------------------------------------------------------

    def _loop(
        self, s: Node, head: For, sc: NameScope, at: TreePoint, stages: tuple[StagedBoxes, ...],
        ahead: tuple[str, Fetch | None]
    ) -> None:
        now, first = ahead
        begin, cond, step, inside = s.kids
        if begin.kind != "declare":
            raise Unread("a loop without a beginning")
        name, lower = begin.text, sc.integer(begin.kids[2])
        advance = step.kids[0] if step.kind == "comma" else step
        by, bound = step_of(advance, name), head.loop.kind in THREADED
        start, every = self._share(head) if bound else (head.lower, head.step)
        if not same(lower, start) or by != every:
            raise Unread(f"the loop over `{name}` begins or goes on elsewhere")
        inner = with_integer(sc, name, Name(head.var))
        check_end(inner, cond, name, head)
        frame = LocalMemoryFrame(self.buffers)
        if step.kind == "comma":
            turns = Node("assign", "^=", (Node("name", now), Node("number", "1")))
            if step.kids[1:] != (turns,) or first is None:
                raise Unread(f"the loop over `{name}` changes something else")
            self._check_first(first, lower, sc, cond)
            frame = self._ahead(first, now, name, by, cond, head)
        elif first is not None:
            raise Unread("something is fetched ahead for no loop")
        body = inside.kids if inside.kind == "block" else (inside,)
        self._bound += bound
        mine, self._mine = self._mine, self._mine and not bound
        if bound and self._bound == self.wide and self._counts:
            body = self._counted(body)
        if self._list(body, [head.body], inner, enter(head, at), stages, frame):
            raise Unread(f"a part of the loop over `{name}` is left out")
        self._bound -= bound
        self._mine = mine

    def _counted(self, body: Sequence[Node]) -> tuple[Node, ...]:
        """The body of a loop over tiles without the statement that counts them, which comes first."""
        at = 1 if self._turn else 0
        if len(body) <= at or body[at] != Node("do", "", (Node("after", "++", (Node("name", self.words.tile),)),)):
            raise Unread("a tile is not counted")
        return (*body[:at], *body[at + 1 :])

    def _share(self, head: For) -> tuple[CExpr, int]:
        """Where a core's iterations of a bound loop begin, and how far they are apart."""
        w = self.words
        if self._turn:
            return head.lower, head.step
        grid = ((w.row, w.rows), (w.column, w.columns))
        if self._bound >= max(len(grid[: self.wide]), 1):
            raise Unread("more bound loops, one inside the other, than cores have rows and columns")
        who, count = (w.id, w.rows * w.columns) if self.wide < 2 else grid[self._bound]
        return Bin("+", head.lower, Bin("*", Name(who), Int(head.step))), head.step * count

    def _deal(self, s: Node, f: LocalMemoryFrame) -> None:
        """Tiles go to the cores in turn: each is counted once, and run by the core whose number comes up."""
        w = self.words
        turn = Node("after", "++", (Node("name", w.turn),))
        count = Node("number", str(w.rows * w.columns))
        want = Node("binary", "!=", (Node("binary", "%", (turn, count)), Node("name", w.id)))
        if not self._turn or s.kids[0] != want or self._bound != self.wide or f.open or f.gets or f.ahead or self._mine:
            raise Unread("tiles are dealt out in another way")
        self._mine = True

    # -- fetching ahead --------------------------------------------------------------------------------

    def _fetch(self, s: Node, sc: NameScope, f: LocalMemoryFrame) -> Fetch:
        body = s.kids[1].kids
        name, value = body[0].text, sc.integer(body[0].kids[2])
        inner = with_integer(sc, name, Name(NEXT))
        found: dict[str, TransferCommand] = {}
        zero: set[str] = set()
        for x in body[1:]:
            if x.kind == "declare":
                inner = with_integer(inner, x.text, inner.integer(x.kids[2]))
                continue
            reset = x.kind == "do" and x.kids[0].kind == "assign" and x.kids[0].kids[1] == Node("number", "0")
            if reset and x.kids[0].kids[0].kind == "index" and x.kids[0].kids[0].kids[0].text in self._replies:
                zero.add(show(x.kids[0].kids[0]))
                continue
            c = command_of(inner, self.buffers, x)
            if c is None or c.put or c.shared or c.buffer in found or c.reply not in zero:
                raise Unread("something else where a box is fetched ahead")
            found[c.buffer] = c
        fetch = Fetch(s.kids[0], value, found)
        if f.loop is not None:  # else ahead of a loop
            self._check_next(fetch, sc, f)
        return fetch

    def _check_first(self, first: Fetch, lower: CExpr, sc: NameScope, cond: Node) -> None:
        """Fetched ahead of the loop is what its first iteration needs, if there is one."""
        test = first.cond
        good = test.kind == "binary" and test.text == cond.text and same(sc.integer(test.kids[0]), lower)
        if not good or test.kids[1] != cond.kids[1] or not same(first.value, lower):
            raise Unread("something is fetched ahead for another iteration than the first")
        if any(c.copy != "0" for c in first.commands.values()):
            raise Unread("the first box is fetched to another copy")

    def _ahead(self, first: Fetch, now: str, name: str, by: int, cond: Node, head: For) -> LocalMemoryFrame:
        env: dict[str, CExpr] = {NEXT: Name(head.var)}
        here = {b: c.later(env)._replace(reply=_reply(c, now)) for b, c in first.commands.items()}
        return LocalMemoryFrame(self.buffers, here, now, loop=(name, by, cond), raw=first.commands)

    def _check_next(self, fetch: Fetch, sc: NameScope, f: LocalMemoryFrame) -> None:
        """Fetched by an iteration is what the next one needs, if there is one, to the other copy."""
        assert f.loop is not None
        name, by, cond = f.loop
        on = Node("binary", "+", (Node("name", name), Node("number", str(by))))
        if fetch.cond != Node("binary", cond.text, (on, cond.kids[1])) or not same(fetch.value, sc.integer(on)):
            raise Unread("something is fetched ahead for another iteration than the next")
        if set(fetch.commands) != set(f.raw) or f.stepped:
            raise Unread("not all that the next iteration needs is fetched")
        other = f"^({f.now}, 1)"
        for b, c in fetch.commands.items():
            if c.copy != other or c.reply != _reply(f.raw[b], other) or not _alike(c, f.raw[b]):
                raise Unread(f"`{b}` is fetched ahead in another way")
        f.stepped = True


def _reply(c: TransferCommand, copy: str) -> str:
    """The reply word of another copy."""
    return f"{c.reply.rpartition(', ')[0]}, {copy})"


def _alike(a: TransferCommand, b: TransferCommand) -> bool:
    if a.outside != b.outside or len(a.steps) != len(b.steps):
        return False
    mine, theirs = ((*c.at, c.total, c.gap, c.block, c.offset, *(e for _, e in c.steps)) for c in (a, b))
    return [n for n, _ in a.steps] == [n for n, _ in b.steps] and all(map(same, mine, theirs))


def nest_of(node: CNode) -> tuple[tuple[For, ...], Instance] | None:
    """Loops of step one around a statement."""
    loops: list[For] = []
    while isinstance(node, For) and node.step == 1 and not node.loop.tile and node.loop.kind not in THREADED:
        loops.append(node)
        node = node.body
    return (tuple(loops), node) if loops and isinstance(node, Instance) else None


def _in_vectors(s: Node) -> bool:
    if s.kind == "declare":
        return VECTOR.fullmatch(s.kids[0].text) is not None
    return s.kind in ("for", "block", "several", "if") and any(map(_in_vectors, s.kids))
