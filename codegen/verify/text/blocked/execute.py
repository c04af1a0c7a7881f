"""Symbolic execution of a blocked product's text: what its loops pack, where, and which elements it updates with it.

Loops are taken as a whole: their body is run for any one iteration, and `spans.py` makes of that what all of them do. A
buffer's content is known by the box of coordinates that hold the operand's value; whoever reads more is refused.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import partial

from codegen.verify.poly import ZERO
from codegen.verify.text.blocked.choice import written_out
from codegen.verify.text.blocked.corners import at as corner
from codegen.verify.text.blocked.corners import none_belongs, with_depth
from codegen.verify.text.blocked.depths import CHANGED
from codegen.verify.text.blocked.elements import PREFETCH
from codegen.verify.text.blocked.loops import BlockedLoops
from codegen.verify.text.blocked.state import (
    NOUGHT,
    TARGET,
    Buffered,
    BufferPointer,
    Effects,
    Heap,
    LocalArray,
    Made,
    Team,
)
from codegen.verify.text.integers import UNKNOWN, IntegerCondition, decided, is_test, negated, ways
from codegen.verify.text.lanes import show
from codegen.verify.text.read import NOTHING, Node, Unread, nodes

MEET = Node("block", "", (Node("line", "#pragma omp barrier"),))

_SAME = Node("unary", "&", (Node("index", "", (Node("name", "tw_same"), NOUGHT)),))


class BlockRun(BlockedLoops):
    """The product's block. Raises Unread with what cannot be shown."""

    def block(self, body: Sequence[Node]) -> Effects:
        names = dict(self.names)
        try:
            return self._rest(tuple(body))
        finally:
            self.names = names

    def _rest(self, body: tuple[Node, ...]) -> Effects:
        """A block from some statement on; conditions that it asks for later are told apart first."""
        done: Effects = {}
        for k, node in enumerate(body):
            if node.kind == "several":
                return self._then(done, self._rest((*node.kids, *body[k + 1 :])))
            asked = self._asked(node, body[k + 1 :]) if node.kind == "declare" else None
            if asked is not None:
                return self._then(done, self._apart(node, asked, body[k + 1 :]))
            if node.kind == "if" and node.kids[1] == Node("continue"):
                return self._then(done, self._skipping(node.kids[0], body[k + 1 :]))
            found = self._statement(node)
            done = self._then(done, found)
        return done

    def _asked(self, node: Node, rest: Sequence[Node]) -> IntegerCondition | None:
        """The condition, if a later statement of the block asks for it. Where it decides how a loop begins, it does not
        matter what it says: both ways have to be right."""
        if node.kids[0].text != "const int":
            return None
        name = Node("name", node.text)
        if any(n.kind == "if" and name in nodes(n.kids[0]) for n in rest):
            return self._tested(node.text, node.kids[2])
        begins = (n.kids[0] for x in rest for n in nodes(x) if n.kind == "for")
        return UNKNOWN if is_test(node.kids[2]) and any(name in nodes(n) for n in begins) else None

    def _statement(self, node: Node) -> Effects:
        if node.kind == "line":
            return self._directive(node.text)
        if node.kind == "block":
            entering, self.team.entering = self.team.entering, False
            return self._threads(node.kids) if entering else self.block(node.kids)
        if node.kind == "declare":
            self._declare(node)
            return {}
        if node.kind == "for":
            return self._loop(node)
        if node.kind == "if":
            return self._if(node)
        if node.kind == "do":
            return self._do(node.kids[0])
        raise Unread(f"a statement of kind {node.kind}")

    def _if(self, node: Node) -> Effects:
        cond, then, orelse = node.kids
        if then == MEET and orelse is NOTHING:
            self._waits_later(cond)
            return {}
        moved = self._belonging(cond, then) if orelse is NOTHING else None
        if moved is not None:
            return moved
        if cond.kind == "name" and isinstance(self.names.get(cond.text), Heap):
            if orelse.kind == "if":
                return self._either(cond.text, then, orelse)
            return self._statement(then)  # without memory, the plain nest runs
        c = self._integers().cond(cond)
        known = decided(c, self.facts)
        if known is not None:
            taken = then if known else orelse
            return {} if taken is NOTHING else self.block((taken,))
        cases = []
        self.forked += 1
        before, ended, asked = len(self.buffers.packs), len(self.team.ends), self.buffers.asked
        self.buffers.asked = [*asked, *self._compared(cond)]
        for body, part in ((then, c), (orelse, negated(c))):
            for given in ways(part):
                cases += self._case(lambda: None, given, () if body is NOTHING else (body,))
        self.forked -= 1
        self.buffers.asked = asked
        self.team.join(ended)
        kept = self._from_before(cases, before) if orelse is NOTHING else None
        return self._agreed(cases) if kept is None else kept

    def _either(self, memory: str, then: Node, orelse: Node) -> Effects:
        """Two ways to do the whole work, each in memory of its own, of which one was asked for."""
        unless = {name: heap.unless for name, heap in self._heaps().items()}
        names, first = set(unless), unless.pop(memory)
        asked = first.kids[0] if first[:2] == ("unary", "!") else NOTHING
        apart = [asked in (x.kids if x[:2] == ("binary", "||") else (x,)) for x in unless.values()]
        if self.open or self.team.inside or asked is NOTHING or not all(apart):
            raise Unread(f"{memory} is not the only memory that is asked for")
        cases = list[Made]()
        for body, unused in ((then, names - {memory}), (orelse, {memory})):
            self.buffers, self.team = Buffered(), Team()
            cases += self._case(partial(self._forget, unused), (), (body,))
        self._forget(names)
        return self._agreed(cases)

    def _heaps(self) -> dict[str, Heap]:
        return {name: x for name, x in self.names.items() if isinstance(x, Heap)}

    def _forget(self, names: Set[str]) -> None:
        self.names = {name: x for name, x in self.names.items() if name not in names}

    def _skipping(self, cond: Node, body: tuple[Node, ...]) -> Effects:
        """`if (cond) continue;` where nothing that would be left out belongs. Effects speak only of what belongs."""
        given = ways(self._integers().cond(cond))
        found = self._rest(body)
        for facts in filter(None, map(self.facts.assume, given)):
            if TARGET not in found or not none_belongs(self.claim.corners, found[TARGET].spans, facts):
                raise Unread("a tile is passed over of which something belongs")
        return found

    def _belonging(self, cond: Node, then: Node) -> Effects | None:
        """`if (the element belongs) move it`: the effect speaks only of what belongs. None where that is not asked."""
        store = self._single_step(then) if self.claim.corners else None
        if store is None:
            return None
        asked = self._integers().cond(cond)
        self.belonging = True
        found = self._do(store)
        self.belonging = False
        for e in found.values():
            at = {c: s.lo for c, s in e.spans.items()}
            i, j = (at["i"], at["j"]) if e.kind == TARGET else (e.base[0] + at["r"], e.base[1] + at["c"])
            one = e.kind == TARGET and self._computes(store.kids[1])  # at one depth
            asks = [x for x in self.claim.corners if one or not with_depth(x)]
            corners = [corner(x, i, j, at["k"] if one else ZERO, self.facts) for x in asks]
            wanted = sorted(str(self.facts.expand(p)) for p in corners)
            if asked.op not in ("ge", "and") or wanted != sorted(str(self.facts.expand(p)) for p in ways(asked)[0]):
                raise Unread(f"an element moves on another condition than it should: {show(cond)}")
        return found

    def _computes(self, value: Node) -> bool:
        """Is it a step that is computed here?"""
        return self._deep and value.kind != "index"

    def _directive(self, text: str) -> Effects:
        words = text.split()
        if words[:3] == ["#pragma", "omp", "parallel"]:
            if self.team.inside or words[3:] != ["num_threads((int)tw_team)", "if(tw_team", ">", "1)"]:
                raise Unread(text)
            self.team.most = self._integers().value(Node("name", "tw_team"))
            self.team.entering = True
        elif words[:3] == ["#pragma", "omp", "for"]:
            self._deal(" ".join(words[3:]))
        elif words == ["#pragma", "omp", "barrier"]:
            self._together()
            self.team.meet(len(self.open))
        else:
            raise Unread(text)
        return {}

    def _do(self, e: Node) -> Effects:
        found = self._done(e)
        if TARGET in found and self.team.inside and not (self.team.dealing or self.team.numbered):
            raise Unread("every thread updates the same elements")
        return found

    def _done(self, e: Node) -> Effects:
        if e.kind == "call":
            if e.text in self.claim.choices:
                return self._statement(written_out(e, self.claim.choices[e.text]))
            if e.text in self.claim.kernels:
                return self._kernel(e)
            if e.text == PREFETCH:
                return self._fetched(e)
            if e.text == "tw_free":
                return self._freed(e)
        if e.kind == "assign" and e.text == "=":
            return self._store(e.kids[0], e.kids[1])
        if e[:2] == ("assign", "+=") and e.kids[0] == Node("name", "tw_offsets") and not (self.open or self.forked):
            self.names["tw_offsets"] = self._integers().value(e.kids[0]) + self._integers().value(e.kids[1])
            return {}
        raise Unread(f"a statement {show(e)}")

    def _store(self, to: Node, value: Node) -> Effects:
        if self.claim.careful and to.kind == "index" and to.kids[0].text in ("tw_was", "tw_tile", "tw_same"):
            return self._kept(to, value)
        base = self.names.get(to.kids[0].text) if to.kind == "index" and to.kids[0].kind == "name" else None
        if isinstance(base, BufferPointer) and base.of in ("left", "right"):
            return self._pack(base, self._integers().value(to.kids[1]), value)
        if isinstance(base, LocalArray):
            return self._local(to.kids[0].text, base, self._integers().value(to.kids[1]), value)
        place = self._changing(to, value) if self.claim.careful else to
        return self._one_step(place, value) if self._computes(value) else self._to_target(place, value)

    def _changing(self, to: Node, value: Node) -> Node:
        """The element that is stored where it changes, and only there: what is not such a store is refused. In `*(it
        differs ? &element : &tw_same[0]) = value`, the rest goes to an array of the thread's own that nobody reads."""
        if to.kind == CHANGED:
            return to.kids[0]
        if to[:2] != ("unary", "*") or to.kids[0].kind != "choose":
            raise Unread("an element is stored that may not have changed")
        differs, place, other = to.kids[0].kids
        if not _differs(value, differs):
            raise Unread("an element is compared with another, or in part")
        if place[:2] != ("unary", "&") or other != _SAME or not isinstance(self.names.get("tw_same"), LocalArray):
            raise Unread("what did not change goes where it may be read")
        return place.kids[0]

    def _freed(self, e: Node) -> Effects:
        """The memory of all buffers is given back once, when no thread uses it any more."""
        heap = next(iter(self._heaps()), "")
        if e.kids != (Node("name", heap),) or self.open or self.forked or self.team.inside:
            raise Unread(f"memory is given back: {show(e)}")
        self.names = {n: x for n, x in self.names.items() if not isinstance(x, (Heap, BufferPointer))}
        return {}

    def _kept(self, to: Node, value: Node) -> Effects:
        """`tw_was[...] = tw_tile[...] = element`: a tile's element, and what it was."""
        inner = value.kids[0] if value[:2] == ("assign", "=") else NOTHING
        names = [e.kids[0].text for e in (to, inner) if e.kind == "index"]
        was, tile = self.names.get("tw_was"), self.names.get("tw_tile")
        if names != ["tw_was", "tw_tile"] or to.kids[1] != inner.kids[1]:
            raise Unread("what elements were is not kept")
        if (
            not isinstance(was, LocalArray)
            or not isinstance(tile, LocalArray)
            or not self.facts.holds(was.size - tile.size)
        ):
            raise Unread("there is no room for what elements were")
        return self._local("tw_tile", tile, self._integers().value(inner.kids[1]), value.kids[1])


def _differs(new: Node, cond: Node) -> bool:
    """Is it the question whether a tile's element differs from what it was?"""
    if new.kind != "index" or new.kids[0] != Node("name", "tw_tile"):
        return False
    old = Node("index", "", (Node("name", "tw_was"), new.kids[1]))
    size = Node("sizeof", "", (Node("unary", "*", (Node("name", "tw_tile"),)),))
    return cond == Node("call", "__builtin_memcmp", (_address(new), _address(old), size))


def _address(e: Node) -> Node:
    return Node("unary", "&", (e,))
