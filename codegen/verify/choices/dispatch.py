"""Checks the versions of functions for a level: with macros replaced, and the level's names by those of the default
text, each has to be what the default text is where the level's condition holds. The same goes for every type and
function above the user's own text that a version uses; what it uses under the names of the default text has to be the
same whatever the compiler was told. Returns what differs, or the empty string.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from codegen.record import record
from codegen.source.layout.chunks import declarations, split
from codegen.source.layout.lexis import blank_comments
from codegen.verify.choices.variants import expanded, lines_where, macro_in, tokens
from codegen.verify.text.read import Unread

Entry = tuple[tuple[str, ...], str]  # the conditions around a definition that may hold or not, and its text


@record
class _Definitions:
    """What a text defines: macros by name, and all else, macros under conditions included."""

    macros: Mapping[str, tuple[str, str]]
    others: Mapping[str, tuple[Entry, ...]]

    def of(self, name: str) -> tuple[tuple[str, str] | None, tuple[Entry, ...]]:
        return self.macros.get(name), self.others.get(name, ())


def wrong_versions(
    support: str,
    whens: Sequence[str],
    chosen: int,
    level: tuple[str, Mapping[str, str]],
    versions: Sequence[tuple[str, str]],
) -> str:
    """What of a level is not the default text where the condition `chosen` is the first that holds. `level` is the text
    that it has of its own, without attributes of functions, and its names by those of the default text; each of
    `versions` has a function of that, and the copy."""
    text, names = level
    old, new = _definitions(support, whens, chosen), _definitions(text, (), 0)
    known = {**{n: m for n, m in old.macros.items() if n not in names}, **new.macros}
    plain = {b: a for a, b in names.items()}

    def same(a: str, b: str) -> bool:
        """Is b, in the level's names, what a is?"""
        return expanded(a, list(old.macros.values())) == [plain.get(t, t) for t in expanded(b, list(known.values()))]

    try:
        if any(not same(a, b) for a, b in versions):
            return "a version is another function"
        for mine, wanted in ((n, a) for n, a in plain.items() if n in new.others):
            pairs = list(zip(old.others.get(wanted, ()), new.others[mine], strict=True))
            if any(not same(" ".join((*a[0], a[1])), " ".join((*b[0], b[1]))) for a, b in pairs):
                return f"`{mine}` is another one than `{wanted}`"
    except (Unread, ValueError) as problem:
        return str(problem) or "a definition is missing"
    used = _used([text, *(copy for _, copy in versions)], old)
    missing = next((n for n in plain if n not in new.macros and n not in new.others), "")
    return f"`{missing}` is not defined" if missing else _varying(used, support, whens, old)


def _used(texts: Iterable[str], known: _Definitions) -> set[str]:
    """Names of the default text that occur in texts, and in what these stand for."""
    found, todo = set[str](), [w for t in texts for w in tokens(t)]
    while todo:
        name = todo.pop()
        if name in found or (name not in known.macros and name not in known.others):
            continue
        found.add(name)
        macro, entries = known.of(name)
        for part in (*(macro or ()), *(x for path, text in entries for x in (*path, text))):
            todo += tokens(part)
    return found


def _varying(used: Iterable[str], support: str, whens: Sequence[str], here: _Definitions) -> str:
    """One of the names whose meaning depends on what the compiler is told."""
    for k in range(len(whens)):
        there = _definitions(support, whens, k)
        wrong = next((n for n in sorted(used) if there.of(n) != here.of(n)), "")
        if wrong:
            return f"`{wrong}` is another one where {whens[k] or 'no condition holds'}"
    return ""


def _definitions(text: str, whens: Sequence[str], chosen: int) -> _Definitions:
    macros: dict[str, list[Entry]] = {}
    certain: dict[str, tuple[str, str]] = {}
    plain: list[str] = []
    paths: list[tuple[str, ...]] = []
    for path, line in lines_where(blank_comments(text), whens, chosen):
        made = macro_in(line)
        if made is not None:
            macros.setdefault(made[0], []).append((path, " ".join(made[1])))
            certain[made[0]] = made[1]
        elif not re.match(r"\s*#\s*(?:include|undef)\b", line):
            plain.append(line)
            paths.append(path)
    sure = {n: certain[n] for n, found in macros.items() if len(found) == 1 and not found[0][0]}
    others = {n: list(found) for n, found in macros.items() if n not in sure}
    joined = "\n".join(plain)
    chunks = split(joined)
    for chunk, names in zip(chunks, declarations(joined, chunks) if chunks else (), strict=True):
        first, last = (joined.count("\n", 0, x) for x in (chunk.begin, chunk.end))
        around = dict.fromkeys(x for path in paths[first : last + 1] for x in path)
        for name in names:
            others.setdefault(name, []).append((tuple(around), " ".join(tokens(joined[chunk.begin : chunk.end]))))
    return _Definitions(sure, {n: tuple(dict.fromkeys(x)) for n, x in others.items()})  # types may be said twice
