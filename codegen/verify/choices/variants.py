"""Checks one text for several machines: with its macros expanded for a machine it has to be the text that was proven
for that machine, and the macros ahead of it have to be chosen so. Returns what differs, or the empty string.

Macros are replaced as the C preprocessor does it, and the result is compared token by token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from codegen.verify.text.printed import product_blocks
from codegen.verify.text.read import Unread

if TYPE_CHECKING:
    from codegen.target.emit import RegionText
    from codegen.target.portable import TextVariant
    from codegen.target.product.view import ProductView

_TOKEN = re.compile(
    r'\s*(?:/\*.*?\*/|//[^\n]*|(\w+|[^\w\s"\'/.]|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|\.\.\.|\S))', re.S
)
_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_HEAD = re.compile(r"(\w+)(?:\((.*)\))?")
Macro = tuple[tuple[str, ...] | None, tuple[str, ...]]  # parameters, of a macro that has any, and the body


def wrong_variants(text: str, variants: Sequence[TextVariant], proven: Sequence[str]) -> str:
    """For which machine the common text is another one than was proven for it; empty where there is none. Both lists
    have the same order."""
    if len(variants) != len(proven) or len({v.when for v in variants}) != len(variants) or variants[-1].when:
        return "there is not one text for each machine"
    first = variants[0].when
    for k, (v, own) in enumerate(zip(variants, proven, strict=True)):
        try:
            same = tuple(expanded(_where(text, first, not k), v.macros)) == tokens(own)
        except Unread as problem:
            return str(problem)
        if not same:
            return f"the common text is another one where {v.when or 'no condition holds'}"
    return ""


def _where(text: str, when: str, holds: bool) -> str:
    """What compilers see of a text where a condition of the preprocessor holds, or does not; other directives stay."""
    out = list[str]()
    around = list[bool | None]()  # of each condition around, whether what follows is seen; None where it is another one
    for line in text.split("\n"):
        word = line.strip().partition(" ")[0]
        ours = word == "#if" and line.strip() == f"#if {when}"
        if word in ("#if", "#ifdef", "#ifndef"):
            around.append(holds if ours else None)
        elif word in ("#else", "#elif", "#endif"):
            if not around or (word == "#elif" and around[-1] is not None):
                raise Unread(f"{word} without a condition")
            ours = around[-1] is not None
            if word == "#endif":
                around.pop()
            elif ours:
                around[-1] = not around[-1]
        if not ours and False not in around:
            out.append(line)
    return "\n".join(out)


def wrong_surroundings(base: RegionText, texts: Sequence[RegionText]) -> str:
    """In which text something around products is other than in the base, or a product that has to do something else;
    empty where there is none. What was proven of the loops of the base holds for all of them then."""
    cut = _around_products(base.plain)
    for x in texts:
        if x is base:
            continue
        if _around_products(x.plain) != cut:
            return "loops around products are others"
        if x.nests != base.nests or x.matvecs != base.matvecs or not all(map(_same_place, base.products, x.products)):
            return "products were proven for other places"
    return ""


def _around_products(text: str) -> str:
    """The text without comments and what products are made of; their plain nests stay, and so do braces behind them."""
    for block in product_blocks(text):
        text = text.replace(block[: block.rindex("}", 0, -1)].rstrip(), "", 1)
    return _COMMENT.sub("", text)


def _same_place(a: ProductView, b: ProductView) -> bool:
    """Do two products do the same work, each in its own blocks? Sizes below which few rows or columns are asked for are
    those of the first, or are not asked for."""
    few = all(y in (None, x) for x, y in zip(a.wanted.few, b.wanted.few, strict=True))
    return few and a.exact == b.exact and replace(b.wanted, how=a.wanted.how, few=a.wanted.few) == a.wanted


def wrong_choice(text: str, variants: Sequence[TextVariant]) -> str:
    """Which macro has another value, on some machine, than was proven with; empty where none has. `text` is what stands
    ahead of the regions."""
    whens = [v.when for v in variants]
    directives = "\n".join(x for x in text.replace("\\\n", " ").split("\n") if x.lstrip()[:1] == "#")
    for k, v in enumerate(variants):
        try:
            known = _defined(directives, whens, k)
            wrong = next((n for n, x in v.macros if tuple(expanded(n, _reached(n, known))) != tokens(x)), "")
        except Unread as problem:
            return str(problem)
        if wrong:
            return f"`{wrong}` is another one where {v.when or 'no condition holds'}"
    return ""


def _defined(text: str, whens: Sequence[str], chosen: int) -> dict[str, list[tuple[str, str]]]:
    """Heads and bodies of macros by name, where one of the conditions is the first that holds. Those behind it may hold
    or not, and so may all others; what they decide is not taken to be defined."""
    found: dict[str, list[tuple[str, str]]] = {}
    for unsure, line in lines_where(text, whens, chosen):
        if not unsure and (macro := macro_in(line)) is not None:
            found.setdefault(macro[0], []).append(macro[1])
    return found


def macro_in(line: str) -> tuple[str, tuple[str, str]] | None:
    """The name of the macro that a line defines, with its head and body."""
    head = re.match(r"\s*#define ((\w+)(?:\([^()]*\))?)", line)
    return None if head is None else (head[2], (head[1], line[head.end() :].strip()))


def lines_where(text: str, whens: Sequence[str], chosen: int) -> Iterator[tuple[tuple[str, ...], str]]:
    """The lines that compilers may see where one of the conditions is the first that holds, those that it is continued
    on in one, each with the conditions around it of which that is not known."""
    # Of each condition around: whether this branch holds, whether one before does, and how it reads so far.
    around: list[tuple[bool | None, bool | None, str]] = []
    for line in text.replace("\\\n", " ").split("\n"):
        word, _, rest = line.strip().partition(" ")
        if word in ("#if", "#ifdef", "#ifndef"):
            around.append((_holds(word, rest, whens, chosen), False, line))
        elif word in ("#elif", "#else") and around:
            mine, before, label = around.pop()
            done = True if before or mine else None if before is None or mine is None else False
            holds = _holds("#if", rest, whens, chosen) if word == "#elif" else True
            around.append((False if done else None if done is None else holds, done, f"{label} {line}"))
        elif word == "#endif" and around:
            around.pop()
        elif all(mine is not False for mine, _, _ in around):
            yield tuple(label for mine, _, label in around if mine is None), line


def _holds(word: str, cond: str, whens: Sequence[str], chosen: int) -> bool | None:
    """None where that is not known."""
    at = whens.index(cond) if word == "#if" and cond in whens else -1
    return None if at < 0 or at > chosen else at == chosen


def _reached(name: str, known: Mapping[str, Sequence[tuple[str, str]]]) -> list[tuple[str, str]]:
    """The macros that stand for a name, and for what it stands for, and so on."""
    todo, found = [name], dict[str, tuple[str, str]]()
    while todo:
        n = todo.pop()
        if n in known and n not in found:
            if len(known[n]) != 1:
                raise Unread(f"`{n}` is defined twice")
            found[n] = known[n][0]
            todo += tokens(found[n][1])
    return list(found.values())


def expanded(text: str, macros: Sequence[tuple[str, str]]) -> list[str]:
    """The tokens of a text, with macros replaced. Heads are names, or names with parameters."""
    known: dict[str, Macro] = {}
    for head, body in macros:
        m = _HEAD.fullmatch(head)
        if m is None or m[1] in known:
            raise Unread(f"`{head}` is no macro, or defined twice")
        known[m[1]] = None if m[2] is None else tuple(x.strip() for x in m[2].split(",")), tokens(body)
    return _expanded(tokens(text), known)


@lru_cache(maxsize=512)
def tokens(text: str) -> tuple[str, ...]:
    """Without comments and white space. Kept for the last texts: every machine asks for the common one and macros."""
    return tuple([t for t in _TOKEN.findall(text) if t])


def _expanded(words: Sequence[str], known: Mapping[str, Macro]) -> list[str]:
    out: list[str] = []
    at = 0
    for place in [k for k, word in enumerate(words) if word in known]:
        if place < at:  # an argument of the macro before
            continue
        out += words[at:place]
        word, at = words[place], place + 1
        parameters, body = known[word]
        given: dict[str, list[str]] = {}
        if parameters is not None:
            if at >= len(words) or words[at] != "(":
                out.append(word)
                continue
            given, at = _arguments(words, at + 1, parameters)
        inner = {n: m for n, m in known.items() if n != word}  # no macro is replaced within itself
        plain = [x for w in body for x in (_expanded(given[w], known) if w in given else [w])]
        out += _expanded(plain, inner)
    return [*out, *words[at:]]


def _arguments(words: Sequence[str], at: int, names: Sequence[str]) -> tuple[dict[str, list[str]], int]:
    """What stands for each parameter, and where the parentheses end. The last one may take all that is left."""
    rest, depth = names[-1] == "...", 0
    given: list[list[str]] = [[]]
    while at < len(words):
        word = words[at]
        at += 1
        if word == ")" and not depth:
            break
        depth += (word in "([{") - (word in ")]}")
        if word == "," and not depth and (not rest or len(given) < len(names)):
            given.append([])
        else:
            given[-1].append(word)
    else:
        raise Unread("a macro whose arguments have no end")
    if len(given) != len(names):
        raise Unread("a macro with more or fewer arguments")
    return dict(zip((*names[:-1], "__VA_ARGS__" if rest else names[-1]), given, strict=True)), at
