"""Case distinctions in the symbolic run of a blocked product: what it does under a condition, and what holds in
every case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codegen.verify.poly import Poly, var
from codegen.verify.text.blocked.declare import Declarations
from codegen.verify.text.blocked.state import TARGET, Effects, Made
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import FALSE, TRUE, UNKNOWN, IntegerCondition, negated, numbers_of, ways
from codegen.verify.text.read import Node, Unread, nodes
from codegen.verify.text.spans import Case, CountedLoop, Effect, agree, in_sequence


class Cases(Declarations):
    """Effects one after the other, and of one case or another."""

    def _then(self, done: Effects, more: Effects) -> Effects:
        out = dict(done)
        for kind, e in more.items():
            out[kind] = in_sequence(out[kind], e, self.facts) if kind in out else e
            if kind in self.buffers.areas:
                self.held[kind] = out[kind]
            elif kind in ("tile", "steps"):
                self._keep_tile(out[kind])
        return out

    def _case(self, prepare: Any, given: Sequence[Poly], body: tuple[Node, ...]) -> list[Made]:
        """A block where more is known; nothing where that cannot be."""
        facts = self.facts.assume(given)
        if facts is None:
            return []
        kept, team = self._keep(), self.team
        state, met = team.state, team.met
        self.facts = facts
        prepare()
        try:
            found = self.block(body)
            team.ends.append(team.state)
            return [(facts, found, tuple(given))]
        finally:
            self._restore(kept)
            team.state, team.met = state, met

    def _keep(self) -> tuple[Any, ...]:
        return (self.facts, dict(self.names), dict(self.held), dict(self.tiles),
                {k: list(v) for k, v in self.staged.items()})  # fmt: skip

    def _restore(self, kept: tuple[Any, ...]) -> None:
        (self.facts, self.names, self.held, self.tiles, self.staged) = kept

    def _agreed(self, cases: Sequence[Made]) -> Effects:
        """What is true whatever the case."""
        out: Effects = {}
        for kind in sorted({k for _, e, _ in cases for k in e}):
            same = self._same_in(kind, [Case(f, e.get(kind), given) for f, e, given in cases])
            if same is not None:
                out[kind] = same
            elif kind == TARGET:
                raise Unread("cases differ in what they update")
            self.held.pop(kind, None)
            self.tiles.clear()
        return out

    def _same_in(self, kind: str, cases: Sequence[Case]) -> Effect | None:
        """What all cases do. A buffer in which they overwrite different parts holds nothing that is known."""
        wiped = {repr(c.effect.wiped) for c in cases if c.effect is not None and c.effect.wiped is not None}
        return None if kind in self.buffers.areas and len(wiped) > 1 else agree(cases)

    def _compared(self, e: Node) -> list[Poly]:
        """The numbers that a condition asks for; the loops around, too, where it asks for what is not known here."""
        meant = [self.names.get(n.text) for n in nodes(e) if n.kind == "name"]
        unknown = UNKNOWN in meant or any(n.kind == "index" for n in nodes(e))
        loops = [var(lp.name) for lp in self.frames] if unknown else []
        return [*loops, *(p for x in meant for p in numbers_of(x))]

    def _apart(self, declared: Node, cond: IntegerCondition, body: tuple[Node, ...]) -> Effects:
        name, asked = declared.text, self.buffers.asked
        self.buffers.asked = [*asked, *self._compared(declared.kids[2])]
        cases: list[Made] = []
        ended = len(self.team.ends)
        b, packed = self.buffers, len(self.buffers.packs)
        sealed, packs = b.sealed, b.packs[:packed]
        b.sealed = dict(sealed)
        for given in ways(cond):
            cases += self._case(lambda: self.names.update({name: TRUE}), given, body)
        done, more = b.sealed, b.packs[packed:]
        b.sealed, b.packs = dict(sealed), packs  # what one case has packed is nothing to the other
        cases += self._otherwise(name, negated(cond), body)
        b.sealed, b.packs, b.asked = {**done, **b.sealed}, b.packs + more, asked
        self.team.join(ended)
        return self._agreed(cases)

    def _otherwise(self, name: str, cond: IntegerCondition, body: tuple[Node, ...]) -> list[Made]:
        """The case in which a condition does not hold; mostly that says nothing of use."""
        if len(ways(cond)) > 1:
            try:
                return self._case(lambda: self.names.update({name: FALSE}), (), body)
            except Unread:
                pass
        cases: list[Made] = []
        for given in ways(cond):
            cases += self._case(lambda: self.names.update({name: FALSE}), given, body)
        return cases

    def _from_before(self, cases: Sequence[Made], start: int) -> Effects | None:
        """What the first iteration of a loop around leaves in a buffer, and later ones find there: by induction, where
        neither what is packed nor a condition around depends on the iteration, and nothing else is packed there."""
        packed, others = [e for _, e, _ in cases if e], [f for f, e, _ in cases if not e]
        kinds = {k for found in packed for k in found}
        if len(kinds) != 1 or not others:
            return None
        (kind,) = kinds
        e = packed[0][kind]
        if any(found[kind][:3] != e[:3] for found in packed):
            return None
        for lp in reversed(self.frames):
            if all(f.holds(var(lp.name) - lp.first - 1) for f in others):
                inner = self.open[self.open.index(lp) + 1 :]
                about = [*e.base, *(p for s in e.spans.values() for p in s), *self.buffers.asked]
                b = self.buffers
                alone = kind in b.areas and kind not in b.packs[b.began[lp.name] : start]
                still = not any(self.facts.mentions(p, (lp.name,)) for p in about)
                if alone and still and all(self._one(x, lp, about, f) for x in inner for f in others):
                    self.buffers.sealed[kind] = lp.name
                    return {kind: e._replace(wiped=None)}
        return None

    def _one(self, x: CountedLoop, lp: CountedLoop, about: Sequence[Poly], facts: Facts) -> bool:
        """Is what is packed the same in all iterations of a loop in between, since there is but one?"""
        if not any(facts.mentions(p, (x.name,)) for p in about):
            return True
        once = facts.holds(x.first + x.step - x.past)
        return once and not any(facts.mentions(p, (lp.name,)) for p in x[1:])
