"""A technique: one way to make a nest faster, and what it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from codegen.machine import Machine
from codegen.plan.model import Directive
from codegen.record import record
from codegen.scop.tree import Band, Place, statements
from codegen.strategy.author import Author, Considered
from codegen.strategy.choice import Decision
from codegen.strategy.orders.fusion import AUTO
from codegen.transform.program import Program

T = TypeVar("T")
NOT_THIS_KIND = ""  # why a technique is not taken: the nest is not of the kind that its `needs` describes


@record
class Site:
    """Where a technique is tried: a band, or one loop of it. `full`: tiles may be split from remainders."""

    band: Band
    place: Place | None = None
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


@record
class Technique:
    """One row of the table.

    name      as reports call it
    does      what becomes of a nest
    needs     what a nest must be like; the reason given where it is not
    carry_out proposes directives, tries them, and leaves remarks. Raises Unsuited, with nothing changed.
    """

    name: str
    does: str
    needs: str
    carry_out: Callable[[Author, Site], None]


@record
class Request:
    """A region in source order, and what is asked of its plan: which statements share loops (see --fusion), and how
    much work it may take: lower effort leaves out isolation (1) and tiling (0)."""

    source: Program
    machine: Machine
    fusion: str
    effort: int

    @property
    def kind(self) -> str:
        """The kind of fusion where no search for the best is meant."""
        return "smart" if self.fusion == AUTO else self.fusion


@record
class RegionTechnique:
    """A row of the table for whole regions. `propose` raises Unsuited."""

    name: str
    does: str
    needs: str
    propose: Callable[[Request], Decision]


def first_that_suits(author: Author, site: Site, techniques: Sequence[Technique]) -> Technique | None:
    """Try techniques in their order; the one that was carried out, and a record of all that were asked."""
    for t in techniques:
        try:
            t.carry_out(author, site)
        except Unsuited as error:
            author.considered.append(Considered(t.name, site.stmts, str(error) or f"needs {t.needs}"))
            continue
        author.considered.append(Considered(t.name, site.stmts))
        return t
    return None
