"""Proof of the text around matrix-vector kernels: which elements of the result its calls update, and that operands and
copies are where kernels read them.

That there is at least one row and one step is known from the text itself, which asks before it calls.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.verify.poly import ONE, ZERO, Poly, poly, var
from codegen.verify.text.integers import negated, ways
from codegen.verify.text.lanes import show
from codegen.verify.text.matvec.operands import ME, SIZE, MatvecClaim, OperandBuffer, Operands, PointerPlace
from codegen.verify.text.read import NOTHING, Node, Unread
from codegen.verify.text.spans import Case, CountedLoop, Effect, Span, agree, over_loop, over_team


class MatvecBlock(Operands):
    """The product's block, run on symbols."""

    def __init__(self, claim: MatvecClaim) -> None:
        super().__init__(claim)
        self.entering = False  # the next block is run by every thread of a team
        self.done: Effect | None = None

    def prove(self, block: Node) -> None:
        self._block(block.kids)
        done = self.done
        if done is None:
            raise Unread("it updates nothing")
        for c, past in (("i", self.rows), ("k", self.depth)):
            if not self.facts.equal(done.spans[c].lo, ZERO) or not self.facts.equal(done.spans[c].hi, past):
                raise Unread(f"coordinate {c} runs from {done.spans[c].lo} to {done.spans[c].hi} in place of {past}")
        if self.copied:
            raise Unread("the result is not copied back")

    # -- statements --------------------------------------------------------------------------------

    def _block(self, body: Sequence[Node]) -> Effect | None:
        found = None
        for node in body:
            effect = self._one(node)
            if effect is not None and found is not None:
                raise Unread("the product is carried out twice")
            found = effect if found is None else found
        return found

    def _one(self, node: Node) -> Effect | None:
        if node.kind == "several":
            return self._block(node.kids)
        if node.kind == "line":
            if (
                node.text.split() != ["#pragma", "omp", "parallel", "num_threads((int)tw_team)"]
                or self.team is not None
            ):
                raise Unread(node.text)
            self.team = self._ints().value(Node("name", "tw_team"))
            self.entering = True
            return None
        if node.kind == "declare":
            self._declare(node)
            return None
        if node.kind == "block":
            return self._inner(node)
        if node.kind == "if":
            return self._if(node)
        if node.kind == "for":
            return self._loop(node)
        if node.kind == "do":
            return self._do(node.kids[0])
        raise Unread(f"a statement of kind {node.kind}")

    def _inner(self, node: Node) -> Effect | None:
        names, entering = dict(self.names), self.entering
        self.entering = False
        found = self._block(node.kids)
        if entering and found is not None:
            found = over_team(found, ME, SIZE, self.facts)
            self.team = None
        self.names = names
        return found

    def _if(self, node: Node) -> Effect | None:
        cond, then, orelse = node.kids
        work = self._worth(cond)
        if work is not None:
            for given in ways(work):
                self.facts.learn(*given)
            self.done = self._inner(Node("block", "", (then,)))
            return None  # else the plain nest runs
        c = self._cond(cond)
        cases = []
        for body, part in ((then, c), (orelse, negated(c))):
            for given in ways(part):
                outer, self.facts = self.facts, self.facts.copy().learn(*given)
                effect = None if body is NOTHING else self._inner(Node("block", "", (body,)))
                cases.append(Case(self.facts, effect, tuple(given)))
                self.facts = outer
        found = agree(cases)
        if found is None:
            raise Unread("cases differ in what they update")
        return found

    def _loop(self, node: Node) -> Effect | None:
        first, cond, step, body = node.kids
        if first.kind != "declare" or first.kids[0].text != "long" or cond[:2] != ("binary", "<"):
            raise Unread("a loop of another form")
        me = Node("name", first.text)
        by = ONE if step == Node("after", "++", (me,)) else None
        if step[:2] == ("assign", "+=") and step.kids[0] == me:
            by = self._ints().value(step.kids[1])
        if by is None or cond.kids[0] != me or first.text in self.names or not self.facts.holds(by - 1):
            raise Unread("a loop of another form")
        v = self.facts.fresh(first.text)
        lp = CountedLoop(str(v), self._ints().value(first.kids[2]), self._ints().value(cond.kids[1]), by)
        copied = self._copied(lp, first.text, body)
        if copied:
            return None
        outer, self.facts = self.facts, self.facts.copy().learn(v - lp.first, lp.past - 1 - v)
        names, self.names = self.names, {**self.names, first.text: v}
        found = self._block((body,))
        whole = None if found is None else over_loop(found, lp, self.facts)
        self.facts, self.names = outer, names
        return whole

    def _do(self, e: Node) -> Effect | None:
        if e.kind == "call" and e.text == "tw_free" and e.kids == (Node("name", "tw_room"),):
            if self.team is not None or "tw_room" not in self.names:
                raise Unread("memory is given back while threads use it, or twice")
            self.names = {n: x for n, x in self.names.items() if not isinstance(x, (OperandBuffer, PointerPlace))}
            return None
        if e.kind == "call" and e.text == self.claim.kernel:
            return self._kernel(e.kids)
        raise Unread(f"a statement {show(e)}")

    # -- kernels -----------------------------------------------------------------------------------

    def _kernel(self, args: Sequence[Node]) -> Effect:
        """A call of the kernel, which `kernel.py` has shown to take all steps of its elements."""
        claim, f = self.claim, self.facts
        n, k, *rest = self._own(args)
        several = [rest.pop(0)] if claim.streams else []
        count = 2 * len(claim.left) + len(claim.right) + 1 + len(claim.consts)
        if len(rest) != count:
            raise Unread("a kernel is called with other arguments")
        rows, steps = self._ints().value(n), self._ints().value(k)
        at: set[tuple[str, Poly]] = set()
        for m in range(len(claim.left)):
            pointer, pitch = rest[2 * m], rest[2 * m + 1]
            if pitch != Node("name", f"tw_pitch{m}"):
                raise Unread("a kernel takes lines of a matrix to be in another distance")
            offset = self._offset(pointer, f"a{m}")
            line = offset.part(f"tw_pitch{m}")
            along = offset - line * var(f"tw_pitch{m}")
            at |= {("i", along), ("k", line)} if claim.lanes else {("i", line), ("k", along)}
        rest = rest[2 * len(claim.left) :]
        at |= {("k", self._offset(e, f"x{m}")) for m, e in enumerate(rest[: len(claim.right)])}
        at.add(("i", self._offset(rest[len(claim.right)], "y")))
        wanted = [Node("name", f"tw_s{m}") for m in range(len(claim.consts))]
        if len(at) != 2 or list(rest[len(claim.right) + 1 :]) != wanted:
            raise Unread("a kernel's operands are of different rows or steps, or its constants others")
        start = dict(at)
        i, s = start["i"], start["k"]
        for p in (rows, steps, i, s, self.rows - i - rows, self.depth - s - steps):
            if not f.holds(p):
                raise Unread(f"a kernel is called for rows or steps that are not there: {p} may be negative")
        for e in several:
            self._several(e, steps if claim.lanes else rows)
        self.called = True
        return Effect("target", {"i": Span(i, i + rows), "k": Span(s, s + steps)})

    def _own(self, args: Sequence[Node]) -> Sequence[Node]:
        """The arguments without those of another product that the kernel carries out."""
        claim, other = self.claim, self.claim.other
        if other is None:
            return args
        first = 2 + (1 if claim.streams else 0) + 2 * len(claim.left)
        mine, theirs = len(claim.right) + 1, other.operands + 1
        if len(args) != first + mine + theirs + len(claim.consts) + other.consts:
            raise Unread("a kernel is called with other arguments")
        (n, k, *lines), vectors, consts = args[:first], args[first:][: mine + theirs], args[first + mine + theirs :]
        if other.ahead:
            return [k, n, *lines, *vectors[theirs:], *consts[other.consts :]]
        return [n, k, *lines, *vectors[:mine], *consts[: len(claim.consts)]]

    def _offset(self, e: Node, of: str) -> Poly:
        at = ZERO
        while e[:2] == ("binary", "+"):
            at = at + self._ints().value(e.kids[1])
            e = e.kids[0]
        if self.names.get(e.text) != PointerPlace(of) or e.kind != "name":
            raise Unread(f"a kernel gets something else in place of {of}")
        return at

    def _several(self, e: Node, lines: Poly) -> None:
        """How many lines are taken together: a multiple of what the kernel takes at a time, and not too many."""
        if e.kind == "choose":
            for way in e.kids[1:]:
                self._several(way, lines)
            return
        value = self._ints().value(e)
        whole = value.over(poly(self.claim.streams))
        if whole is None or not self.facts.holds(value) or not self.facts.holds(lines - value):
            raise Unread(f"{show(e)} lines together, which is no multiple of {self.claim.streams} of at most {lines}")
