"""Outlines repeated parts of generated text into macros: long values, and runs of statements.

A macro's body is the text of its first use, and its parameters are the names that differ elsewhere, so that a reader
finds the statements as they would stand there. Compilers see the tokens that they would see without macros: the text is
expanded again in here and compared with what it was made of, which is what the proofs have read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from codegen.record import record
from codegen.target.finish.alike import Substitution, Tokens, added_up, argument, tokens
from codegen.target.finish.links import Links
from codegen.target.finish.repeats import Repeated, best_run, repeated_values, value_of
from codegen.target.finish.rows import is_statement, side_by_side
from codegen.target.finish.wrap import WIDTH, comment_open, lines_of

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_DEFINED = re.compile(r"#define (\w+)\(([^()]*)\) ?((?:.*\\\n)*.*)\n")
_NAMED = 3  # statements that a macro is named after, at most
_LANES = re.compile(r"\b(?:TW|tw)_(?:[FIU]|INT|UINT|[fiu]|int|uint)\d+(?:[Xx](\d+)|[Vv]\b)")


@record
class OutlinedMacro:
    """A value, or statements without the last semicolon."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[str, ...]
    comment: str
    is_value: bool

    def call(self, names: Substitution) -> str:
        return f"{self.name}({', '.join(' '.join(argument(*names[p])) for p in self.parameters)})"

    def text(self) -> list[str]:
        head = f"#define {self.name}({', '.join(self.parameters)})"
        if self.is_value:
            return [self.comment, f"{head} ({self.body[0]})"]
        rows = side_by_side([f"  {line};" for line in self.body], width=WIDTH - 2)[0]
        return [self.comment, *(f"{line} \\" for line in (head, *rows[:-1])), rows[-1].removesuffix(";")]


def outlined(
    text: str, kept: Sequence[str] = (), links: Links = (), own: Iterable[int] = ()
) -> tuple[str, Links, frozenset[str]]:
    """The text with macros for what stands there again and again, the links in it, and the names of the macros. `kept`
    texts are the user's, and stay; so do the lines `own`."""
    outliner = _Outliner(text, kept, links, own)
    outliner.values()
    outliner.runs()
    if not outliner.macros:
        return text, links, frozenset()
    lines, where = outliner.result()
    made = "\n".join(lines)
    if not same_code(made, text):
        return text, links, frozenset()
    moved = tuple(sorted({(where[n], s) for n, s in links}))
    return made, moved, frozenset(m.name for m in outliner.macros)


def same_code(made: str, text: str) -> bool:
    """Whether a text with macros is another one to a compiler, but for integers that are added up in subscripts."""
    return added_up(_expanded(made)) == added_up(tokens(_COMMENT.sub("", text)))


def _expanded(text: str) -> Tokens:
    """The tokens without the macros that a text defines, as the preprocessor would have it."""
    macros: dict[str, tuple[Tokens, Tokens]] = {}
    for name, parameters, body in _DEFINED.findall(text):
        inner = tokens(body.replace("\\\n", "\n"))
        # A value in parentheses is all of what is assigned, and needs none there.
        macros[name] = (tokens(parameters)[::2], inner if body.startswith("\\") else inner[1:-1])
    rest = re.sub(rf"#undef (?:{'|'.join(macros)})(?:\n|\Z)", "", _DEFINED.sub("", text))
    return tuple(_replaced(tokens(_COMMENT.sub("", rest)), macros))


def _replaced(piece: Tokens, macros: Mapping[str, tuple[Tokens, Tokens]]) -> Iterator[str]:
    """The tokens with every call replaced; arguments are names with offsets."""
    behind = 0
    for at in [k for k, token in enumerate(piece) if token in macros]:
        if at < behind:
            continue
        parameters, body = macros[piece[at]]
        end = piece.index(")", at)
        given: list[list[str]] = [[]]
        for token in piece[at + 2 : end]:
            given += [[]] if token == "," else []
            given[-1] += [] if token == "," else [token]
        values = dict(zip(parameters, given, strict=False))
        yield from piece[behind:at]
        yield from _replaced(tuple(x for token in body for x in values.get(token, (token,))), macros)
        behind = end + 1
    yield from piece[behind:]


