"""Symbolic run of stores in a matrix-vector kernel's text: elements of the result must be stored in order, without
gaps, each after the same steps of its sum; local arrays are tracked element by element. Others raise `Unread`."""

from __future__ import annotations

from codegen.verify.poly import ZERO, Poly, poly
from codegen.verify.text.facts import Facts
from codegen.verify.text.lanes import show
from codegen.verify.text.matvec.lanewise import Lanewise
from codegen.verify.text.matvec.state import (
    Front,
    K,
    MatvecState,
    N,
    Needed,
    Progress,
    SelectedElement,
    Spec,
    Vector,
    within,
)
from codegen.verify.text.matvec.terms import UNKNOWN, ArrayElement, LaneChoice, Share, TakenSteps, Terms
from codegen.verify.text.read import Node, Unread


class Paths:
    """What is known on paths of conditions."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.found: dict[tuple[Poly, tuple[Poly, ...]], bool] = {}

    def equal(self, x: Poly, y: Poly, path: tuple[Poly, ...]) -> bool:
        """Are two numbers equal there? Conditions on other names than theirs do not matter."""
        d = x - y
        mine = tuple(p for p in path if not p.names.isdisjoint(d.names))
        if (d, mine) not in self.found:
            self.found[d, mine] = self.facts.copy().learn(*mine).equal(x, y)
        return self.found[d, mine]


class Stores:
    """Stores of vectors and of single elements."""

    def __init__(self, spec: Spec, terms: Terms, reader: Lanewise) -> None:
        self.spec, self.terms, self.reader = spec, terms, reader
        self.progress = Progress(spec, terms)
        self.unknown = terms.put(UNKNOWN)
        self.turns: dict[Poly, set[Poly | str]] = {}  # steps of each element in one turn of the loop that ends

    def stored(self, where: SelectedElement, lanes: Vector, s: MatvecState) -> None:
        """A vector, or one element, to the result or to a local array."""
        if where.given is not None:
            raise Unread("a store to one place or another")
        if where.of in self.spec.foreign:
            return
        if where.of == "y":
            self._result(where.at, lanes, s)
            return
        local = s.locals.get(where.of)
        at = where.at.number
        if local is None or at is None or not 0 <= at <= local.size - len(lanes):
            raise Unread(f"a store to elements {where.at} of {where.of}")
        for e, x in enumerate(lanes):
            local.cells[at + e] = x

    def _result(self, at: Poly, lanes: Vector, s: MatvecState) -> None:
        if not s.facts.equal(at, s.front.at) or not within(s.facts, at, len(lanes), N):
            raise Unread(f"element {at} of the result is stored where {s.front.at} comes next")
        for e, x in enumerate(lanes):
            self._ready(x, at + e, s, s.facts)
        s.front = s.front._replace(at=s.front.at + len(lanes))

    def _ready(self, number: int, row: Poly, s: MatvecState, facts: Facts) -> None:
        """The value of an element has its steps, as many as those before it."""
        t = self.terms.terms[self.terms.known(number, facts)]
        if isinstance(t, LaneChoice):
            t = self.terms.terms[self.resolved(self.terms.put(t), (), Paths(facts))]
        past = t.past if isinstance(t, TakenSteps) else self._complete(t, s) if isinstance(t, Share) else None
        if past is None or not isinstance(t, (TakenSteps, Share)) or t.row is None or not facts.equal(t.row, row):
            raise Unread(f"element {row} of the result gets something else")
        if s.front.after is None:
            s.front = Front(s.front.at, s.front.before, past)
        elif not facts.equal(s.front.after, past):
            raise Unread(f"element {row} takes steps up to {past}, others up to {s.front.after}")

    def resolved(self, number: int, path: tuple[Poly, ...], paths: Paths) -> int:
        """A value, where choices that come to the last step whatever is chosen are that."""
        t = self.terms.terms[number]
        if isinstance(t, TakenSteps):
            return self.terms.put(TakenSteps(t.row, K)) if paths.equal(t.past, K, path) else number
        if not isinstance(t, LaneChoice):
            return self.unknown if path else number
        yes = self.resolved(t.yes, (*path, t.given), paths)
        no = self.resolved(t.no, (*path, -t.given - 1), paths)
        return yes if yes == no else self.terms.put(LaneChoice(t.given, yes, no))

    def _complete(self, share: Share, s: MatvecState) -> Poly | None:
        """All steps where all partial results of the element are in it, and the last steps."""
        if share.row is None or not share.whole:
            return None
        needed = s.needed.get(share.row, Needed(frozenset(), ZERO))
        return K if share.parts == needed.parts | {f"{needed.past} to {K}"} else None

    # -- elements one by one -----------------------------------------------------------------------

    def copied(self, name: str, past: Poly, to: Node, value: Node, s: MatvecState) -> None:
        """`to = value` for each `name` from 0 up to before `past`, fewer than a vector has lanes."""
        limit = self.reader.count
        if not s.facts.holds(poly(limit) - past):
            raise Unread(f"{past} elements, more than a vector has, one by one")
        v = s.facts.fresh(name)
        any_one = s.given(v, past - 1 - v)
        any_one.names[name] = v
        self.reader.state = any_one
        where = self.reader.address(Node("binary", "+", to.kids))
        if where is None or where.given is not None or value.kind != "index":
            raise Unread(f"a statement {show(to)} = {show(value)} in a loop over elements")
        start = where.at - v
        if where.of in self.spec.foreign:
            return
        if where.of == "y":
            self._copied_back(start, past, v, value, s)
        elif start.number is None:
            raise Unread(f"a store to {show(to)}")
        else:
            got = self.reader.scalar(value)
            for e in range(limit):
                if got is None or s.facts.recorded(e - past):
                    break
                self._cell(where.of, start.number + e, past - 1 - e, self._put(got, str(v), poly(e), s.facts), s)

    def _copied_back(self, start: Poly, past: Poly, v: Poly, value: Node, s: MatvecState) -> None:
        """From a local array to the result."""
        base = self.reader.address(Node("binary", "+", value.kids))
        local = s.locals.get(base.of) if base is not None and base.given is None else None
        first = (base.at - v).number if base is not None else None
        if start != s.front.at or not s.facts.holds(N - start - past) or local is None or first is None:
            raise Unread(f"element {start} of the result is stored where {s.front.at} comes next")
        for e in range(self.reader.count):
            given = past - 1 - e
            if s.facts.recorded(-given - 1):
                break
            if not 0 <= first + e < local.size:
                raise Unread(f"there is no element {first + e} to copy")
            got = local.cells.get(first + e, local.rest)
            self._ready(self.terms.part(got, given, True), start + e, s, s.facts)
        s.front = s.front._replace(at=start + past)

    def _put(self, number: int, name: str, value: Poly, facts: Facts) -> int:
        """A value for one value of a name."""
        t = self.terms.terms[number]
        if t == UNKNOWN:
            return number
        if isinstance(t, ArrayElement):
            return self.terms.put(ArrayElement(t.of, facts.put(t.at, {name: value})))
        if isinstance(t, TakenSteps):
            return self.terms.put(TakenSteps(facts.put(t.row, {name: value}), t.past))
        if isinstance(t, LaneChoice):
            yes, no = (self._put(x, name, value, facts) for x in (t.yes, t.no))
            return self.terms.put(LaneChoice(facts.put(t.given, {name: value}), yes, no))
        raise Unread("a local array gets something else than elements")

    def _cell(self, of: str, at: int, given: Poly, value: int, s: MatvecState) -> None:
        """An element of a local array gets a value where a condition holds."""
        local = s.locals.get(of)
        if local is None or not 0 <= at < local.size:
            raise Unread(f"{of} has no element {at}")
        if not s.facts.recorded(given):
            value = self.terms.put(LaneChoice(given, value, local.cells.get(at, local.rest)))
        local.cells[at] = value
