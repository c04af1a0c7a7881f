"""Converts messages to a SARIF 2.1.0 log (`log`), the form code-scanning services and editors read; `render.py` makes
text of it."""
from __future__ import annotations

from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from codegen import __version__
from codegen.diagnostics import Diagnostic, Loc, Severity
from codegen.refusals import find

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
    rules = sorted({reason(d) for d in diagnostics})
    driver = {"name": "tilewright", "version": __version__, "rules": [_rule(r) for r in rules]}
    # Columns count characters, which SARIF calls code points.
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, rules) for d in diagnostics],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def reason(d: Diagnostic) -> str:
    """The id that says most: of a region that is left as it is, that of the first thing in its way."""
    return d.notes[0].id if d.id == "region-refused" and d.notes else d.id


def _rule(name: str) -> dict[str, Any]:
    """An id with the words that `tilewright explain` has for it."""
    entry = find(name)
    if entry is None:
        return {"id": name}
    advice = f"{entry.advice}\n" if entry.advice else ""
    example = f"\n    {entry.example}\n" if entry.example else ""
    return {
        "id": name,
        "shortDescription": {"text": entry.meaning.partition(". ")[0].removesuffix(".") + "."},
        "fullDescription": {"text": entry.meaning},
        "help": {"text": f"{entry.meaning}\n{advice}{example}".rstrip("\n")},
    }


def _result(d: Diagnostic, rules: list[str]) -> dict[str, Any]:
    kind, level = _LEVELS[d.severity]
    out: dict[str, Any] = {"ruleId": reason(d), "ruleIndex": rules.index(reason(d)), "kind": kind, "level": level}
    out["message"] = {"text": _said(d)}
    place = _location(d.loc)
    if place:
        out["locations"] = [place]
    related = [{**_location(n.loc), "message": {"text": _said(n)}} for n in d.notes]
    if related:
        out["relatedLocations"] = related
    return out


def _said(d: Diagnostic) -> str:
    """The message, and below it what would help."""
    return f"{d.message}\n{d.hint}" if d.hint else d.message


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