class _Outliner:
    """The lines of a text while parts of them become macros. `covered` ones went into the line of a call."""

    def __init__(self, text: str, kept: Sequence[str], links: Links, own: Iterable[int]) -> None:
        self.lines = text.split("\n")
        self.free = frozenset(_statements(self.lines)).difference(own, *(lines_of(text, part) for part in kept if part))
        self.owners: dict[int, set[str]] = {}
        for n, statement in links:
            self.owners.setdefault(n, set()).add(statement)
        self.words = set(re.findall(r"\w+", text))
        self.macros: list[OutlinedMacro] = []
        self.covered: dict[int, int] = {}

    def values(self) -> None:
        """Macros for long values."""
        for found in repeated_values(self.lines, self.free):
            macro = self._macro(found, (value_of(self.lines[found.uses[0].first]),), True)
            for use in found.uses:
                line = self.lines[use.first]
                self.lines[use.first] = line.replace(f" {value_of(line)};", f" {macro.call(use.names)};")

    def runs(self) -> None:
        """Macros for statements that follow each other, those that save most lines first."""
        while (found := best_run(self.lines, self.free - self.covered.keys())) is not None:
            first = found.uses[0].first
            body = tuple(line.strip().removesuffix(";") for line in self.lines[first : first + found.count])
            macro = self._macro(found, body, False)
            for use in found.uses:
                line = self.lines[use.first]
                self.lines[use.first] = f"{line[: len(line) - len(line.lstrip())]}{macro.call(use.names)};"
                self.covered.update((n, use.first) for n in range(use.first, use.first + found.count))

    def result(self) -> tuple[list[str], list[int]]:
        """All lines, the macros at the beginning of the block that the text is, or above the function; and for each old
        line its new one."""
        opened = next(n for n, line in enumerate(self.lines) if line.strip() == "{")
        closed = max(n for n, line in enumerate(self.lines) if line.strip() == "}")
        first, last = (opened + 1, closed) if self.lines[0].lstrip().startswith("/* tilewright") else (0, closed + 1)
        out: list[str] = []
        where: list[int] = []
        for n, line in enumerate([*self.lines, ""]):
            out += [x for m in self.macros for x in m.text()] if n == first else []
            out += [f"#undef {m.name}" for m in self.macros] if n == last else []
            gone = self.covered.get(n, n) != n
            where.append(len(out) - gone)
            out += [] if gone or n == len(self.lines) else [line]
        return out, where

    def _macro(self, found: Repeated, body: tuple[str, ...], is_value: bool) -> OutlinedMacro:
        """A macro that is named after what it carries out."""
        lines = {n for u in found.uses for n in range(u.first, u.first + found.count)}
        statements = sorted({s for n in lines for s in self.owners.get(n, ())}, key=lambda s: (len(s), s))
        lanes = _LANES.search("\n".join(body))
        named = statements if len(statements) <= _NAMED else [statements[0], "TO", statements[-1]]
        parts = ["TW", *(named or ["REGION"]), *([] if is_value and statements else ["VALUE" if is_value else "STEPS"])]
        stem = "_".join([*parts, *([f"X{lanes[1]}" if lanes[1] else "V"] if lanes else [])])
        name = next(n for k in range(1, 1000) if (n := stem if k == 1 else f"{stem}_{k}") not in self.words)
        self.words.add(name)
        what = ("A value" if is_value else "Steps") + (f" of {', '.join(statements)}" if statements else "")
        many = "" if not lanes else f", {lanes[1]} elements at once" if lanes[1] else ", a vector at once"
        comment = f"/* {what}{many}. */"
        self.macros.append(OutlinedMacro(name, found.names, body, comment, is_value))
        return self.macros[-1]


def _statements(lines: Sequence[str]) -> Iterator[int]:
    """Lines that hold one statement each, outside of comments and directives."""
    comment = macro = False
    for n, line in enumerate(lines):
        if not comment and not macro and is_statement(line):
            yield n
        comment, macro = comment_open(line, comment), line.endswith("\\")
