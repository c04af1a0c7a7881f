"""Which messages are shown, and how seriously: -W, -Werror, -w, -R, -v, -q."""
from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from codegen.diagnostics import Diagnostic, Severity
from codegen.record import record

KINDS = ("passed", "missed", "analysis")


@record
class Filters:
    """`warnings` holds what followed each -W, in order; later words win. Remarks are per kind.

    A remark pattern is searched in the remark's id, as LLVM's is in the name of the pass.
    """

    warnings: tuple[str, ...] = ()
    no_warnings: bool = False
    quiet: bool = False
    verbose: bool = False
    remarks: tuple[tuple[str, str], ...] = ()


def select(diagnostics: Iterable[Diagnostic], filters: Filters) -> tuple[Diagnostic, ...]:
    """The messages to show, warnings promoted to errors where asked, order kept."""
    out = (_one(d, filters) for d in diagnostics)
    return tuple(d for d in out if d is not None)


def _one(d: Diagnostic, filters: Filters) -> Diagnostic | None:
    if d.severity is Severity.WARNING:
        return _warning(d, filters)
    if d.severity is Severity.REMARK:
        return d if _remark_wanted(d, filters) else None
    if d.severity is Severity.NOTE and filters.quiet:
        return None
    return d


def _warning(d: Diagnostic, filters: Filters) -> Diagnostic | None:
    """-w and -q hide a warning but never an error it was turned into by name or by -Werror."""
    level = warning_level(d.id, filters)
    if level == "error":
        return replace(d, severity=Severity.ERROR)
    return d if level == "warning" and not filters.quiet else None


def warning_level(id: str, filters: Filters) -> str:
    """`off`, `warning` or `error` for the warning `id`."""
    shown, fatal, fatal_by_name = not filters.no_warnings, False, None
    for word in filters.warnings:
        if word in ("all", "no-all"):
            shown = word == "all"
        elif word in ("error", "no-error"):
            fatal = word == "error"
        elif word in (f"error={id}", f"no-error={id}"):
            fatal_by_name = word.startswith("error")
            shown = shown or fatal_by_name
        elif word in (id, f"no-{id}"):
            shown = word == id
    if not shown:
        return "off"
    return "error" if (fatal if fatal_by_name is None else fatal_by_name) else "warning"


def _remark_wanted(d: Diagnostic, filters: Filters) -> bool:
    if filters.verbose and not filters.quiet:
        return True
    kind = d.kind or "analysis"
    return any(k == kind and re.search(pattern, d.id) for k, pattern in filters.remarks)
