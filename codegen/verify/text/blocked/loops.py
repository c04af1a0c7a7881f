"""Symbolic run of loops: one iteration is run for any value of the variable, and `spans.py` tells what all of them
do."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.verify.poly import ONE, ZERO, Poly, poly, var
from codegen.verify.text.blocked.cases import Cases
from codegen.verify.text.blocked.state import NEVER, NOUGHT, TARGET, THREAD, BufferPointer, Effects, LocalArray
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import is_known, negated, ways
from codegen.verify.text.lanes import show
from codegen.verify.text.read import Node, Unread, nodes
from codegen.verify.text.spans import CountedLoop, Effect, over_loop, over_team


class BlockedLoops(Cases):
    """Loops and teams of threads."""

    def _loop(self, node: Node) -> Effects:
        if self.claim.tables and self._fills(node):
            return {}
        shared, self.team.shared = self.team.shared, 0
        lp, body = self._head(node), node.kids[3]
        if shared:
            return self._dealt(lp, body, shared)
        split = self._digits(lp, body)
        return self._iterated(lp, body, False) if split is None else split

    def _iterated(self, lp: CountedLoop, body: Node, shared: bool) -> Effects:
        """All iterations of a loop, whether each thread runs them or they share them."""
        team, local = self.team, lp.name.split(".")[0]
        state, met, marks = team.state, team.met, (team.unclean, team.early)
        dirty, filling, updating = state
        team.unclean = team.early = NEVER
        names = dict(self.names)
        self.open.append(lp)
        found = self._all(lp, local, body, shared)
        self.open.pop()
        self.names = names
        if team.unclean <= len(self.open) and team.dirty and not dirty:
            raise Unread("threads fill a buffer that others may still read")
        if not team.dealing and team.filling - filling:
            raise Unread("threads fill a buffer that others may still fill")
        if team.early <= len(self.open) and team.updating and not updating:
            raise Unread("threads go on while others update what may be theirs")
        team.unclean, team.early, team.met = min(team.unclean, marks[0]), min(team.early, marks[1]), met
        if not self.facts.holds(lp.past - 1 - lp.first):  # in a loop that may not run nobody may have waited
            team.may_be([team.state, state])
        return found

    def _all(self, lp: CountedLoop, local: str, body: Node, shared: bool) -> Effects:
        """All iterations from what any one does."""
        relied, filled = self.buffers.relied, self.buffers.filled
        self.buffers.relied, self.buffers.filled = set(), set()
        facts = self.facts.copy()
        n = facts.fresh("n")
        v = var(lp.name)
        facts.forms[lp.name] = lp.first + lp.step * n
        facts.samples.iterate(lp.name, str(n), lp.first, lp.past, lp.step)
        facts.learn(n, v - lp.first, lp.past - 1 - v)
        outer, self.facts = self.facts, facts
        self.names[local] = v
        self.frames.append(lp)
        self.buffers.began[lp.name] = len(self.buffers.packs)
        try:
            found = self.block((body,))
        finally:
            self.facts = outer
        self.frames.pop()
        self.buffers.sealed = {k: x for k, x in self.buffers.sealed.items() if x != lp.name}
        lost = self.buffers.relied & self.buffers.filled
        if lost:
            raise Unread(f"the {min(lost)} operand is read and packed again in one loop, and not before it is read")
        self.buffers.relied, self.buffers.filled = relied | (self.buffers.relied - filled), filled | self.buffers.filled
        out: Effects = {}
        for kind, e in found.items():
            if kind == TARGET:
                if shared and any(facts.mentions(p, (lp.name,)) for p in e.spans["k"]):
                    raise Unread("threads share the steps of an element")
                e = self._team(e, lp, facts)
            whole = over_loop(e, lp, facts, shared)
            if whole is not None:
                out[kind] = self._with_none(whole, lp) if kind == TARGET else whole
            elif kind == TARGET:
                raise Unread("a loop updates the same elements again")
            if kind in self.buffers.areas:
                self.held.pop(kind, None)
                if whole is not None:
                    self.held[kind] = whole
        return out

    def _team(self, e: Effect, lp: CountedLoop, facts: Facts) -> Effect:
        """Threads that have parts of an iteration: all of them together."""
        h, across = "column of tw_me", self.team.grid.get("across")
        for s in e.spans.values():
            parts = facts.mentions(s.lo, (h,)) and facts.mentions(s.lo + s.hi, (lp.name,))
            if across is not None and parts and not facts.mentions(lp.first + lp.past + lp.step, (h,)):
                self.team.joined.add(h)
                return over_team(e, h, across, facts)
        return e

    def _head(self, node: Node) -> CountedLoop:
        first, cond, step, _ = node.kids
        if first.kind != "declare" or first.kids[0].text != "long" or cond.kind != "binary" or cond.text != "<":
            raise Unread("a loop of another form")
        name, me = first.text, Node("name", first.text)
        ints = self._integers()
        if step == Node("after", "++", (me,)):
            by = ONE
        elif step.kind == "assign" and step.text == "+=" and step.kids[0] == me:
            by = ints.value(step.kids[1])
        else:
            raise Unread("a loop with another step")
        if cond.kids[0] != me or not self.facts.holds(by - 1):
            raise Unread(f"a loop over {name} that may never end")
        v = self.facts.fresh(name)
        return CountedLoop(str(v), ints.value(first.kids[2]), ints.value(cond.kids[1]), by)

    def _digits(self, lp: CountedLoop, body: Node) -> Effects | None:
        """A loop over all elements of a sliver, or of one depth of it: by depth, value, row and copy."""
        if body.kind != "do" or body.kids[0].kind != "assign" or body.kids[0].kids[0].kind != "index":
            return None
        base = self.names.get(body.kids[0].kids[0].kids[0].text)
        if not isinstance(base, BufferPointer) or base.of not in ("left", "right") or lp.step != ONE:
            return None
        side = self._side(base.of)
        local, zero = lp.name.split(".")[0], body.kids[0].kids[1] == NOUGHT
        first, past = lp.first.over(side.unit), lp.past.over(side.unit)
        if zero and first is not None and past is not None:
            return self._nested(local, [("k", side.unit, first, past), ("o", ONE, ZERO, side.unit)], ZERO, body)
        if zero or lp.first != ZERO or lp.past != side.unit:
            return None
        found: Effects = {}
        for q in range(len(side.values)):
            digits = [("r", poly(side.copies), ZERO, side.width), ("l", ONE, ZERO, poly(side.copies))]
            start = side.width * (q * side.copies)
            found = self._then(found, self._nested(local, digits, start, body))
        return found

    def _nested(self, local: str, digits: Sequence[tuple[str, Poly, Poly, Poly]], start: Poly, body: Node) -> Effects:
        """The body for a number made of digits, as loops around it."""
        if not digits:
            kept, self.names[local] = self.names.get(local), start
            found = self._do(body.kids[0])
            self.names[local] = kept
            return found
        (name, scale, lo, hi), *rest = digits
        v = self.facts.fresh(name)
        facts = self.facts.copy()
        facts.samples.iterate(str(v), f"{v}'", lo, hi, ONE)
        facts.learn(v - lo, hi - 1 - v)
        outer, self.facts = self.facts, facts
        try:
            found = self._nested(local, rest, start + v * scale, body)
        finally:
            self.facts = outer
        lp = CountedLoop(str(v), lo, hi, ONE)
        return {k: whole for k, e in found.items() if (whole := over_loop(e, lp, facts)) is not None}

    def _together(self) -> None:
        """All threads come here equally often."""
        bounds = [p for lp in self.open for p in lp[1:]]
        if self.team.most is None or self.forked or any(self.facts.mentions(p, THREAD) for p in bounds):
            raise Unread("threads would wait for others that do not come")

    def _waits_later(self, cond: Node) -> None:
        """`if (cond) { barrier }`, which all threads come to wait at but for the very first time: then nobody has done
        anything yet that others would have to wait for. Or but for the first time in each iteration of a loop that uses
        halves of buffers in turn: those that are filled now were read two iterations ago, before threads filled the
        other ones, and waited until all had."""
        self._together()
        asked = self._integers().cond(cond)
        alike = all(n.kind != "choose" for n in nodes(cond)) and is_known(asked)
        if not alike or any(self.facts.mentions(p, THREAD) for w in ways(asked) for p in w):
            raise Unread(f"some threads may wait for others that do not: {show(cond)}")
        if any(self.team.state):
            raise Unread("threads do not wait for others at first")
        for facts in filter(None, map(self.facts.assume, ways(negated(asked)))):
            if not all(facts.holds(lp.first - var(lp.name)) for lp in self.open[self.team.turn :]):
                raise Unread(f"threads do not wait for others: {show(cond)}")
        self.team.meet(len(self.open))

    def _deal(self, clauses: str) -> None:
        """`#pragma omp for`: each iteration of the loop that follows goes to one thread, in any order. Threads without
        numbers all take the same way to it, whatever the conditions around it."""
        dynamic = "schedule(dynamic) nowait"
        known = {"": (1, True), "nowait": (1, False), dynamic: (1, False),
                 "collapse(2) schedule(dynamic)": (2, True), f"collapse(2) {dynamic}": (2, False)}  # fmt: skip
        team = self.team
        if clauses not in known or (clauses and team.numbered) or team.dealing:
            raise Unread(f"threads share a loop: {clauses}")
        team.shared, team.waits = known[clauses]
        if team.waits or team.numbered or not team.inside:
            self._together()

    def _dealt(self, lp: CountedLoop, body: Node, loops: int) -> Effects:
        """A loop that threads share; or two of them, the second alone in the first and with bounds of its own."""
        team = self.team
        if team.dealing:
            if any(self.facts.mentions(p, (self.open[-1].name,)) for p in lp[1:]):
                raise Unread("loops that threads share depend on each other")
            return self._iterated(lp, body, True)
        if loops > 1 and body.kind != "for":
            raise Unread("there are no two loops to share")
        team.dealing, team.before, team.shared = True, team.filling, loops - 1
        updating, met = team.updating, team.met
        found = self._iterated(lp, body, True)
        team.dealing, team.before = False, frozenset()
        if TARGET in found:
            if team.numbered or updating:
                raise Unread("threads go on while others update what may be theirs")
            team.tasks = team.updating = True
            team.early = min(team.early, met)
        if team.waits:
            team.meet(len(self.open))
        return found

    def _threads(self, body: Sequence[Node]) -> Effects:
        """Everything that the threads of a team do. Arrays from before are not theirs alone."""
        self.names = {n: x for n, x in self.names.items() if not isinstance(x, LocalArray)}
        e = self.block(body).get(TARGET)
        team, self.team.most = self.team, None
        team.meet(len(self.open))
        if e is None or team.tasks:
            return {} if e is None else {TARGET: e}
        parts = [("column of tw_me", team.grid.get("across")), ("row of tw_me", team.grid.get("down"))]
        for thread, threads in parts if team.grid else [("tw_thread()", var("tw_team_size()"))]:
            if thread in team.joined:
                continue
            if threads is None or not any(self.facts.mentions(p, (thread,)) for s in e.spans.values() for p in s):
                raise Unread("every thread updates the same elements")
            e = over_team(e, thread, threads, self.facts)
        return {TARGET: e}
