"""`tilewright explain ID`: what a message means, what leads to it, and what to do."""
from __future__ import annotations

import difflib
import textwrap

from codegen.cli.argv import BadCommandLine
from codegen.cli.job import Invocation, Outcome
from codegen.refusals import FAMILIES, TABLE, Entry, find, what_follows

WIDTH = 78


def run(job: Invocation) -> Outcome:
    """One entry of the table of messages; without an id, all ids."""
    asked = job.arguments.id
    if asked is None:
        return Outcome(stdout=overview())
    word = asked.strip("[]")
    entry = find(word)
    if entry is None:
        raise BadCommandLine(unknown_id(word))
    return Outcome(stdout=explanation(entry))


def unknown_id(word: str) -> str:
    ids = [e.id for e in TABLE]
    close = [i for i in ids if word in i.split("-")] or difflib.get_close_matches(word, ids, n=1)
    shown = " or ".join(f"'{i}'" for i in close[:4])
    hint = f"did you mean {shown}?" if close else "`tilewright explain` lists all"
    return f"there is no message '{word}'; {hint}"


def overview() -> str:
    """Every id with the beginning of its meaning."""
    out = []
    for family, (title, _) in FAMILIES.items():
        rows = [e for e in TABLE if e.family == family]
        wide = max(len(e.id) for e in rows)
        out.append(f"{title}\n")
        out += [f"  {e.id:{wide}}  {textwrap.shorten(e.meaning, WIDTH - wide, placeholder=' ...')}\n" for e in rows]
    return "".join(out)


def explanation(e: Entry) -> str:
    title, about = FAMILIES[e.family]
    parts = [f"{e.id} ({title.lower().removesuffix('s')})", _filled(e.meaning)]
    if e.example:
        parts.append("For example:\n\n" + textwrap.indent(e.example, "    "))
    if e.advice:
        parts.append(_filled(f"What to do: {e.advice}"))
    parts.append(_filled(f"{what_follows(e)}{about}"))
    return "\n\n".join(parts) + "\n"


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
