"""Regular expressions and small functions for C text: blank comments or code in place, list the identifiers, find the
closing bracket.

Everything that removes text here removes it in place: characters become spaces and newlines stay, so that
positions computed before and after agree.
"""
from __future__ import annotations

import re

from codegen.patterns import pattern

STRING = r'"[^"\\\n]*(?:\\(?:\r\n|[\s\S])[^"\\\n]*)*"'
CHAR = r"'[^'\\\n]*(?:\\(?:\r\n|[\s\S])[^'\\\n]*)*'"
COMMENT = r"/\*[\s\S]*?(?:\*/|\Z)|//[^\\\n]*(?:\\(?:[ \t\f\v]*\r?\n|[\s\S])[^\\\n]*)*"
# A raw string of C++, and of C with GNU extensions; the name of its group lets it stand in a pattern once.
RAW = r'(?<![\w$])(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\([\s\S]*?\)(?P=delimiter)"'

IDENT = pattern(r"[A-Za-z_$][\w$]*")
SPLICE = pattern(r"\\[ \t\f\v]*\r?\n")
# Directives about the loop behind them.
FOR_LOOPS = pattern(
    r"(?:#|%:)\s*pragma\s+(?:(?:omp|acc)\s+(?:\w+\s+)*?(?:for|simd|loop|distribute)\b"
    r"|GCC\s+(?:ivdep|unroll|novector)\b|clang\s+loop\b|(?:ivdep|unroll|nounroll|simd|vector)\b)"
)

# In preprocessed text a line that starts with `#` and a number is a marker, any other is a pragma.
MARKER = pattern(r'^#(?:[ \t]*line)?[ \t]*(\d+)(?:[ \t]+"([^"\\\n]*(?:\\.[^"\\\n]*)*)")?([ \t\d]*)$', re.M)

_COMMENT_OR_LITERAL = pattern(f"(?P<comment>{COMMENT})|{RAW}|{STRING}|{CHAR}")
_NOT_SPACE = pattern(r"[^\s]")
_MARKER_OR_INK = pattern(r"^(#[ \t]*(?:line[ \t]*)?\d[^\n]*)|[^\s]", re.M)
_SEPARATOR = pattern(r"'(?<=[0-9a-fA-F]')(?=[0-9a-fA-F])")
_SEPARATED = pattern(r"(?<![\w'\"])[0-9][\w.]*(?:'[0-9a-fA-F]\w*)+")
_HASH_LINE = pattern(r"\n[ \t]*#[^\n]*")
_QUOTED = pattern(rf"{STRING}|{CHAR}")
_NESTING = pattern(rf"[()\[\]{{}}]|^[ \t]*#[^\n]*|{STRING}|{CHAR}", re.M)

# A directive runs to the end of its logical line; a comment that starts on it may run further.
DIRECTIVES = re.compile(
    rf"^(?P<indent>[ \t\f\v]*)(?P<directive>(?:\#|%:)(?:{COMMENT}|{STRING}|\\[ \t\f\v]*\r?\n|[^\n])*)"
    rf"|{COMMENT}|{RAW}|{STRING}|{CHAR}",
    re.M,
)

# Words of C, and macros of <iso646.h>, which no generated name may be.
_WORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq"""
KEYWORDS = frozenset(_WORDS.split())

def blank(text: str) -> str:
    """Spaces for everything that is not white space."""
    return _NOT_SPACE.sub(" ", text)


def blank_code(text: str) -> str:
    """As `blank`, but line markers survive, since what follows the blanked text still needs them."""
    return _MARKER_OR_INK.sub(lambda m: m.group(1) or " ", text)


def blank_comments(text: str) -> str:
    """The text with its comments turned into spaces, newlines kept."""
    return _COMMENT_OR_LITERAL.sub(lambda m: blank(m.group()) if m.group("comment") else m.group(), text)


def without_separators(text: str) -> str:
    """Numbers without C23's digit separators, padded; a lone quote would look like a character constant."""
    if not _SEPARATOR.search(text):
        return text
    return _SEPARATED.sub(lambda m: m.group().replace("'", "").ljust(len(m.group())), text)


def code_only(text: str) -> str:
    """Preprocessed text without line markers, pragmas, strings and character constants; positions are lost."""
    text = _HASH_LINE.sub("", "\n" + text) if "#" in text else text
    return _QUOTED.sub("0", text) if '"' in text or "'" in text else text


def identifiers(text: str) -> frozenset[str]:
    """Every word of preprocessed text, keywords included."""
    return frozenset(IDENT.findall(code_only(text)))


def closing(text: str, opening: int, end: int | None = None) -> int:
    """Offset just after the bracket that closes the one at `opening`; -1 when there is none before `end`."""
    depth = 0
    for match in _NESTING.finditer(text, opening, len(text) if end is None else end):
        char = match.group()
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                return match.end()
    return -1
