"""Parameters that get the same small number in every call of a function which only its own file can call.

Compilers put such numbers in place of the parameters, and write short loops out. The search is textual: what it finds
is a proposal, which generated code tests when it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from codegen.source.nests import TokenFinder

MOST = 64  # larger numbers make no loop that compilers would write out


def constant_parameters(text: str) -> Mapping[str, Mapping[str, int]]:
    """By function of a file, the parameters that are always the same number."""
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
        if len(set(given)) == 1 and given[0].isdigit() and int(given[0]) <= MOST and name.isidentifier():
            out[name] = int(given[0])
    return out
