"""Parses the preprocessor conditionals inside a region into branches, prints a probe with a word in each, and reads
from its preprocessed form which branches are taken."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from codegen.record import record
from codegen.source.layout.lexis import SPLICE, blank, blank_comments
from codegen.source.regions import DIRECTIVES

_OPENS, _GOES_ON = ("if", "ifdef", "ifndef"), ("elif", "elifdef", "elifndef", "else")


@record
class Branch:
    """One branch: its directive on one line, where its lines begin and end in the text, and conditionals in it."""

    directive: str
    begin: int
    end: int
    groups: tuple[ConditionalGroup, ...] = ()


@record
class ConditionalGroup:
    """From `#if` to `#endif`."""

    branches: tuple[Branch, ...]


def groups_of(text: str) -> tuple[ConditionalGroup, ...]:
    """The conditionals of a text, outermost ones; none where they do not pair up."""
    found = _directives(text)
    groups, rest = _groups(found, 0)
    return groups if rest == len(found) else ()


def defines(text: str) -> bool:
    """Whether the text itself defines macros, or takes definitions back."""
    return any(re.match(r"#(define|undef)\b", d) for d, _, _ in _directives(text))


def conditions(text: str) -> str:
    """What the conditionals of a text ask for besides whether something is defined, a line each."""
    found = (d for d, _, _ in _directives(text) if _word(d) in ("if", "elif"))
    return "\n".join(re.sub(r"#\w+|defined ?\(? ?\w+ ?\)?", " ", d) for d in found)


def fixed(text: str, before: int) -> frozenset[str]:
    """The names that a file defines before a place, outside of all conditionals and nowhere inside one: no option
    changes them."""
    depth = 0
    found: tuple[set[str], set[str]] = (set(), set())
    for directive, at, _ in _directives(text):
        if at >= before:
            break
        word = _word(directive)
        depth += (word in _OPENS) - (word == "endif")
        if word in ("define", "undef"):
            found[depth > 0].update(re.findall(r"^#\w+ ([A-Za-z_$][\w$]*)", directive))
    return frozenset(found[0] - found[1])


@lru_cache(maxsize=4)  # every region of a file asks
def _directives(text: str) -> tuple[tuple[str, int, int], ...]:
    """Directives on one line each, without white space after `#`, and where they begin and end."""
    found = []
    for m in DIRECTIVES.finditer(text):
        if m.group("directive") is not None:
            line = " ".join(blank_comments(SPLICE.sub(" ", m.group("directive"))).split())
            found.append((re.sub(r"^(?:#|%:)\s*", "#", line), m.start("directive"), m.end()))
    return tuple(found)


def _word(directive: str) -> str:
    return re.match(r"#(\w*)", directive)[1]  # type: ignore[index]


def _groups(found: Sequence[tuple[str, int, int]], at: int) -> tuple[tuple[ConditionalGroup, ...], int]:
    """The conditionals from a directive on to the one that closes the branch they are in, and its number."""
    groups: list[ConditionalGroup] = []
    while at < len(found):
        word = _word(found[at][0])
        if word in _GOES_ON or word == "endif":
            break
        if word not in _OPENS:
            at += 1
            continue
        branches: list[Branch] = []
        while at < len(found) and _word(found[at][0]) != "endif":
            directive, _, begin = found[at]
            inner, at = _groups(found, at + 1)
            if at < len(found):
                branches.append(Branch(directive, begin, found[at][1], inner))
        if at == len(found):
            return (), -1
        groups.append(ConditionalGroup(tuple(branches)))
        at += 1
    return tuple(groups), at


def probe(groups: Sequence[ConditionalGroup]) -> str:
    """Directives alone, with a word in each branch that tells it from the others, for `taken`."""
    return printed(groups, lambda b: f"tw_branch_{b.begin}\n")


def taken(groups: Sequence[ConditionalGroup], out: str) -> frozenset[int]:
    """The branches whose words have come out of the preprocessor, by where they begin."""
    return frozenset(int(n) for n in re.findall(r"^tw_branch_(\d+)$", out, re.M))


def printed(groups: Sequence[ConditionalGroup], inside: Callable[[Branch], str]) -> str:
    """The directives, with text after each that opens a branch, and what is in it."""
    out = ""
    for g in groups:
        for b in g.branches:
            out += f"{b.directive}\n{inside(b)}{printed(b.groups, inside)}"
        out += "#endif\n"
    return out


def directives_in(groups: Sequence[ConditionalGroup]) -> list[str]:
    """The directives that open branches."""
    return [d for g in groups for b in g.branches for d in (b.directive, *directives_in(b.groups))]


def active(text: str, groups: Sequence[ConditionalGroup], seen: frozenset[int]) -> str:
    """The text with the branches that were not taken blanked."""
    for g in groups:
        for b in g.branches:
            if b.begin in seen:
                text = active(text, b.groups, seen)
            else:
                text = text[: b.begin] + blank(text[b.begin : b.end]) + text[b.end :]
    return text


def matters(text: str, group: ConditionalGroup) -> bool:
    """Whether it is of any account which branch is taken: not for a plain 0 or 1, nor for pragmas of others alone."""
    first, *rest = (b.directive for b in group.branches)
    if first == "#if 1" or (first == "#if 0" and rest in ([], ["#else"])):
        return False
    lines = (blank_comments(SPLICE.sub(" ", text[b.begin : b.end])).split("\n") for b in group.branches)
    return any(x.strip() and not re.match(r"\s*(?:#|%:)\s*(?:pragma|if|ifdef|ifndef|elif|else|endif)\b", x)
               for each in lines for x in each)  # fmt: skip
