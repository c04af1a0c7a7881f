"""Compares the text as it stands in the file with the text that was proven: only layout and spelling may differ.
Returns the first difference, or the empty string; `broken_lines` also breaks the long lines of a text.

Calls for several numbers and macros for repeated parts are written out again as the C preprocessor does it, names are
spelled as the user chose, and the two are compared token by token. Directives stay on lines of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from codegen.target.finish.alike import added_up
from codegen.target.finish.extremes import EXTREMES
from codegen.target.finish.names import DEFAULT, NameSpelling
from codegen.target.finish.wrap import wrapped
from codegen.verify.choices.variants import expanded, tokens
from codegen.verify.text.read import Unread

_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*$", re.M)
_DEFINE = re.compile(r"^#define ((\w+)\([^()\n]*\)) ?([^\n]*)\n", re.M)
_OURS = re.compile(r"(tw|TW)_\w+")
_COMMENT = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.S)
_END = "\0"  # of a line that is a directive


def wrong_finish(proven: str, text: str, names: NameSpelling) -> str:
    """What is other in a text than in the one that was proven; empty where nothing is."""
    try:
        wanted = _spelled(tokens(_one_line_each(proven)), names)
        joined = text.replace("\\\n", " ")
        macros = _defined(joined, wanted)
        found = expanded(_one_line_each(_without(joined, [name for name, _, _ in macros])), [
            *((head, body) for _, head, body in macros), *_extremes(names)])  # fmt: skip
    except Unread as problem:
        return str(problem)
    if macros:
        wanted, found = (list(added_up(tuple(_bare(x)))) for x in (wanted, found))
    if wanted != found:
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(wanted, found, strict=False))
        at = max(sum(1 for _ in alike) - 3, 0)
        return f"`{' '.join(found[at : at + 6])}` was `{' '.join(wanted[at : at + 6])}`"
    return ""


def broken_lines(text: str, kept: Sequence[str] = ()) -> str:
    """A text with its long lines broken, but for those of `kept` texts, and nothing else. Raises Unread."""
    found = wrapped(text, kept)
    problem = wrong_layout(text, found)
    if problem:
        raise Unread(problem)
    return found


def wrong_layout(text: str, finished: str) -> str:
    """What is other in a text whose long lines were broken; empty where nothing is. Of comments nothing is asked."""
    lines = _code_lines(finished)
    at = 0
    for line in _code_lines(text):
        if lines[at : at + 1] == [line]:
            at += 1
            continue
        words, found = tokens(line), tuple[str, ...]()
        while at < len(lines) and len(found) < (1 if line.startswith("#") else len(words)):
            found += tokens(lines[at])
            at += 1
        if found != words:
            return f"`{' '.join(found)}` was `{line}`"
    return f"`{lines[at]}` was added" if at < len(lines) else ""


def _code_lines(text: str) -> list[str]:
    """Lines without what stands around their code, those of a directive as one."""
    bare = _COMMENT.sub(lambda m: m[0] if m[0][0] in "\"'" else " ", text.replace("\\\n", " "))
    return [line for line in map(str.strip, bare.split("\n")) if line]


def _one_line_each(text: str) -> str:
    """A text whose directives end with a sign of their own."""
    return _DIRECTIVE.sub(lambda m: f"{m[0]} {_END}", text.replace("\\\n", " "))


def _spelled(words: Sequence[str], names: NameSpelling) -> list[str]:
    """Generated names as the user chose them: each has one of its own, which was none before."""
    if names.prefix == DEFAULT:
        return list(words)
    given = {w: _word(w, names.prefix) for w in words if _OURS.fullmatch(w) and w not in names.kept}
    taken = set(words) - set(given)
    if len(set(given.values())) != len(given) or taken & set(given.values()):
        raise Unread("a name that is chosen is another one's")
    return [given.get(w, w) for w in words]


def _word(word: str, prefix: str) -> str:
    return (prefix.upper() if word.startswith("TW") else prefix) + word[2:]


def _extremes(names: NameSpelling) -> list[tuple[str, str]]:
    """Macros for the least or greatest of several numbers, as nested calls of two."""
    out = []
    for name in sorted(EXTREMES):
        two, given = _word(name[:-1], names.prefix), "abcdefgh"[: int(name[-1])]
        body = given[0]
        for x in given[1:]:
            body = f"{two}({body}, {x})"
        out.append((f"{_word(name, names.prefix)}({', '.join(given)})", body))
    return out


def _defined(text: str, wanted: Sequence[str]) -> list[tuple[str, str, str]]:
    """The macros of a text by name, head and body; each is a new name, and is undefined in the end."""
    found = [(m[2], m[1], m[3]) for m in _DEFINE.finditer(text)]
    before = set(wanted) if found else set()
    for name, _, _ in found:
        if name in before or text.count(f"#undef {name}\n") != 1:
            raise Unread(f"`{name}` is no macro of its own")
    return found


def _without(text: str, macros: Sequence[str]) -> str:
    """The text without the lines that define macros."""
    if not macros:
        return text
    return re.sub(rf"^#undef (?:{'|'.join(macros)})\n", "", _DEFINE.sub("", text), flags=re.M)


def _bare(words: Sequence[str]) -> list[str]:
    """Without parentheses around all that is assigned."""
    out = list(words)
    opened: list[int] = []
    closing: dict[int, int] = {}
    for k, word in enumerate(out):
        if word == "(":
            opened.append(k)
        elif word == ")" and opened:
            closing[opened.pop()] = k
    gone: set[int] = set()
    for first, last in closing.items():
        if first and _assigns(out, first - 1) and out[last + 1 : last + 2] == [";"]:
            while closing.get(first) == last:  # a macro adds a pair to that of its value
                gone |= {first, last}
                first, last = first + 1, last - 1
    return [w for k, w in enumerate(out) if k not in gone]


def _assigns(words: Sequence[str], at: int) -> bool:
    """Is this the sign of an assignment? Signs of comparisons end in the same word."""
    return words[at] == "=" and words[at - 1 : at] not in (["="], ["!"], ["<"], [">"])
