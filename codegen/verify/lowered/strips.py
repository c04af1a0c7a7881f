"""Proof of loops in parts (vectors and remainders): every iteration runs once, or again where that makes no difference.

Whatever the bounds are, a part goes on where the one before it stopped; so it is enough to show what each part does
with the iterations from there on. How far the first whole vector lies ahead is known at run time only: any number will
do that is less than the lanes of a vector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from codegen.ast.ctree import Block, CNode, For, Instance, expr_names, walk
from codegen.ast.lowered import (
    Body,
    Enough,
    Join,
    Lead,
    Load,
    OverlappingSteps,
    Part,
    Peel,
    ReductionInit,
    Strips,
    Until,
    While,
)
from codegen.ast.normal_forms import difference, form, forms
from codegen.recognize.lanes import same
from codegen.recognize.reductions import joined
from codegen.record import mutable
from codegen.scop.model import Statement
from codegen.scop.tree import CONCURRENT
from codegen.verify.lowered.elements import Box, Dim, Wrong, found_at, shifted_by
from codegen.verify.lowered.trace import Trace
from codegen.verify.lowered.variables import BodyContext, Partial, Variable, VariableCopy

# Checks that a body does what the plain one does in a box, and says what its variables are afterwards.
Match = Callable[[BodyContext, CNode, Body, Box, dict[str, Variable]], dict[str, Variable]]


@mutable
class _State:
    """Where a loop has come to: all before its variable has run."""

    start: bool = True  # nothing has run yet
    least: int = 0  # iterations that the loop is known to have
    even: int = 0  # all steps so far were multiples of this; 0 is one of everything
    left: bool = True  # there may be iterations that have not run
    again: bool = False  # some may have run twice


def check_strips(
    match: Match, at: BodyContext, f: Strips, plain: For, box: Box, variables: dict[str, Variable]
) -> None:
    """Raises Wrong where a loop in parts does not do what the plain one does."""
    check_head(f.head, plain, box)
    if plain.step != 1:
        raise Wrong("takes a loop apart that leaves out iterations")
    if f.lanes is not None:
        if f.lanes.wider:
            raise Wrong("leaves open how long its vectors are, where it was not written out for each width")
        at = replace(at, lanes=f.lanes, var=plain.var)
    state = _Parts(match, at, plain, box).run(f.parts, _State(), variables)
    if state.left:
        raise Wrong("may leave iterations out at its end")
    if state.again:
        _check_again(at, plain)


def check_head(head: For, plain: For, box: Box) -> None:
    """Does a loop count as another does, alike for all iterations of a box?"""
    if (head.var, head.lower, head.op, head.upper, head.step) != (
        plain.var, plain.lower, plain.op, plain.upper, plain.step,
    ):  # fmt: skip
        raise Wrong(f"has other bounds for `{plain.loop.name}`")
    moving = {d.var for d in box if d.size > 1}
    if moving & (expr_names(plain.lower) | expr_names(plain.upper)):
        raise Wrong(f"runs `{plain.loop.name}` alike in iterations where it begins or ends elsewhere")


def _check_again(at: BodyContext, plain: For) -> None:
    """Iterations may run again where they store the same values: nothing is read that they write."""
    found = list(_statements(at, plain))
    written = {s.accesses[s.target].array for s in found}
    if any(s.op != "=" or any(a.array in written for a in s.reads) for s in found):
        raise Wrong("runs iterations again that would have another result")


def _statements(at: BodyContext, node: CNode) -> Iterator[Statement]:
    return (at.scop.statement(x.stmt) for x in walk(node) if isinstance(x, Instance))


@mutable
class _Parts:
    match: Match
    at: BodyContext
    plain: For
    box: Box

    def run(self, parts: Sequence[Part], state: _State, variables: dict[str, Variable]) -> _State:
        for p in parts:
            state = self._part(p, replace(state), variables)
        return state

    def _part(self, p: Part, state: _State, variables: dict[str, Variable]) -> _State:
        if isinstance(p, Enough):
            return self._enough(p, state, variables)
        step = 1 if isinstance(p, Peel) else p.step
        kept = {n: v for n, v in variables.items() if isinstance(v, VariableCopy)}
        at = self.at
        if isinstance(p, While) and p.lanes is not None:
            if p.lanes.wider:
                raise Wrong("leaves open how long the vectors of a part are")
            at = replace(at, lanes=p.lanes, var=self.plain.var)
        after = self._body(at, p.body, step, variables)
        if isinstance(p, While):
            self._check_kept(kept, after, step)
            total = difference(form(self.plain.upper), form(self.plain.lower))
            count = None if total is None else max(0, total + (self.plain.op != "<"))
            whole = count is not None and count % step == 0 and state.even % step == 0
            return replace(state, start=False, even=_gcd(state.even, step), left=state.left and step > 1 and not whole)
        if kept:
            raise Wrong("keeps values over parts that read others")
        if isinstance(p, Peel):
            return replace(state, start=False, even=1)
        if state.least < p.step or (isinstance(p, Lead) and not state.start):
            raise Wrong("runs more iterations than may be there")
        if isinstance(p, OverlappingSteps):
            return replace(state, start=False, again=True, left=False)
        self._check_until(p.until, p.step)
        return replace(state, start=False, even=1, again=state.again or p.until is not None)

    def _enough(self, p: Enough, state: _State, variables: dict[str, Variable]) -> _State:
        least = max(state.least, p.step) if state.start else state.least
        known = {**variables, **self._ahead(p)}
        then = self.run(p.then, replace(state, least=least), known)
        self._check_joined(p)
        other = self.run(p.orelse, replace(state), variables)
        return _State(
            False, state.least, _gcd(then.even, other.even), then.left or other.left, then.again or other.again
        )

    def _body(self, at: BodyContext, body: Body, step: int, variables: dict[str, Variable]) -> dict[str, Variable]:
        free = self.plain.loop.kind in CONCURRENT
        if step > 1 and not free:
            raise Wrong(f"runs iterations of `{self.plain.loop.name}` at once, which has an order")
        box = (*self.box, Dim(self.plain.var, step, free))
        return self.match(at, self.plain.body, body, box, dict(variables))

    def _check_kept(self, before: dict[str, VariableCopy], after: dict[str, Variable], step: int) -> None:
        """What variables have ahead of a step, they have, so much further on, ahead of the next one."""
        for name, v in before.items():
            now = after.get(name)
            there = tuple(shifted_by(e, self.plain.var, step) for e in v.elements)
            if not isinstance(now, VariableCopy) or now.elements != there:
                raise Wrong("keeps a vector that is not the next one's")

    def _check_until(self, until: Until | None, step: int) -> None:
        if until is not None and until.bytes != step * until.each:
            raise Wrong("may go on beyond what has run")

    # -- what comes ahead of the steps, and after them --------------------------------------------

    def _ahead(self, p: Enough) -> dict[str, Variable]:
        out: dict[str, Variable] = {}
        for x in p.ahead:
            if isinstance(x, Load):
                out[x.name] = self._loaded(x, p.step)
                continue
            self._check_gather(x, p.after)
            for name in x.names:
                if name in out:
                    raise Wrong("gathers two results in one variable")
                out[name] = Partial(x.at.stmt)
        return out

    def _loaded(self, x: Load, step: int) -> VariableCopy:
        """A vector that is there, since that many iterations are."""
        s = self.at.scop.statement(x.stmt)
        elements = found_at(self.at.scop, s, x.access, x.place, self.at.lanes, x.count)
        box = (*self.box, Dim(self.plain.var, step, True))
        sure = Trace(self.at, _instances(self.plain.body), box, {}).certain()
        if any(e not in sure for e in elements):
            raise Wrong(f"reads elements of `{elements[0][0]}` ahead that may not be there")
        return VariableCopy(tuple(elements), None)

    def _check_gather(self, x: ReductionInit, after: Sequence[Join]) -> None:
        """One statement reduces into one place, by an operator of the loop; no other statement uses that place."""
        s = self.at.scop.statement(x.at.stmt)
        array = s.accesses[s.target].array
        how = joined(self.at.scop, s)
        mine = [p for p in _instances(self.plain.body) if p.stmt == s.name]
        if how is None or how[0] != x.op or len(mine) != 1 or array not in {a for _, a in self.plain.loop.reductions}:
            raise Wrong(f"gathers in {s.name} (`{s.source}`), which is no fold")
        place = mine[0].accesses[s.target]
        moves = any(self.plain.var in expr_names(e) for e in place)
        if moves or forms(x.at.accesses[s.target]) != forms(place):
            raise Wrong(f"gathers for another element of `{array}`")
        elem = self.at.scop.arrays[array].elem
        if self.at.lanes is None or elem.is_int or not same(elem, self.at.lanes.elem):
            raise Wrong(f"gathers in another type than that of `{array}`")
        for t in _statements(self.at, self.plain.body):
            if t is not s and any(a.array == array for a in t.accesses):
                raise Wrong(f"gathers in variables while {t.name} uses `{array}`")
        ends = [j for j in after if j.at.stmt == s.name]
        if len(ends) != 1 or set(ends[0].names) != set(x.names) or len(ends[0].names) != len(set(x.names)):
            raise Wrong(f"does not join all that was gathered for `{array}`")
        if ends[0].op != x.op or forms(ends[0].at.accesses[s.target]) != forms(place):
            raise Wrong(f"joins what was gathered for `{array}` in another way")

    def _check_joined(self, p: Enough) -> None:
        begun = {x.at.stmt for x in p.ahead if isinstance(x, ReductionInit)}
        if any(j.at.stmt not in begun for j in p.after):
            raise Wrong("joins what nobody has gathered")


def _instances(body: CNode) -> list[Instance]:
    children = body.children if isinstance(body, Block) else (body,)
    return [x for x in children if isinstance(x, Instance)]


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a
