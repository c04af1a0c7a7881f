"""Induction over the loops of a matrix-vector kernel: one iteration is run for any value of the loop's variable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from codegen.isa.model import Isa
from codegen.verify.poly import ONE, ZERO, Poly
from codegen.verify.text.integers import Integers, decided
from codegen.verify.text.lanes import show
from codegen.verify.text.matvec.lanewise import Lanewise
from codegen.verify.text.matvec.state import SEVERAL, Front, K, LocalValues, MatvecState, N, Needed, Spec, Vector
from codegen.verify.text.matvec.stores import Stores
from codegen.verify.text.matvec.terms import LaneChoice, Share, TakenSteps, Terms
from codegen.verify.text.read import Node, Unread, nodes


class Iteration(NamedTuple):
    """A loop's variable: where it starts, its value in one turn and after that one."""

    name: str
    first: Poly
    now: Poly
    past: Poly
    by: Poly

    @property
    def next(self) -> Poly:
        return self.now + self.by


class KernelLoops(Stores, ABC):
    """Loops that go on where the one before stopped, and short ones over single elements."""

    def __init__(self, isa: Isa, spec: Spec) -> None:
        terms = Terms()
        super().__init__(spec, terms, Lanewise(isa, spec, terms))
        self.depth = 0

    @abstractmethod
    def run(self, body: tuple[Node, ...], state: MatvecState) -> list[MatvecState]:
        """Runs statements; gives the ways through them."""

    def loop(self, node: Node, s: MatvecState) -> list[MatvecState]:
        return [self._short(node, s) if node.kids[0].kind == "declare" else self._long(node, s)]

    # -- loops over lines and vectors --------------------------------------------------------------

    def _head(self, node: Node, s: MatvecState) -> tuple[str, Poly, Poly]:
        """The variable, where it has to stop, and by how much it moves."""
        first, cond, step, _ = node.kids
        if first != Node("block") or cond.kind != "binary" or cond.text not in ("<", "<="):
            raise Unread("a loop of another form")
        name, me = cond.kids[0].text, cond.kids[0]
        past = self.reader.integer(cond.kids[1]) + (ONE if cond.text == "<=" else ZERO)
        if step == Node("after", "++", (me,)):
            by = ONE
        elif step[:2] == ("assign", "+=") and step.kids[0] == me:
            by = self.reader.integer(step.kids[1])
        else:
            raise Unread("a loop with another step")
        if me.kind != "name" or by.number is None or by.number < 1 or not isinstance(s.names.get(name), Poly):
            raise Unread(f"a loop over {name} that may never end")
        return name, past, by

    def _long(self, node: Node, s: MatvecState) -> MatvecState:
        name, past, by = self._head(node, s)
        first = s.names[name]
        assert isinstance(first, Poly)
        inner = s.copy()
        inner.facts = s.facts.copy()
        now, turns = inner.facts.fresh(name), inner.facts.fresh("turn")
        turn = Iteration(name, first, now, past, by)
        inner.facts.forms[str(now)] = first + by * turns
        inner.facts.learn(turns, now - first, past - 1 - now)
        if past == SEVERAL:  # whole groups of lines: that all of a group are there is asked once, not for each
            group = (K if self.spec.lanes else N) - now - by
            inner.facts.learn(*([group] if inner.facts.holds(group) else []))
        inner.names[name] = now
        moving = self._moving(s, turn)
        if moving == "before":
            inner.front = Front(ZERO, now)
        elif moving:
            inner.front = s.front._replace(at=now)
        changed = self._changed(node.kids[3], s)
        entry = {n: self._entry(n, x, turn) for n, x in changed.items()}
        inner.vectors |= entry
        inner.locals = self._lost(s)
        self.depth += 1
        ends = self.run((node.kids[3],), inner)
        self.depth -= 1
        out, stop = self._behind(s, turn)
        out.front = self._went(moving, turn, stop, s, ends)
        for n, x in changed.items():
            lanes = list(zip(*(end.vectors[n] for end in ends), strict=True))
            out.vectors[n] = self._after(n, list(zip(x, entry[n], lanes, strict=True)), turn, stop, out)
        self._covered(turn, stop, out)
        return out

    def _behind(self, s: MatvecState, turn: Iteration) -> tuple[MatvecState, Poly]:
        """Behind the loop, and what its variable is there."""
        out = s.copy()
        out.facts = s.facts.copy()
        stop, turns = out.facts.fresh(turn.name), out.facts.fresh("turns")
        out.facts.forms[str(stop)] = turn.first + turn.by * turns
        if out.facts.holds(turn.past + turn.by - 1 - turn.first):
            out.facts.learn(turn.past + turn.by - 1 - stop)
        out.facts.learn(turns, stop - turn.first, stop - turn.past)
        out.names[turn.name] = stop
        out.locals = self._lost(s)
        return out, stop

    def _lost(self, s: MatvecState) -> dict[str, LocalValues]:
        """Local arrays, of whose content nothing is known from one turn to the next."""
        return {n: LocalValues(x.size, {}, self.unknown) for n, x in s.locals.items()}

    def _changed(self, body: Node, s: MatvecState) -> dict[str, Vector]:
        """The variables from before the loop that it changes."""
        found: dict[str, Vector] = {}
        for n in nodes(body):
            name = n.kids[0].text if n.kind in ("assign", "after") and n.kids[0].kind == "name" else ""
            if name in s.names:
                raise Unread(f"{name} changes in a loop")
            if name in s.vectors:
                found[name] = s.vectors[name]
        return found

    # -- how far the result is ---------------------------------------------------------------------

    def _moving(self, s: MatvecState, turn: Iteration) -> str:
        """What of the result's progress goes on with the loop: the elements that are ready, or the steps taken."""
        moving = ("at" if self.depth else "before") if self.spec.lanes else "" if self.depth else "at"
        start = s.front.before if moving == "before" else s.front.at
        if (moving and start != turn.first) or (moving == "before" and s.front.at != ZERO):
            raise Unread(f"a loop over {turn.name} does not begin where the result is")
        return moving

    def _went(self, moving: str, turn: Iteration, stop: Poly, s: MatvecState, ends: list[MatvecState]) -> Front:
        """How far the result is behind the loop."""
        if not moving:
            if any(end.front != s.front for end in ends):
                raise Unread("the result is stored before all steps are taken")
            return s.front
        if moving == "before":
            return Front(ZERO, self._stepped(turn, stop, s, ends))
        after = {end.front.after for end in ends}
        if len(after) != 1 or None in after:
            raise Unread("elements take different numbers of steps")
        (ready,) = after
        assert ready is not None
        if s.facts.mentions(ready, (str(turn.now),)):
            raise Unread("elements take different numbers of steps")
        short = [end for end in ends if end.front.at != turn.next]
        if not short:
            return Front(stop, s.front.before, ready)
        for end in short:
            if not end.facts.equal(end.front.at, turn.past) or not end.facts.holds(turn.next - turn.past):
                raise Unread(f"a turn of the loop over {turn.name} ends at {end.front.at} in place of {turn.next}")
        if not s.facts.holds(turn.past - turn.first):
            raise Unread(f"the loop over {turn.name} may begin behind its end")
        return Front(turn.past, s.front.before, ready)

    def _stepped(self, turn: Iteration, stop: Poly, s: MatvecState, ends: list[MatvecState]) -> Poly:
        """Up to which step all elements are behind a loop over steps, whose last turn may take what is left."""
        short = [end for end in ends if end.front.after != turn.next]
        for end in ends:
            if end.front.after is None or not end.facts.equal(end.front.at, N):
                raise Unread("a loop over steps leaves some element out")
        for end in short:
            last = end.front.after is not None and end.facts.equal(end.front.after, turn.past)
            if not last or not end.facts.holds(turn.next - turn.past):
                raise Unread(f"a turn of the loop over steps ends at {end.front.after} in place of {turn.next}")
        if not short:
            return stop
        if not s.facts.holds(turn.past - turn.first):
            raise Unread(f"the loop over {turn.name} may begin behind its end")
        return turn.past

    # -- variables that go on from turn to turn ----------------------------------------------------

    def _entry(self, name: str, x: Vector, turn: Iteration) -> Vector:
        """What a variable holds in any turn, by induction."""
        return tuple(self._moved(n, f"{name} {k}", turn.first, turn.now) for k, n in enumerate(x))

    def _moved(self, number: int, register: str, old: Poly, new: Poly) -> int:
        """A lane with the steps up to `new` in place of `old`. Of partial results it has what `register` held."""
        t = self.terms.terms[number]
        if isinstance(t, TakenSteps) and not self.spec.join:
            return self.terms.put(TakenSteps(t.row, new)) if t.past == old else self.unknown
        if isinstance(t, LaneChoice):
            return self.terms.put(LaneChoice(t.given, self._moved(t.yes, register, old, new), self.unknown))
        share = self.progress.share(number) if self.spec.join else None
        return self.unknown if share is None else self.terms.put(Share(share.row, frozenset({register}), share.whole))

    def _after(
        self, name: str, held: list[tuple[int, int, tuple[int, ...]]], turn: Iteration, stop: Poly, out: MatvecState
    ) -> Vector:
        """What a variable holds behind the loop. `held`: what each lane holds ahead of it, where a turn begins, and
        after it on all ways through it."""
        found = []
        for k, (was, began, lanes) in enumerate(held):
            if self.spec.join:
                found.append(self._gathered(f"{name} {k}", was, set(lanes), turn, out))
                continue
            want = self._moved(began, "", turn.now, turn.next)
            good = all(self._agrees(want, x) for x in lanes)
            found.append(self._moved(was, "", turn.first, stop) if good else self.unknown)
        return tuple(found)

    def _agrees(self, want: int, lane: int) -> bool:
        w, t = self.terms.terms[want], self.terms.terms[lane]
        if isinstance(w, LaneChoice) and isinstance(t, LaneChoice):
            return w.given == t.given and self._agrees(w.yes, t.yes)
        return isinstance(w, TakenSteps) and w == t

    def _gathered(self, register: str, was: int, lanes: set[int], turn: Iteration, out: MatvecState) -> int:
        """A lane of partial results: its steps of one turn are noted, and all of them get the loop's name."""
        share = self.progress.share(was)
        t = self.terms.terms[lanes.pop()]
        if share is None or lanes or not isinstance(t, Share) or register not in t.parts or t.row is None:
            return self.unknown
        steps = t.parts - {register}
        mine = f"{register} of {turn.now}"
        row, whole = t.row, share.whole
        if share.row not in (None, row) or turn.name in row.names or not steps:
            return was if share.row in (None, row) and not steps else self.unknown
        needed = out.needed.get(row, Needed(frozenset(), ZERO))
        taken = self.turns.setdefault(row, set())
        if taken & steps:
            raise Unread(f"a step of element {row} is taken twice")
        taken |= steps
        out.needed[row] = needed._replace(parts=needed.parts | {mine})
        return self.terms.put(Share(row, share.parts | {mine}, whole))

    def _covered(self, turn: Iteration, stop: Poly, out: MatvecState) -> None:
        """All steps of a turn were taken, by one lane or another."""
        assert turn.by.number is not None
        want = {turn.now + e for e in range(turn.by.number)}
        for row, taken in self.turns.items():
            if taken != want or out.needed[row].past != turn.first:
                raise Unread(f"not all steps of element {row} are taken")
            out.needed[row] = out.needed[row]._replace(past=stop)
        self.turns = {}

    # -- short loops -------------------------------------------------------------------------------

    def _short(self, node: Node, s: MatvecState) -> MatvecState:
        """`for (long e = first; e < past; e++)`: elements one by one, or the last steps."""
        first, cond, step, body = node.kids
        name, me = first.text, Node("name", first.text)
        *others, last = _all_of(cond)
        if first.kids[0].text != "long" or step != Node("after", "++", (me,)) or last[:2] != ("binary", "<"):
            raise Unread("a loop of another form")
        if last.kids[0] != me or name in s.names:
            raise Unread("a loop of another form")
        start, past = self.reader.integer(first.kids[2]), self.reader.integer(last.kids[1])
        for other in others:
            known = decided(Integers(s.facts, s.names, free=False).cond(other), s.facts)
            if known is None:
                raise Unread(f"a loop with a condition {show(other)}")
            if not known:
                return s
        statements = _flat(body)
        if [x.kind for x in statements] == ["do"] and statements[0].kids[0].kids[0].kind == "name":
            return self._steps(name, start, past, statements[0].kids[0], s)
        if start != ZERO:
            raise Unread("a loop over elements does not begin with the first")
        for x in statements:
            e = x.kids[0] if x.kind == "do" else x
            if e[:2] != ("assign", "=") or e.kids[0].kind != "index":
                raise Unread(f"a statement {show(e)} in a loop over elements")
            self.copied(name, past, e.kids[0], e.kids[1], s)
        return s

    def _steps(self, name: str, start: Poly, past: Poly, e: Node, s: MatvecState) -> MatvecState:
        """The last steps of partial results, one by one."""
        register, now = e.kids[0].text, s.facts.fresh(name)
        old = s.vectors.get(register)
        if e[:2] != ("assign", "=") or old is None:
            raise Unread(f"a statement {show(e)} in a loop over steps")
        inner = s.given(now - start, past - 1 - now)
        inner.names[name] = now
        shares = [self.progress.share(x) for x in old]
        began = [None if x is None else Share(x.row, frozenset({register}), x.whole) for x in shares]
        numbers = tuple(self.unknown if x is None else self.terms.put(x) for x in began)
        inner.vectors[register] = numbers
        self.reader.state = inner
        lanes = self.reader.value(e.kids[1])
        found = []
        for share, was, lane in zip(shares, numbers, lanes, strict=True):
            t = self.terms.terms[self.progress.settled(was, lane)]
            good = share is not None and isinstance(t, Share) and t.row == share.row and t.row is not None
            if good and share is not None and isinstance(t, Share) and t.parts == {register, now}:
                whole = share.parts | {f"{start} to {past}"}
                found.append(self.terms.put(Share(share.row, whole, share.whole)))
            else:
                found.append(self.unknown)
        s.vectors[register] = tuple(found)
        return s


def _flat(node: Node) -> list[Node]:
    return [x for k in node.kids for x in _flat(k)] if node.kind == "block" else [node]


def _all_of(cond: Node) -> list[Node]:
    return [x for k in cond.kids for x in _all_of(k)] if cond[:2] == ("binary", "&&") else [cond]
