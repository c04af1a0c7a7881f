"""Removes or respells GNU and other compiler extensions in place, so that a plain C parser accepts the text.

Nothing moves: a removed token leaves spaces, a respelled one is padded. What could change the meaning of a
region is left alone inside `keep`, and `beyond` finds it there, since the parser takes it for something else.
"""
from __future__ import annotations

import re
from functools import lru_cache

from codegen.patterns import pattern
from codegen.record import record
from codegen.source.layout.lexis import CHAR, STRING, blank_code, closing, identifiers

# The parser has no word for variables of which each thread has its own. This one says nothing else of a variable.
THREAD_LOCAL = "inline"
_RESPELLED = {
    "__restrict": "restrict", "__restrict__": "restrict", "__inline": "inline", "__inline__": "inline",
    "__const": "const", "__const__": "const", "__volatile": "volatile", "__volatile__": "volatile",
    "__signed": "signed", "__signed__": "signed", "__complex__": "_Complex", "__alignof__": "_Alignof",
    "__thread": THREAD_LOCAL, "_Thread_local": THREAD_LOCAL, "thread_local": THREAD_LOCAL,
    "__alignof": "_Alignof", "__builtin_offsetof": "offsetof", "__builtin_va_arg": "__builtin_va_arg",
}
_DROPPED = frozenset({"__extension__", "_Noreturn"})
_CALL_LIKE = frozenset({"__attribute__", "__attribute", "__declspec", "_Alignas", "alignas"})
_ASSERT = frozenset({"_Static_assert", "static_assert"})
_ASM = frozenset({"__asm__", "__asm", "asm"})
# Long ones first, and always in the same order, so that the pattern can be kept.
_WORDS = "|".join(sorted({*_RESPELLED, *_DROPPED, *_CALL_LIKE, *_ASSERT, *_ASM}, key=lambda w: (-len(w), w)))
_EXTENSION = pattern(
    rf"(?P<skip>{STRING}|{CHAR}|^[ \t]*\#[^\n]*)|\b(?P<word>{_WORDS})\b|(?P<attribute>\[\s*\[)", re.M)
_BEYOND = pattern(
    rf"{STRING}|{CHAR}|^[ \t]*\#[^\n]*|"
    r"\b(?P<asm>(?:__asm__|__asm|asm)\b)(?=\s*(?:\(|volatile\b|__volatile|goto\b|inline\b))|(?P<braces>\(\s*\{)", re.M)
_GAP = pattern(r"(?:\s+|^#[^\n]*\n|\b(?:volatile|__volatile__|__volatile|goto|inline|__inline__)\b)*", re.M)
_SPECIFIES = pattern(r"\s+[A-Za-z_]")
_PURE = pattern(r"[(,\[:]\s*(?:__)?(?:const|unsequenced)(?:__)?\s*[),\]]")
# These give a type another meaning. Left in place, they make the parser refuse the declaration.
_RETYPING = pattern(r"\b(?:__)?(?:vector_size|mode|ext_vector_type|neon_vector_type|scalar_storage_order)(?:__)?\b")
_ATTRIBUTE = pattern(r"\b__attribute(?:__)?\s*(?=\()|\[(?=\s*\[)")

# Types that compilers know without a declaration. Where no C type has the same format, an incomplete struct lets
# declarations parse and makes any arithmetic on it a type error instead of a wrong guess.
_TYPES = {
    "__builtin_va_list": "int", "_Float32": "float", "_Float64": "double", "_Float32x": "double",
    "_Float64x": "long double",
    **{name: f"struct __tw{name}" for name in
       ("_Float128", "__float128", "_Float16", "__fp16", "__bf16", "_Decimal32", "_Decimal64", "_Decimal128",
        "__float80", "__ibm128")},
}


_OWN = pattern(r"^[ \t]*\#[ \t]*pragma[ \t]+omp[ \t]+threadprivate[ \t]*\(([^)\n]*)\)", re.M)


@record
class Cleaned:
    """Text for the parser, and the identifiers that were hidden from it."""

    text: str
    hidden: frozenset[str] = frozenset()


