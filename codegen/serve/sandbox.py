"""Checks C text from the page of `tilewright serve` before a compiler sees it: raises InputError `not-here` unless it
includes headers of the C library and omp.h only, and no other directive or pragma could name a file.

The preprocessor would read any file it is told to, and messages could show what is in it.
"""
from __future__ import annotations

import re

from codegen.diagnostics import InputError, Loc
from codegen.source.layout.lexis import SPLICE, blank_comments
from codegen.source.regions import DIRECTIVES

_NAMES = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg
stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath time uchar wchar wctype omp"""
HEADERS = frozenset(_NAMES.split())
_DIRECTIVE = re.compile(r"(?:#|%:)\s*(\w+)\s*(.*)", re.S)
_ALLOWED = re.compile(r"<\s*(\w+)\.h\s*>\s*")
# Directives that name no file and run nothing.
_WORDS = "define undef if ifdef ifndef elif elifdef elifndef else endif error warning"
_HARMLESS = frozenset(_WORDS.split())
# Others may name files, too: `#pragma GCC dependency "x"`.
_PRAGMAS = re.compile(r"(scop|endscop|tilewright|omp|STDC|GCC\s+(ivdep|unroll))\b(?!.*\bplan\s*\()", re.S)
_HINT = "this page reads headers of the C library only; write the declarations out, or use the command"


def check_source(text: str, name: str) -> None:
    """InputError where the text could make a program read another file."""
    if "??" in text:
        raise InputError("not-here", "there is `??`, which may be a trigraph", Loc(name), "write the character itself")
    for match in DIRECTIVES.finditer(text):
        words = blank_comments(SPLICE.sub("", match["directive"] or ""))
        found = _DIRECTIVE.match(words)
        if found is None:
            continue
        line = text.count("\n", 0, match.start()) + 1
        word, rest = found[1], found[2]
        header = _ALLOWED.fullmatch(rest) if word == "include" else None
        if header is not None and header[1] in HEADERS:
            continue
        harmless = word in _HARMLESS or (word == "pragma" and _PRAGMAS.match(rest))
        if not harmless or re.search(r"__has_|include|import|embed", rest):
            raise InputError("not-here", f"`#{word}` names a file", Loc(name, line), _HINT)
    stray = re.search(r"__has_(include|embed)|_Pragma|__include", text)
    if stray:
        line = text.count("\n", 0, stray.start()) + 1
        raise InputError("not-here", f"`{stray[0]}` is not read here", Loc(name, line), _HINT)
    _only_seen(text, name)


def _only_seen(text: str, name: str) -> None:
    """Every `include` must be in a directive that was looked at: where the preprocessor takes something for a directive
    that the search above takes for part of a comment or a string, it is refused."""
    seen = [(m.start(), m.end()) for m in DIRECTIVES.finditer(text) if m["directive"]]
    spliced = re.sub(r"\\[ \t]*\r?\n", "", text)
    if len(re.findall(r"include|import|embed|incbin", spliced)) != sum(
        len(re.findall(r"include|import|embed|incbin", re.sub(r"\\[ \t]*\r?\n", "", text[a:b]))) for a, b in seen
    ):
        raise InputError("not-here", "there is an `include` that is no directive", Loc(name), _HINT)
