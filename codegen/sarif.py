"""SARIF 2.1.0: the form code-scanning services and editors read."""
from __future__ import annotations

from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from codegen import __version__
from codegen.diagnostics import Diagnostic, Loc, Severity

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# SARIF has no level for remarks; an informational result of level none is what its text asks for.
_LEVELS = {
    Severity.ERROR: ("fail", "error"),
    Severity.WARNING: ("fail", "warning"),
    Severity.NOTE: ("fail", "note"),
    Severity.REMARK: ("informational", "none"),
}


def log(diagnostics: tuple[Diagnostic, ...]) -> dict[str, Any]:
    """A whole log of one run, ready for json.dumps."""
    rules = sorted({d.id for d in diagnostics})
    driver = {"name": "tilewright", "version": __version__, "rules": [{"id": r} for r in rules]}
    # Columns count characters, which SARIF calls code points.
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, rules.index(d.id)) for d in diagnostics],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(d: Diagnostic, rule: int) -> dict[str, Any]:
    kind, level = _LEVELS[d.severity]
    message = f"{d.message}\n{d.hint}" if d.hint else d.message
    out: dict[str, Any] = {"ruleId": d.id, "ruleIndex": rule, "kind": kind, "level": level}
    out["message"] = {"text": message}
    place = _location(d.loc)
    if place:
        out["locations"] = [place]
    related = [{**_location(n.loc), "message": {"text": n.message}} for n in d.notes]
    if related:
        out["relatedLocations"] = related
    return out


def _location(loc: Loc) -> dict[str, Any]:
    """Empty for a message about the command line or standard input, which have no address."""
    if loc.file in ("", "tilewright") or loc.file.startswith("<"):
        return {}
    path = PurePath(loc.file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if loc.line:
        physical["region"] = {"startLine": loc.line, **({"startColumn": loc.col} if loc.col else {})}
    return {"physicalLocation": physical}
