"""The report of `scan`: the nests of many files, as text, as plain values for JSON, and as a page for a browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from codegen import __version__
from codegen.auto import LEFT, REFUSED, TRANSFORMED, Row, explore
from codegen.diagnostics import Loc, TilewrightError
from codegen.isa.known import use as use_isa
from codegen.machine import Machine, load_for
from codegen.machine.variants import DEFAULT
from codegen.options import GenOptions
from codegen.pipeline import MARK
from codegen.record import record
from codegen.refusals import find
from codegen.report.nests import WOULD, ranked, reasons, table, why
from codegen.source.language import check_language
from codegen.source.write import read_source
from codegen.tune.timing import cores


@record
class FileScan:
    """One file: its nests, or why it could not be read, which is a row like theirs."""

    path: str
    rows: tuple[Row, ...]
    read: bool = True


def scan_file(path: str, options: GenOptions) -> FileScan:
    """The nests of one file. Whatever goes wrong is told in a row."""
    try:
        text = read_source(path).removeprefix(MARK)
        check_language(path, text)
        machine = here(load_for(options.machine, use_isa(options.isa)))
        return FileScan(path, explore(path, text, options, machine).nests)
    except TilewrightError as error:
        return FileScan(path, (_unread(path, error.id, error.message, error.loc, error.hint),), False)
    except Exception as error:
        return FileScan(path, (_unread(path, "internal-error", str(error), Loc(path), "report it"),), False)


def here(machine: Machine) -> Machine:
    """A machine with as many cores as there are here, where its description is of none in particular."""
    return replace(machine, cores=cores()) if machine.name == DEFAULT else machine


def _unread(path: str, id: str, message: str, loc: Loc, hint: str) -> Row:
    place = f"{loc}: " if loc.file != path else ""
    line = loc.line if loc.file == path else 0
    text = f"the file cannot be read: {place}{message}"
    return Row(path, max(line, 1), max(line, 1), "", 0, REFUSED, id, text, hint, loc)


def _rows(scans: Sequence[FileScan]) -> list[Row]:
    return [r for s in scans for r in s.rows]


def text_report(scans: Sequence[FileScan]) -> str:
    """The table of all nests, and how many each reason stops."""
    rows = _rows(scans)
    files = f"{len(scans)} files" if len(scans) != 1 else scans[0].path
    if not rows:
        return f"{files}: no loop nests\n"
    stopped = reasons(rows)
    width = max((len(id) for id, _ in stopped), default=0)
    lines = "".join(f"  {count:5}  {id.ljust(width)}  {meaning(id)}\n" for id, count in stopped)
    return table(rows, files, WOULD) + (f"\nwhat stands in the way:\n{lines}" if lines else "")


def meaning(id: str) -> str:
    """The first sentence on an id."""
    entry = find(id)
    text = entry.meaning if entry is not None else ""
    first = text.partition(". ")[0]
    return first if first.endswith(".") or not first else f"{first}."


def summary(scans: Sequence[FileScan]) -> dict[str, Any]:
    """Everything as values of JSON."""
    rows = _rows(scans)
    return {
        "version": __version__,
        "files": len(scans),
        "unread": sum(not s.read for s in scans),
        "totals": {WOULD[v]: sum(r.verdict == v for r in rows) for v in (TRANSFORMED, LEFT, REFUSED)},
        "reasons": [{"id": id, "nests": count, "meaning": meaning(id)} for id, count in reasons(rows)],
        "nests": [_values(r) for r in ranked(rows)],
    }


def _values(r: Row) -> dict[str, Any]:
    return {
        "file": r.file, "line": r.line, "last_line": r.last_line, "function": r.function, "depth": r.depth,
        "verdict": WOULD[r.verdict], "id": r.id, "reason": r.reason, "hint": r.hint,
        "at": {"file": r.loc.file or r.file, "line": r.loc.line or r.line, "column": r.loc.col},
        "cycles": r.work, "factor": r.factor, "cores": r.cores, "share": r.share,
    }  # fmt: skip


def page(scans: Sequence[FileScan]) -> str:
    """One page for a browser, with all it needs in it."""
    from codegen.print.templates import environment

    rows = ranked(_rows(scans))
    nests = [(r, WOULD[r.verdict], why(r)) for r in rows]
    return environment().get_template("scan.html.j2").render(
        version=__version__, files=len(scans), nests=nests, timed=any(r.share is not None for r in rows),
        totals=[(WOULD[v], sum(r.verdict == v for r in rows)) for v in (TRANSFORMED, LEFT, REFUSED)],
        reasons=[(id, count, meaning(id)) for id, count in reasons(rows)],
    )  # fmt: skip
