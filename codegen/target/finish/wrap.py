"""Wraps long lines of generated text.

Only white space changes, and a comment behind a long line may go above it: directives get a backslash, comments go on
under a star, code as `breaks.py` says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from codegen.target.finish.breaks import HANG, broken, cut, filled, placed

WIDTH = 120
_OPENING = re.compile(r"""/\*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""")


def wrap(text: str, kept: Sequence[str] = (), width: int = WIDTH) -> tuple[str, tuple[int, ...]]:
    """The text with long lines broken, and for each of its lines (counted from 0) the new one that it begins with.
    Lines of `kept` texts are the user's, and stay."""
    own = {line for part in kept if part for line in lines_of(text, part)}
    out: list[str] = []
    firsts: list[int] = []
    comment = macro = False
    spilled = ""  # the beginning of the next line: words of a comment that did not fit the last one
    for number, line in enumerate(text.split("\n")):
        firsts.append(len(out))
        if spilled:
            more, line = _poured(spilled, line)
            out += more
        goes_on, spilled = comment_open(line, comment), ""
        if len(line) <= width or number in own:
            out.append(line)
        elif comment or _is_comment(line):
            lines, spilled = _comment(line, width, goes_on)
            out += lines
        else:
            out += _directive(line, width) if macro or line.lstrip()[:1] == "#" else _code(line, width)
        macro = line.endswith("\\") and (macro or line.lstrip()[:1] == "#")
        comment = goes_on
    return "\n".join(out), tuple(firsts)


def wrapped(text: str, kept: Sequence[str] = ()) -> str:
    """The text alone."""
    return wrap(text, kept)[0]


def lines_of(text: str, part: str) -> Iterator[int]:
    """The lines that `part` stands on, each time it is there."""
    at = text.find(part)
    while at >= 0:
        first = text.count("\n", 0, at)
        yield from range(first, first + part.count("\n") + 1)
        at = text.find(part, at + len(part))


def comment_open(line: str, inside: bool) -> bool:
    """Whether a comment is open after the line."""
    if not inside and "/*" not in line:
        return False
    at = 0
    while True:
        if inside:
            at = line.find("*/", at) + 2
            if at == 1:
                return True
        found = _OPENING.search(line, at)
        if found is None:
            return False
        inside, at = found.group() == "/*", found.end()


def _is_comment(line: str) -> bool:
    """A comment from the first character to the last, or to the next line."""
    return line.lstrip().startswith("/*") and line.find("*/") in (-1, len(line) - 2)


def _comment(line: str, width: int, goes_on: bool) -> tuple[list[str], str]:
    """The lines of a comment; what does not fit begins the next line, if the comment goes on there."""
    start = re.match(r"\s*(?:/\*|\*(?!/))? *", line).group()  # type: ignore[union-attr]  # it matches everything
    under = start.replace("/*", " *")
    lines, words = [], re.split(r" (?!\*/$)", line[len(start) :])
    now = start + words[0]
    for k, word in enumerate(words[1:], 1):
        if len(now) + 1 + len(word) <= width:
            now += " " + word
            continue
        lines.append(now)
        if goes_on:
            return lines, under + " ".join(words[k:])
        now = under + word
    return [*lines, now], ""


def _poured(words: str, line: str) -> tuple[list[str], str]:
    """A line of a comment with what the one above had too much; on a line before it where a paragraph ends."""
    rest = re.sub(r"^\s*(?:\*(?!/))? *", "", line)
    return ([], f"{words} {rest}") if rest else ([words], line)


def _directive(line: str, width: int) -> list[str]:
    """A directive, or a line of a macro, goes on behind a backslash."""
    code, comment = _parted(line)
    if comment and line.lstrip()[:1] == "#" and not line.endswith("\\"):
        return [*_comment(comment, width, False)[0], *(_directive(code, width) if len(code) > width else [code])]
    own = line.endswith("\\")
    code = line[:-1].rstrip() if own else line
    start = len(code) - len(code.lstrip())
    code, places = code[start:], _clauses(code[start:])
    if len(places) > 0:
        lines = filled(cut(code, places), start, start + HANG, width - 2, 0)
        lines = [" " * start + lines[0], *lines[1:]]
    else:
        lines = placed(code, start, width - 2, 0)
    return [*(f"{x} \\" for x in lines[:-1]), lines[-1] + (" \\" if own else "")]


def _clauses(code: str) -> list[int]:
    """Where clauses of a pragma begin, words outside of brackets with a bracket behind them, or a macro's meaning."""
    defined = re.match(r"#\s*define \w+(?:\([^)]*\))? ", code)
    if defined:
        return [defined.end()]
    depth, out = 0, []
    for m in re.finditer(r"[(\[]|[)\]]|(?<= )[a-z_]+(?=\()", code if re.match(r"#\s*pragma\b", code) else ""):
        if m.group() in "([":
            depth += 1
        elif m.group() in ")]":
            depth -= 1
        elif depth == 0:
            out.append(m.start())
    return out


def _code(line: str, width: int) -> list[str]:
    """A line of C. Its comment stays behind it, or goes above it."""
    if "//" in line:
        return [line]  # to its end
    indent = line[: len(line) - len(line.lstrip())]
    code, comment = _parted(line.lstrip())
    lines = broken(code, len(indent), len(indent) + HANG, width, 0) if len(indent) + len(code) > width else [code]
    lines = [indent + lines[0], *(indent + x[len(indent) :] for x in lines[1:])]
    if not comment:
        return lines
    if len(lines) > 1 and len(lines[-1]) + 2 + len(comment) <= width:
        return [*lines[:-1], f"{lines[-1]}  {comment}"]
    return [*_comment(indent + comment, width, False)[0], *lines]


def _parted(code: str) -> tuple[str, str]:
    """A line and the comment at its end, if there is one."""
    found = re.fullmatch(r"(.*?\S)\s+(/\*(?:(?!\*/).)*\*/)", code)
    return (found[1], found[2]) if found and found[1].count('"') % 2 == 0 else (code, "")
