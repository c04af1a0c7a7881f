"""The `Author` of a plan: tries each directive on the program, keeps those that are legal, and holds the reason against
the last one that is not; it also collects the remarks and which techniques were considered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace

from codegen.diagnostics import Diagnostic, InputError, Loc, Severity
from codegen.machine import Machine
from codegen.plan.model import Directive
from codegen.record import mutable, record
from codegen.transform.apply import apply
from codegen.transform.program import Program


@record
class Considered:
    """A technique that was thought of for some statements, and why it was not taken; `why` is empty where it was.
    `cycles`: what an iteration of the innermost loop costs with it, where that was compared."""

    technique: str
    stmts: tuple[str, ...]
    why: str = ""
    cycles: float | None = None


@mutable
class Author:
    """Writes a plan step by step: what is refused is left out, and the reasons are kept."""

    p: Program
    directives: list[Directive]
    remarks: list[Diagnostic]
    machine: Machine
    why: str = ""  # what the last refused directive ran into
    considered: list[Considered] = field(default_factory=list)

    def attempt(self, d: Directive) -> bool:
        """Carry a directive out if it is legal; `why` says why not."""
        try:
            self.p = apply(self.p, d)
        except InputError as error:
            self.why = error.message
            return False
        self.directives.append(d)
        return True

    def possible(self, d: Directive) -> bool:
        """Would a directive be legal?"""
        try:
            apply(self.p, d)
        except InputError:
            return False
        return True

    def all_or_none(self, steps: Iterable[Directive]) -> bool:
        """Carry out all of them, or leave everything as it was."""
        saved, count = self.p, len(self.directives)
        if all(self.attempt(d) for d in steps):
            return True
        self.p = saved
        del self.directives[count:]
        return False

    def copy(self) -> Author:
        """To try something else from here."""
        return replace(self, directives=[*self.directives], remarks=[*self.remarks], considered=[*self.considered])

    def adopt(self, other: Author) -> None:
        """Go on with what another has made of the same program."""
        self.p, self.why = other.p, other.why
        self.directives[:], self.remarks[:] = other.directives, other.remarks

    def remark(self, kind: str, id: str, text: str, stmt: str, hint: str = "") -> None:
        """Say what was done to a statement, or missed."""
        loc: Loc = self.p.scop.statement(stmt).loc
        self.remarks.append(Diagnostic(Severity.REMARK, id, text, loc, hint, kind))
