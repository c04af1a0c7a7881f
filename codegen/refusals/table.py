"""The whole table of messages, joined from its parts (`TABLE`); finds the entry of an id (`find`), and makes the text
of docs/refusals.md (`markdown`)."""

from __future__ import annotations

from codegen.refusals.entry import FAMILIES, WARNING, Entry
from codegen.refusals.errors import ERRORS
from codegen.refusals.regions import REGIONS
from codegen.refusals.remarks import REMARKS

TABLE: tuple[Entry, ...] = (*REGIONS, *ERRORS, *REMARKS)


def find(name: str) -> Entry | None:
    """The entry of an id."""
    return next((e for e in TABLE if e.id == name), None)


def what_follows(e: Entry) -> str:
    """How its warnings are switched; empty for what is no warning."""
    return f"`-Wno-{e.id}` hides it, `-Werror={e.id}` makes it an error. " if e.family == WARNING else ""


def markdown() -> str:
    """The whole page."""
    head = (
        "# Messages\n\nMade from `codegen/refusals/` by `python -m codegen.refusals`; edit the table there instead.\n\n"
        "Every message ends in its id in brackets; `tilewright explain ID` prints what stands here. Warnings are "
        "switched by `-Wno-ID` and `-Werror=ID`.\n"
    )
    return head + "".join(_family(f) for f in FAMILIES)


def _family(family: str) -> str:
    title, about = FAMILIES[family]
    return f"\n## {title}\n\n{about}\n" + "".join(_entry(e) for e in TABLE if e.family == family)


def _entry(e: Entry) -> str:
    text = f"\n### {e.id}\n\n{e.meaning}"
    text += f" {e.advice}\n" if e.advice else "\n"
    return text + (f"\n```\n{e.example}\n```\n" if e.example else "")
