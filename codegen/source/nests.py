"""Finds the loop nests of a source file, for `--auto` and `scan`; and the parameters of static functions that get the
same small number in every call (`constant_parameters`).

The search is textual, as that for marked regions is: words and brackets of the user's own text. It only proposes spans;
the parser sees exactly the same spans, and whatever it cannot read as a nest is refused there.
"""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from codegen.record import record
from codegen.source.layout.lexis import CHAR, COMMENT, RAW, SPLICE, STRING, blank_comments

_TOKEN = re.compile(
    rf"(?P<skip>{COMMENT}|{RAW}|{STRING}|{CHAR})"
    rf"|^[ \t\f\v]*(?P<directive>(?:\#|%:)(?:{COMMENT}|{STRING}|\\\r?\n|[^\n])*)"
    r"|(?P<word>[A-Za-z_$][\w$]*)|\d[\w.]*|(?P<sign>[^\s\w])",
    re.M,
)
_PRAGMA = re.compile(r"(?:#|%:)\s*pragma\s+(\w+)")
_CONDITION = re.compile(r"(?:#|%:)\s*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b")
_CLOSED = {"(": ")", "{": "}", "[": "]"}
_HEADED = frozenset({"for", "while", "switch"})
_BEFORE_LOOP = frozenset({"GCC", "clang", "ivdep", "unroll", "nounroll", "simd", "vector", "loop", "omp", "acc"})
_SHARED = frozenset({"omp", "acc"})
_SMALL = 64  # larger numbers make no loop that compilers would write out
_ATTRIBUTES = frozenset({"__attribute__", "__attribute", "__declspec", "_Alignas", "__asm__"})


class Token(NamedTuple):
    """A word, a sign, a whole directive or, as `"`, a literal; comments are left out."""

    text: str
    begin: int
    end: int

    @property
    def is_directive(self) -> bool:
        return self.text[0] in "#%" and len(self.text) > 1


@record
class SourceNest:
    """A `for` with all inside it, and hints for compilers before it: text[begin:end].

    depth      how many loops are inside each other, at most
    shared     it has directives that share out its iterations
    split      a conditional of the preprocessor begins or ends within it
    inner      the outermost nests inside its body
    """

    begin: int
    end: int
    line: int
    last_line: int
    depth: int
    function: str
    shared: bool = False
    split: bool = False
    inner: tuple[SourceNest, ...] = ()


def find_nests(text: str) -> tuple[SourceNest, ...]:
    """The outermost nests of all functions, in order."""
    return TokenFinder(text).nests()