def clean(text: str, keep: tuple[int, int] = (-1, -1)) -> Cleaned:
    """The text without extensions; `keep` is the span of the region, where nothing that computes is removed."""
    parts: list[str] = []
    hidden: set[str] = set()
    at = 0
    while (match := _EXTENSION.search(text, at)) is not None:
        parts.append(text[at:match.start()])
        kept = keep[0] <= match.start() < keep[1]
        new, at = _replaced(text, match, kept)
        parts.append(new)
        if match.group("word") in _ASM and not kept:
            hidden |= identifiers(text[match.start():at])
    return Cleaned("".join([*parts, text[at:]]), frozenset(hidden))


_ASSERTION = pattern(r"\(\s*\{\s*if\s*(?=\()")
_FAILS = pattern(r"(\s*;\s*)else(\s+)(?=__assert\w*\s*\()")
_OVER = pattern(r"\s*;\s*\}\s*\)")


def plain_assertions(text: str) -> str:
    """`({ if (c) ; else __assert_fail(...); })`, as GNU headers have `assert`, is `((c) ?0: __assert_fail(...))`."""
    parts: list[str] = []
    at = 0
    for match in _ASSERTION.finditer(text):
        cond = closing(text, match.end())
        fails = _FAILS.match(text, cond) if match.start() >= at and cond > 0 else None
        call = closing(text, text.index("(", fails.end())) if fails else -1
        over = _OVER.match(text, call) if call > 0 else None
        if fails and over:
            parts += [text[at : match.start()], "(", blank_code(text[match.start() + 1 : match.end()])]
            parts += [text[match.end() : cond], blank_code(fails[1]), "?0: ", blank_code(fails[2])]
            parts += [text[fails.end() : call], blank_code(over[0][:-1]), ")"]
            at = over.end()
    return "".join([*parts, text[at:]])


def _replaced(text: str, match: re.Match[str], kept: bool) -> tuple[str, int]:
    """What stands in for the extension at `match`, and the offset where the text goes on."""
    word = match.group("word")
    end = match.end()
    if word == "thread_local" and not _SPECIFIES.match(text, end):
        return word, end  # a keyword since C23, before that a name like any other
    if word in _RESPELLED:
        return _RESPELLED[word].ljust(end - match.start()), end
    if word in _DROPPED:
        return " " * len(word), end
    if match.group("attribute"):
        return _blanked(text, match.start(), closing(text, match.start()))
    if word in _CALL_LIKE or word in _ASSERT or (word in _ASM and not kept):
        gap = _GAP.match(text, end)
        opening = gap.end() if gap else end
        close = closing(text, opening) if text[opening:opening + 1] == "(" else -1
        if close > 0 and not (word in _CALL_LIKE and _RETYPING.search(text, opening, close)):
            return _blanked(text, match.start(), close)
    return match.group(), end


def _blanked(text: str, begin: int, end: int) -> tuple[str, int]:
    return (blank_code(text[begin:end]), end) if end > 0 else (text[begin:begin + 1], begin + 1)


@lru_cache(1024)  # many regions call the same functions
def beyond(text: str, begin: int, end: int) -> tuple[int, str] | None:
    """The first thing in a region that no C tree can stand for: where, and what it is called."""
    for match in _BEYOND.finditer(text, begin, end):
        if match.group("asm"):
            return match.start("asm"), "assembler"
        if match.group("braces"):
            return match.start("braces"), "a statement expression"
    return None


def thread_private(text: str) -> frozenset[str]:
    """The variables that OpenMP's directive makes each thread's own."""
    return frozenset(name for match in _OWN.finditer(text) for name in identifiers(match[1]))


def is_pure(head: str) -> bool:
    """Whether a declaration carries the attribute `const` (or C23's word for it).

    `pure` is not enough: such a function may read what the region writes.
    """
    return any(_PURE.search(head, match.end(), max(closing(head, match.end()), match.end()))
               for match in _ATTRIBUTE.finditer(head))


def builtin_types(words: frozenset[str]) -> str:
    """Declarations, on one line, of the compiler's own types that occur among the words."""
    return " ".join(f"typedef {meaning} {name};" for name, meaning in sorted(_TYPES.items()) if name in words)
