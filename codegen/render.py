"""Messages as text in the style of gcc, as JSON, SARIF, or annotations for GitHub. Pure: nothing is printed here."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from codegen.diagnostics import Diagnostic, Loc, Severity
from codegen.record import record

_COLORS = {
    Severity.ERROR: "1;31",
    Severity.WARNING: "1;35",
    Severity.NOTE: "1;36",
    Severity.REMARK: "1;34",
}
FORMATS = ("text", "json", "sarif", "github")


@record
class Style:
    """How to show messages. `sources` gives file text for snippets; an `error_limit` of 0 is no limit."""

    format: str = "text"
    color: bool = False
    error_limit: int = 10
    sources: Mapping[str, str] = field(default_factory=dict)


def want_color(when: str, is_tty: bool, environ: Mapping[str, str]) -> bool:
    """--color against NO_COLOR (any non-empty value), a dumb terminal, and a stream that is no terminal."""
    if when != "auto":
        return when == "always"
    return is_tty and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def render(diagnostics: Iterable[Diagnostic], style: Style) -> str:
    """All messages of a run. JSON and SARIF give a whole document even for no message."""
    items = tuple(diagnostics)
    if style.format == "json":
        return _document([as_json(d) for d in items])
    if style.format == "sarif":
        from codegen.sarif import log

        return _document(log(items))
    if style.format == "github":
        return "".join(_annotation(d) for d in items)
    return _text(items, style)


def _document(value: object) -> str:
    import json  # only then: start-up time counts in a build

    return json.dumps(value, indent=2) + "\n"


_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice", Severity.REMARK: "notice"}


def _annotation(d: Diagnostic) -> str:
    """A workflow command that puts the message at its line in a change; notes go into its text."""
    file = "" if d.loc.file == "tilewright" or d.loc.file.startswith("<") else d.loc.file
    place = (("file", file), ("line", d.loc.line), ("col", d.loc.col), ("title", f"tilewright {d.id}"))
    where = ",".join(f"{key}={_escaped(str(value), ':,')}" for key, value in place if value)
    notes = (f"{n.loc}: {n.message} [{n.id}]" + (f": {n.hint}" if n.hint else "") for n in d.notes)
    lines = [d.message, *((d.hint,) if d.hint else ()), *notes]
    return f"::{_COMMANDS[d.severity]} {where}::{_escaped(chr(10).join(lines))}\n"


def _escaped(text: str, more: str = "") -> str:
    return "".join(f"%{ord(c):02X}" if c in f"%\r\n{more}" else c for c in text)


def _text(items: tuple[Diagnostic, ...], style: Style) -> str:
    out: list[str] = []
    errors = 0
    for d in items:
        errors += d.severity is Severity.ERROR
        if d.severity is not Severity.ERROR or not style.error_limit or errors <= style.error_limit:
            out.append(text_of(d, style))
    hidden = errors - style.error_limit if style.error_limit else 0
    if hidden > 0:
        message = f"{hidden} more error{'s' if hidden > 1 else ''} not shown (--error-limit {style.error_limit})"
        out.append(text_of(Diagnostic(Severity.NOTE, "error-limit", message, Loc("tilewright")), style))
    return "".join(out)


def text_of(d: Diagnostic, style: Style) -> str:
    """One message with its snippet, its hint as a note, and its notes."""
    out = _headline(d.loc, d.severity, f"{d.message} [{d.id}]", style) + _snippet(d.loc, style)
    if d.hint:
        out += _headline(d.loc, Severity.NOTE, d.hint, style)
    return out + "".join(text_of(n, style) for n in d.notes)


def _headline(loc: Loc, severity: Severity, text: str, style: Style) -> str:
    place = _paint(f"{loc}:", "1", style)
    word = _paint(f"{severity.value}:", _COLORS[severity], style)
    return f"{place} {word} {text}\n"


def _paint(text: str, code: str, style: Style) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if style.color else text


def _snippet(loc: Loc, style: Style) -> str:
    """The source line and a caret under the column; tabs before the caret are kept so that it lines up."""
    lines = style.sources.get(loc.file, "").split("\n")
    if not 1 <= loc.line <= len(lines) or not lines[loc.line - 1].strip():
        return ""
    line = lines[loc.line - 1].rstrip()
    out = f"{loc.line:5} | {line}\n"
    if 1 <= loc.col <= len(line) + 1:
        pad = "".join(c if c == "\t" else " " for c in line[: loc.col - 1])
        out += f"      | {pad}{_paint('^', '1;32', style)}\n"
    return out


def as_json(d: Diagnostic) -> dict[str, object]:
    """One message as plain data; keys with nothing to say are left out."""
    out: dict[str, object] = {"severity": d.severity.value, "id": d.id, "message": d.message, "file": d.loc.file}
    optional = (("line", d.loc.line), ("column", d.loc.col), ("kind", d.kind), ("hint", d.hint))
    out.update({key: value for key, value in optional if value})
    if d.notes:
        out["notes"] = [as_json(n) for n in d.notes]
    return out