class TokenFinder:
    """The tokens of a file, and what is found by stepping through them. Positions are indices of tokens."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.function = ""

    def nests(self) -> tuple[SourceNest, ...]:
        found: list[SourceNest] = []
        at = level = 0
        levels: list[int] = []  # of braces, where the conditionals begin that are open here
        while at < len(self.tokens):
            word = self.tokens[at].text
            if word == "for" and level > 0:
                found.append(self.nest(at, self.function))
                at = self.after_statement(at)
                continue
            if word == "{" and level == 0:
                self.function = self.name_before(at)
            level = _level(self.tokens[at], level, levels)
            at = self.after_group(at) if word in ("(", "[") else at + 1
        return tuple(found)

    def nest(self, at: int, function: str) -> SourceNest:
        first, end = self.first_of(at), self.after_statement(at)
        inner = self.inside(self.after_group(at + 1), end, function)
        begin, last = self.tokens[first].begin, self.tokens[end - 1]
        inside = [t.text for t in self.tokens[first:end] if t.is_directive]
        return SourceNest(
            begin, last.end, self.line(begin), self.line(last.end), 1 + max((n.depth for n in inner), default=0),
            function, any(_pragma(d) in _SHARED for d in inside), _unbalanced(inside), inner,
        )  # fmt: skip

    def inside(self, at: int, end: int, function: str) -> tuple[SourceNest, ...]:
        """The outermost nests among some tokens."""
        found: list[SourceNest] = []
        while at < end:
            if self.tokens[at].text == "for":
                found.append(self.nest(at, function))
                at = self.after_statement(at)
            else:
                at = self.after_group(at) if self.tokens[at].text in ("(", "[") else at + 1
        return tuple(found)

    def line(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def after_group(self, at: int) -> int:
        """Behind the bracket that closes the one at `at`; behind the token itself where it is none."""
        depth = 0
        opened = self.tokens[at].text if at < len(self.tokens) else ""
        closed = _CLOSED.get(opened)
        if closed is None:
            return min(at + 1, len(self.tokens))
        for k in range(at, len(self.tokens)):
            depth += (self.tokens[k].text == opened) - (self.tokens[k].text == closed)
            if depth == 0:
                return k + 1
        return len(self.tokens)

    def after_statement(self, at: int) -> int:
        """Behind the statement that begins at `at`."""
        while at < len(self.tokens) and (self.tokens[at].is_directive or self.tokens[at].text in _HEADED):
            at = at + 1 if self.tokens[at].is_directive else self.after_group(at + 1)
        if at >= len(self.tokens):
            return len(self.tokens)
        word = self.tokens[at].text
        if word == "{":
            return self.after_group(at)
        if word == "if":
            end = self.after_statement(self.after_group(at + 1))
            other = self.past_directives(end)
            is_else = other < len(self.tokens) and self.tokens[other].text == "else"
            return self.after_statement(other + 1) if is_else else end
        if word == "do":
            return self.after_statement(self.after_statement(at + 1) + 1)
        while at < len(self.tokens) and self.tokens[at].text != ";":
            if self.tokens[at].text == "}":  # no statement: the end of the block around it
                return at
            at = self.after_group(at)
        return min(at + 1, len(self.tokens))

    def past_directives(self, at: int) -> int:
        while at < len(self.tokens) and self.tokens[at].is_directive:
            at += 1
        return at

    def first_of(self, at: int) -> int:
        """Where the statement with the `for` at `at` begins: with pragmas for it, and macros, which may be some."""
        while at > 0:
            before = self.tokens[at - 1]
            if before.is_directive and _pragma(before.text) in _BEFORE_LOOP:
                at -= 1
            elif before.text == ")" and self.word_before(at - 1) not in ("if", *_HEADED, ""):
                at = self.opening(at - 1) - 1
            elif _is_word(before.text) and before.text not in ("else", "do"):
                at -= 1
            else:
                return at
        return at

    def opening(self, at: int) -> int:
        """The bracket that the one at `at` closes."""
        depth = 0
        for k in range(at, -1, -1):
            depth += (self.tokens[k].text == ")") - (self.tokens[k].text == "(")
            if depth == 0:
                return k
        return 0

    def word_before(self, closing: int) -> str:
        """The word in front of a group in parentheses, which ends at `closing`."""
        opening = self.opening(closing)
        word = self.tokens[opening - 1].text if opening > 0 else ""
        return word if _is_word(word) else ""

    def name_before(self, brace: int) -> str:
        """The function whose body begins at `brace`. Behind its parameters come the brace, attributes or, in the old
        style, declarations of them."""
        at = brace - 1
        while at >= 0 and self.tokens[at].text not in ("}", "{") and not self.tokens[at].is_directive:
            if self.tokens[at].text == ")":
                word, behind = self.word_before(at), self.tokens[at + 1].text
                if word and word not in _ATTRIBUTES and (behind == "{" or _is_word(behind)):
                    return word
                at = self.opening(at)
            at -= 1
        return ""


def tokens_of(text: str) -> list[Token]:
    found: list[Token] = []
    for m in _TOKEN.finditer(text):
        if m["skip"] is not None:
            if m["skip"][0] in "\"'":
                found.append(Token('"', m.start(), m.end()))
        elif m["directive"] is not None:
            clean = blank_comments(SPLICE.sub(" ", m["directive"]))
            found.append(Token(clean if len(clean) > 1 else "# ", m.start(), m.end()))
        else:
            found.append(Token(m.group(), m.start(), m.end()))
    return found


def _level(token: Token, level: int, levels: list[int]) -> int:
    """How many braces are open behind a token; each branch of a conditional begins with as many as its first."""
    if token.is_directive:
        m = _CONDITION.match(token.text)
        kind = m[1] if m else ""
        if kind in ("if", "ifdef", "ifndef"):
            levels.append(level)
        elif kind == "endif" and levels:
            levels.pop()
        elif kind and levels:
            return levels[-1]
        return level
    return max(0, level + (token.text == "{") - (token.text == "}"))


def _is_word(text: str) -> bool:
    return text[:1].isalpha() or text[:1] in ("_", "$")


def _pragma(directive: str) -> str:
    m = _PRAGMA.match(directive)
    return m[1] if m else ""


def _unbalanced(directives: Sequence[str]) -> bool:
    """Do conditionals begin or end elsewhere?"""
    depth = 0
    for d in directives:
        m = _CONDITION.match(d)
        kind = m[1] if m else ""
        if kind and not kind.startswith(("if", "end")) and depth == 0:
            return True
        depth += kind in ("if", "ifdef", "ifndef")
        depth -= kind == "endif"
        if depth < 0:
            return True
    return depth != 0


def constant_parameters(text: str) -> Mapping[str, Mapping[str, int]]:
    """By function that only its own file can call, the parameters that get the same small number in every call.

    Compilers put such numbers in place of the parameters, and write short loops out. What is found is a proposal, which
    generated code tests when it runs.
    """
    finder = TokenFinder(text)
    static = dict(_definitions(finder))
    calls: dict[str, list[Sequence[str]]] = {name: [] for name in static}
    level = 0
    for at, token in enumerate(finder.tokens):
        level += (token.text == "{") - (token.text == "}")
        if level and token.text in static:  # outside of functions it is declared
            calls[token.text].append(_pieces(finder, at + 1))
    found = {name: _same(parameters, calls[name]) for name, parameters in static.items()}
    return {name: numbers for name, numbers in found.items() if numbers}


def _definitions(finder: TokenFinder) -> Iterator[tuple[str, Sequence[str]]]:
    """The static functions, with the names of their parameters."""
    words = [t.text for t in finder.tokens]
    level = start = 0
    for at, word in enumerate(words):
        if word == "{" and level == 0 and at and words[at - 1] == ")":
            opening = finder.opening(at - 1)
            if "static" in words[start:opening]:
                yield words[opening - 1], [p.rpartition(" ")[2] for p in _pieces(finder, opening)]
        level += (word == "{") - (word == "}")
        if level == 0 and (word in (";", "}") or finder.tokens[at].is_directive):
            start = at + 1


def _pieces(finder: TokenFinder, opening: int) -> Sequence[str]:
    """What commas separate in a group in parentheses, words with spaces between them; nothing where there is none."""
    if opening >= len(finder.tokens) or finder.tokens[opening].text != "(":
        return ()
    pieces, at, end = [""], opening + 1, finder.after_group(opening) - 1
    while at < end:
        after = finder.after_group(at)
        if finder.tokens[at].text == ",":
            pieces.append("")
        else:
            pieces[-1] += " ".join(["", *(t.text for t in finder.tokens[at:after])])
        at = after
    return [p.strip() for p in pieces]


def _same(parameters: Sequence[str], calls: Sequence[Sequence[str]]) -> dict[str, int]:
    """Those for which all calls have one number. A mention without arguments may become any call."""
    if not calls or any(len(c) != len(parameters) for c in calls):
        return {}
    out = {}
    for name, given in zip(parameters, zip(*calls, strict=True), strict=True):
        if len(set(given)) == 1 and given[0].isdigit() and int(given[0]) <= _SMALL and name.isidentifier():
            out[name] = int(given[0])
    return out
