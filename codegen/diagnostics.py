"""Located messages: what happened, where, why, and what to do about it.

Every message has an id; the ids of refusals are listed in docs/refusals.md and each has a test.
Errors have one base class and three families: the user's input, unsupported, internal.
"""
from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from codegen.record import record


class Severity(Enum):
    """How bad a message is; the value is the word that is printed."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    REMARK = "remark"


@record
class Loc:
    """A place in a source file. Lines and columns count from 1; 0 means unknown."""

    file: str
    line: int = 0
    col: int = 0

    def __str__(self) -> str:
        parts = [self.file]
        if self.line:
            parts.append(str(self.line))
            if self.col:
                parts.append(str(self.col))
        return ":".join(parts)


@record
class Diagnostic:
    """One message. `kind` is the remark family (passed, missed, analysis) and empty for the rest; `trace` is the
    traceback of a fault of the tool that it tells of."""

    severity: Severity
    id: str
    message: str
    loc: Loc
    hint: str = ""
    kind: str = ""
    notes: tuple["Diagnostic", ...] = ()
    trace: str = ""


class TilewrightError(Exception):
    """Base of everything the tool raises on purpose."""

    def __init__(self, id: str, message: str, loc: Loc, hint: str = "") -> None:
        super().__init__(message)
        self.id = id
        self.message = message
        self.loc = loc
        self.hint = hint

    def __str__(self) -> str:
        """As the command prints it, for those who call from Python."""
        return f"{self.loc}: {self.message} [{self.id}]" + (f"; {self.hint}" if self.hint else "")

    def diagnostic(self, severity: Severity = Severity.ERROR) -> Diagnostic:
        return Diagnostic(severity, self.id, self.message, self.loc, self.hint)

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.id, self.message, self.loc, self.hint))


class InputError(TilewrightError):
    """The user's input is wrong; nothing is generated."""


class Unsupported(TilewrightError):
    """The region is outside what the tool handles; it comes out as it went in. `others` stand in its way, too."""

    def __init__(
        self, id: str, message: str, loc: Loc, hint: str = "", others: tuple["Unsupported", ...] = ()
    ) -> None:
        super().__init__(id, message, loc, hint)
        self.others = others

    def notes(self) -> tuple[Diagnostic, ...]:
        """Everything that stands in its way."""
        return tuple(e.diagnostic(Severity.NOTE) for e in (self, *self.others))

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.id, self.message, self.loc, self.hint, self.others))


MOST_REFUSALS = 10  # that one region is told at once


def gathered(found: Iterable[Unsupported]) -> Unsupported:
    """One refusal for all that were found, in the order of the source; what one line says twice is said once."""
    once: dict[tuple[str, str, int], Unsupported] = {}
    for e in found:
        once.setdefault((e.id, e.loc.file, e.loc.line), e)
    first, *others = sorted(once.values(), key=lambda e: (e.loc.line, e.loc.col))[:MOST_REFUSALS]
    return Unsupported(first.id, first.message, first.loc, first.hint, tuple(others))


def fault(error: Exception) -> str:
    """An exception that is a fault of the tool, in one line."""
    text = error.message if isinstance(error, TilewrightError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())


class InternalError(TilewrightError):
    """The tool itself is wrong, for example a proof failed on its own schedule."""
