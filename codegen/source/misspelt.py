"""Warns of pragmas that are almost tilewright's own (`#pragma skop`, `#pragma SCOP`), and of names in an assumption
about parameters that are nowhere in the file or what it includes."""
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from codegen.diagnostics import Diagnostic, Loc, Severity
from codegen.options import names_in
from codegen.source.layout.lexis import DIRECTIVES, SPLICE, blank_comments

OWN = ("scop", "endscop", "tilewright")
_WORD = re.compile(r"(?:#|%:)\s*pragma\s+(\w+)(?:[ \t-]+(\w+))?")
_OPERATOR = re.compile(r"""_Pragma\s*\(\s*"\s*(scop|endscop)\s*"\s*\)""")
_BEGIN = ("beginscop", "scopbegin", "startscop", "scopstart", "openscop", "scopopen")
_END = ("endscop", "scopend", "stopscop", "scopstop", "closescop", "scopclose")


def misspelt_pragmas(text: str, file: str) -> Iterator[Diagnostic]:
    """A warning for each; compilers are silent about a pragma they do not know, and so is a region that is none."""
    if "pragma" not in text.lower():
        return
    for match in DIRECTIVES.finditer(text):
        found = _WORD.match(blank_comments(SPLICE.sub("", match["directive"] or "")))
        if found is None or found[1] in OWN:
            continue
        meant, words = _meant(found[1]), found[1]
        if not meant and found[2]:
            meant, words = _two_words(f"{found[1]}{found[2]}"), f"{found[1]} {found[2]}"
        if meant:
            yield _misspelt(text, file, match.start(), len(match["indent"]) + 1, f"#pragma {words}", meant)
    if "_Pragma" in text:
        for match in _OPERATOR.finditer(blank_comments(text)):
            column = match.start() - text.rfind("\n", 0, match.start())
            yield _misspelt(text, file, match.start(), column, match[0], match[1])


def _misspelt(text: str, file: str, at: int, column: int, said: str, meant: str) -> Diagnostic:
    loc = Loc(file, text.count("\n", 0, at) + 1, column)
    words = f"`{said}` is not one of tilewright's"
    return Diagnostic(Severity.WARNING, "misspelt-pragma", words, loc, f"did you mean `#pragma {meant}`?")


def _meant(word: str) -> str:
    """The tool's own word that is probably meant, if there is one."""
    return next((w for w in OWN if _close(word, w)), "") or _two_words(word)


def _two_words(text: str) -> str:
    """For `end scop`, `scop_begin` and the like."""
    plain = text.lower().replace("_", "")
    return "scop" if plain in _BEGIN else "endscop" if plain in _END else ""


def unknown_names(context: str, texts: Iterable[str], file: str) -> Iterator[Diagnostic]:
    """A warning for each name in an assumption that is nowhere in the file and what it includes."""
    asked = names_in(context)
    words = {w for text in texts for w in re.findall(r"[A-Za-z_]\w*", text)} if asked else set()
    for name in asked:
        if name not in words:
            from difflib import get_close_matches  # only then: start-up time counts in a build

            close = get_close_matches(name, sorted(words), n=1)
            hint = f"did you mean `{close[0]}`?" if close else "name a parameter of the loops"
            message = f"the assumption speaks of `{name}`, which is nowhere in this file"
            yield Diagnostic(Severity.WARNING, "unused-assumption", message, Loc(file), hint)


def _close(word: str, own: str) -> bool:
    """Is it another word, one letter or two in their order away from this one, or only in capitals?"""
    low = word.lower()
    if word == own or low == own:
        return word != own
    longer, shorter = sorted((low, own), key=len, reverse=True)
    if len(longer) - len(shorter) > 1:
        return False
    k = next((k for k, (a, b) in enumerate(zip(longer, shorter, strict=False)) if a != b), len(shorter))
    if len(longer) != len(shorter):
        return longer[k + 1 :] == shorter[k:]
    swapped = longer[:k] + longer[k : k + 2][::-1] + longer[k + 2 :]
    return longer[k + 1 :] == shorter[k + 1 :] or swapped == shorter
