"""What a region and macros have to do with each other, besides what they stand for (`MacroScope`): names in what the
region was read as that would be expanded once more where its result is, directives in it that take effect behind it,
and macros whose values depend on where and how often they are used."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from codegen.diagnostics import Loc, Unsupported
from codegen.source.layout.lexis import CHAR, DIRECTIVES, IDENT, SPLICE, STRING, blank_comments
from codegen.source.layout.linemap import LineMap
from codegen.source.macro_tables import Table
from codegen.source.macros.baked import Baked
from codegen.source.macros.branches import groups_of, matters
from codegen.source.region_slice import MacroScope, RegionSlice

_QUOTED = re.compile(f"{STRING}|{CHAR}")
# Words of C in results: programs exchange precisions by `#define double float`.
_WORDS = frozenset(
    ("char", "do", "double", "else", "float", "for", "if", "int", "long", "return", "short", "signed", "sizeof",
     "static", "struct", "unsigned", "void", "while")
)  # fmt: skip
_COUNTING = ("__COUNTER__", "__TIME__", "__DATE__", "__TIMESTAMP__", "__INCLUDE_LEVEL__")
_LINE = "__LINE__"
_KEPT_PRAGMAS = re.compile(r"#pragma\s+(push_macro|pop_macro|GCC|clang|STDC|pack|weak|redefine_extname|message)\b")
_NO_EFFECT = re.compile(r"#\s*(?:(?:if|ifdef|ifndef|elif|elifdef|elifndef|else|endif|error|warning|line)\b|$)")
_DEFINE = re.compile(r"#(?:define|undef)\s+([A-Za-z_$][\w$]*)")


def scope_of(s: RegionSlice, found: Baked, source: str) -> MacroScope:
    """Of a region in a file; `found` has its own text and what is defined where it begins."""
    directives = tuple(_directives(found.text))
    own = {m[1] for d in directives if (m := _DEFINE.match(_plain(d)))}
    used = _used(found, directives)
    first = source.count("\n", 0, s.region.body_begin) + 1
    line = s.region.presumed_line(first) if _LINE in used and not s.region.found else 0
    effects = directives if any(_has_effect(d) for d in directives) else ()
    return MacroScope(_expanded_again(s, found.known, own), effects, line, _refusal(s, found, effects, used))


def _directives(text: str) -> Iterator[str]:
    """The directives of a region that may have an effect behind it, as they are written."""
    for m in DIRECTIVES.finditer(text):
        d = m.group("directive")
        if d is not None and (not re.match(r"#pragma\b", _plain(d)) or _KEPT_PRAGMAS.match(_plain(d))):
            yield d.rstrip()


def _plain(directive: str) -> str:
    """A directive on one line, without comments and white space after `#`."""
    line = " ".join(blank_comments(SPLICE.sub("", directive)).split())
    return re.sub(r"^(?:#|%:)\s*", "#", line)


def _has_effect(directive: str) -> bool:
    return not _NO_EFFECT.match(_plain(directive))


def _expanded_again(s: RegionSlice, known: Table, own: Collection[str]) -> tuple[str, ...]:
    """Names of what the region was read as that are macros where its result is: they were left by macros that name
    themselves, stood in brackets, or come from where there was no such macro. Words that results are made of, too."""
    left = {w for line in s.text.split("\n") if not line.startswith("#") for w in IDENT.findall(_QUOTED.sub("", line))}
    found = (n for n in left | _WORDS if n in own or (n in known and known[n].body != n))
    return tuple(sorted(found))


def _used(found: Baked, directives: Collection[str]) -> frozenset[str]:
    """All names in a region and in the macros that it uses, those of the compiler and of headers included."""
    mine = {m[1]: m[2] for d in directives if (m := re.match(r"#define ([\w$]+)(.*)", _plain(d)))}
    todo, seen = [found.text], set[str]()
    while todo:
        for name in IDENT.findall(_QUOTED.sub("", blank_comments(todo.pop()))):
            if name in seen:
                continue
            seen.add(name)
            todo += [mine[name]] if name in mine else []
            todo += [found.known[name].body] if name in found.known else []
    return frozenset(seen)


def _refusal(
    s: RegionSlice, found: Baked, effects: Collection[str], used: Collection[str]
) -> Unsupported | None:
    loc = Loc(s.file, s.region.first_line, 1)
    counting = next((n for n in _COUNTING if n in used), "")
    if counting:
        why = f"it uses `{counting}`, whose value depends on where, when and how often it is used"
        return Unsupported("macro-effect", why, loc, "set a variable to it before the region, and use that")
    if not effects:
        return None
    if any(matters(found.text, g) for g in groups_of(found.text)):
        why = "it has `#if` and defines macros: what is compiled cannot be compared with what was read"
        return Unsupported("macro-effect", why, loc, "define macros before the region")
    if any("include" in _plain(d)[:8] for d in effects) and _has_code_of_others(s):
        return Unsupported("macro-effect", "a part of it is in a file that it includes", loc,
                           "put the statements into the region itself, or the region into that file")  # fmt: skip
    return None


def _has_code_of_others(s: RegionSlice) -> bool:
    """Whether statements of the region are in another file; of C++ that is not known."""
    if s.scope or s.refusal is not None or s.language.name != "c":
        return True
    where = LineMap(s.text, s.file)
    begin, end = s.span
    at = begin
    for line in s.text[begin:end].split("\n"):
        if line.strip() and not line.startswith("#") and where.locate(at).file != s.file:
            return True
        at += len(line) + 1
    return False

