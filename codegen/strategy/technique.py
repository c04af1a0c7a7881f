"""The records for rows of the planner's tables, `Technique` (for a nest) and `RegionTechnique` (for a region), and
`best_that_suits`, which carries out the first technique that suits a nest, or one behind it that is predicted to cost
less."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from codegen.machine import Machine
from codegen.plan.model import Directive
from codegen.record import record
from codegen.scop.tree import Band, FoundLoop, statements
from codegen.strategy.author import Author, Considered
from codegen.strategy.choice import Decision
from codegen.strategy.knobs.knob import KnobMaker
from codegen.strategy.orders.fusion import AUTO
from codegen.transform.program import Program

T = TypeVar("T")
CLEARLY = 1.1  # how much less a technique has to cost than one ahead of it in the table
NOT_THIS_KIND = ""  # why a technique is not taken: the nest is not of the kind that its `needs` describes


@record
class Site:
    """Where a technique is tried: a band, or one loop of it. `full`: tiles may be split from remainders."""

    band: Band
    place: FoundLoop | None = None
    full: bool = False

    @property
    def stmts(self) -> tuple[str, ...]:
        return statements(self.band)


class Unsuited(Exception):
    """The technique is not taken, and nothing was changed; the message says why, or is `NOT_THIS_KIND`."""


def suited(found: T | None) -> T:
    """What was found for a nest. Raises Unsuited where the nest is not of the kind."""
    if found is None:
        raise Unsuited(NOT_THIS_KIND)
    return found


def carry_out_steps(author: Author, *steps: Directive) -> None:
    """All of the steps. Raises Unsuited with the reason where one is illegal; nothing is changed then."""
    if not author.all_or_none(steps):
        raise Unsuited(author.why)


# What an iteration costs in a program that a technique has made, for the nest with these statements.
Price = Callable[[Program, Sequence[str], Machine], float | None]


@record
class Technique:
    """One row of the table.

    name       as reports call it
    does       what becomes of a nest
    needs      what a nest must be like; the reason given where it is not
    carry_out  proposes directives, tries them, and leaves remarks. Raises Unsuited, with nothing changed.
    price      the predicted cost of what it makes; or the reason why it is not compared with others of its pass
    first      why it is taken even where the prediction speaks for one behind it in its pass; empty: then that one is
    knobs      what can be changed about its directives, for those who measure
    """

    name: str
    does: str
    needs: str
    carry_out: Callable[[Author, Site], None]
    price: Price | str
    first: str = ""
    knobs: tuple[KnobMaker, ...] = ()


@record
class Request:
    """A region in source order, and what is asked of its plan: which statements share loops (see --fusion), and how
    much work it may take: lower effort leaves out isolation (1) and tiling (0). With `layouts` arrays may lie in other
    memory while it runs, which is of no use where messages bring them from elsewhere."""

    source: Program
    machine: Machine
    fusion: str
    effort: int
    layouts: bool = True

    @property
    def kind(self) -> str:
        """The kind of fusion where no search for the best is meant."""
        return "smart" if self.fusion == AUTO else self.fusion


@record
class RegionTechnique:
    """A row of the table for whole regions. `propose` raises Unsuited; `first` says why it comes before those behind
    it, whatever is predicted for them."""

    name: str
    does: str
    needs: str
    propose: Callable[[Request], Decision]
    first: str
    knobs: tuple[KnobMaker, ...] = ()


@record
class _Offer:
    """What a technique would make of a nest, and what an iteration costs then, if that is known."""

    technique: Technique
    author: Author
    cycles: float | None


def best_that_suits(author: Author, site: Site, techniques: Sequence[Technique]) -> Technique | None:
    """Carry out the first technique that suits, or one behind it that is predicted to cost less, unless the row of the
    first says why it stays ahead. All that were asked are on record, with the reason why they were not taken."""
    before = author.copy()
    for k, t in enumerate(techniques):
        try:
            t.carry_out(author, site)
        except Unsuited as error:
            author.considered.append(_unsuited(t, site, error))
            continue
        at, rest = len(author.considered), techniques[k + 1 :] if not isinstance(t.price, str) else ()
        rivals = list(_rivals(author, before, site, rest))
        leader = _Offer(t, author, _cycles(t, author, site) if rivals else None)
        taken = _decide(author, site, leader, rivals)
        author.considered.insert(at, _on_record(leader, taken, site))
        author.considered.extend(_on_record(o, taken, site) for o in rivals)
        return taken.technique
    return None


def _unsuited(t: Technique, site: Site, error: Unsuited) -> Considered:
    return Considered(t.name, site.stmts, str(error) or f"needs {t.needs}")


def _rivals(author: Author, before: Author, site: Site, techniques: Sequence[Technique]) -> Iterator[_Offer]:
    """What others that can be compared would make of the nest as it was before."""
    for t in techniques:
        if isinstance(t.price, str):
            continue
        trial = before.copy()
        try:
            t.carry_out(trial, site)
        except Unsuited as error:
            author.considered.append(_unsuited(t, site, error))
            continue
        yield _Offer(t, trial, _cycles(t, trial, site))


def _cycles(t: Technique, author: Author, site: Site) -> float | None:
    assert not isinstance(t.price, str)
    return t.price(author.p, site.stmts, author.machine)


def _decide(author: Author, site: Site, leader: _Offer, rivals: Sequence[_Offer]) -> _Offer:
    """The leader, or the cheapest of its rivals where that costs clearly less and nothing speaks against it."""
    known = [o for o in rivals if o.cycles is not None]
    best = min(known, key=lambda o: o.cycles or 0.0, default=leader)
    cheaper = leader.cycles is not None and best.cycles is not None and CLEARLY * best.cycles < leader.cycles
    taken = best if cheaper and not leader.technique.first else leader
    if taken is not leader:
        author.adopt(taken.author)
    if rivals:
        others = ", ".join(f"`{o.technique.name}` {_figure(o)}" for o in (leader, *rivals) if o is not taken)
        reason = f": {leader.technique.first}" if cheaper and taken is leader else ""
        text = f"`{taken.technique.name}` is taken, {_figure(taken)}; others: {others}{reason}"
        author.remark("analysis", "technique", text, site.stmts[0])
    return taken


def _on_record(o: _Offer, taken: _Offer, site: Site) -> Considered:
    return Considered(o.technique.name, site.stmts, "" if o is taken else _lost(o, taken), o.cycles)


def _lost(o: _Offer, taken: _Offer) -> str:
    if o.cycles is None or taken.cycles is None:
        return f"suits as well, but comes after `{taken.technique.name}`"
    if o.cycles <= taken.cycles:
        first = taken.technique.first or "those ahead of it in the table are taken unless another costs clearly less"
        return f"suits as well, {_figure(o)} against {_figure(taken)}, but {first}"
    return f"{_figure(o)} against {_figure(taken)} of `{taken.technique.name}`"


def _figure(o: _Offer) -> str:
    return "of unknown cost" if o.cycles is None else f"about {o.cycles:.2g} cycles an iteration"
