"""The text above the user's own once more for one level, an instruction set that the program asks for at run time:
what the preprocessor would choose there, under names of its own, as far as functions of that level need it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from codegen.record import record
from codegen.source.layout.chunks import declarations, split
from codegen.source.layout.lexis import CHAR, COMMENT, STRING, blank_comments

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)[ \t]*(.*?)\s*\Z", re.S)
_MACRO = re.compile(r"^[ \t]*#[ \t]*(?:define|undef)[ \t]+(\w+)", re.M)
_GONE = re.compile(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", re.M)
_OURS = re.compile(r"tw_|TW_")
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_LEXEME = re.compile(rf"{COMMENT}|{STRING}|{CHAR}|{_WORD.pattern}")
_SWITCH = re.compile(r"^#ifndef (\w+)[ \t]*\n#define \1\b(.*\S.*)\n", re.M)
_FUNCTION = "\0"  # stands before functions, which get an attribute there
_WRITTEN_OUT = re.compile(rf"{_FUNCTION}(?!static __attribute__\(\(cold\)\))")  # compilers do that in others


@record
class Level:
    """An instruction set by its name. Where its functions are `tuned` to a processor, those above the user's text are
    all its own, but for cold ones: compilers write none out in others that are for another processor."""

    name: str
    tuned: bool = False


@record
class LevelText:
    """What a level has of its own, and the names that differ there, with those they have instead."""

    level: Level
    text: str
    names: Mapping[str, str]


@record
class _Item:
    """A directive, a declaration, or all from `#if` to `#endif`. `varies`: another level has another one. `guard` is a
    macro that keeps it, and others beside it, from being read twice."""

    text: str
    varies: bool = False
    guard: str = ""

    @property
    def names(self) -> frozenset[str]:
        """What it defines."""
        plain = "".join(x for x in _lines(self.text) if not _DIRECTIVE.match(x)).replace(_FUNCTION, "")
        found = set(_MACRO.findall(self.text)).union(*declarations(plain, split(plain)))
        return frozenset(x for x in found if _OURS.match(x))


_Node = str | list[tuple[str, list["_Node"]]]  # an item's text, or branches, each with its condition


def level_text(support: str, whens: Sequence[str], chosen: int, level: Level, wanted: Iterable[str]) -> LevelText:
    """The support text where one of the conditions is the first that holds. `wanted` are the words of functions."""
    lines = _lines(blank_comments(support))
    nodes, at = _nodes(lines, 0)
    assert at == len(lines), "an #endif too many"
    items = _items(nodes, whens, chosen)
    own = _own_names(items, level.tuned)
    kept, words = set[int](), set(wanted)
    while True:
        guards = {items[k].guard for k in kept} - {""}
        new = {
            k
            for k, x in enumerate(items)
            if k not in kept and (x.names & own & words or x.names & guards or _included(x))
        }
        if not new:
            break
        kept |= new
        words = words.union(*(words_in(items[k].text) for k in new))
    if not any(items[k].names for k in kept):
        return LevelText(level, "", {})
    made = (frozenset[str]().union(*(items[k].names for k in kept)) & own) - _switches(support, own)
    names = {x: f"{x}_{level.name.upper() if x.isupper() else level.name}" for x in sorted(made)}
    text = "".join(_guarded(guard, run) for guard, run in groupby((items[k] for k in sorted(kept)), _guard_of))
    return LevelText(level, renamed(text, names).replace(_FUNCTION, f"{attribute(level)} "), names)


def _guard_of(x: _Item) -> str:
    return x.guard


def _guarded(guard: str, items: Iterable[_Item]) -> str:
    text = "".join(x.text for x in items)
    return f"#ifndef {guard}\n{text}#endif\n" if guard else text


def attribute(level: Level) -> str:
    """The macro that functions of a level begin with."""
    return f"TW_{level.name.upper()}{'_TUNED' if level.tuned else ''}"


def words_in(text: str) -> set[str]:
    """Those of directives, too."""
    return set(_WORD.findall(text))


def renamed(text: str, names: Mapping[str, str]) -> str:
    """A text with other words in the place of some; what strings say stays."""

    def of(m: re.Match[str]) -> str:
        if m[0].startswith(("/*", "//")):
            return _WORD.sub(lambda w: names.get(w[0], w[0]), m[0])
        return names.get(m[0], m[0])

    return _LEXEME.sub(of, text)


def _own_names(items: Sequence[_Item], tuned: bool) -> set[str]:
    """Names that a level needs for itself: what the level chooses, what is made of that, and what is gone behind its
    use."""
    gone = {name for x in items for name in _GONE.findall(x.text)}
    own = _made_of(gone.union(*(x.names for x in items if x.varies)), items)
    if not tuned:
        return own
    warm = [x for x in items if _FUNCTION not in x.text or _WRITTEN_OUT.search(x.text)]
    return _made_of(own.union(*(x.names for x in warm if _FUNCTION in x.text)), warm)


def _made_of(names: set[str], items: Sequence[_Item]) -> set[str]:
    """The names, and those of items that use one of them."""
    own, uses = set(names), [words_in(x.text) for x in items]
    more = True
    while more:
        new = {name for x, u in zip(items, uses, strict=True) if not own.isdisjoint(u) for name in x.names}
        new = (new | {x.guard for x in items if x.guard and not own.isdisjoint(x.names)}) - own
        own |= new
        more = bool(new)
    return own


def _switches(support: str, own: set[str]) -> set[str]:
    """Macros that the command line may define, which it does under their own names; what they stand for by themselves
    is the same for all levels."""
    return {m[1] for m in _SWITCH.finditer(blank_comments(support)) if own.isdisjoint(words_in(m[2]))}


def _included(x: _Item) -> bool:
    return x.varies and x.text.lstrip().startswith("#include")


def _lines(text: str) -> list[str]:
    """Lines, each with those that continue it; without empty ones."""
    found = re.findall(r"(?:[^\n]*\\\n)*[^\n]*\n", text if text.endswith("\n") else text + "\n")
    return [x.rstrip() + "\n" for x in found if x.strip()]


def _nodes(lines: Sequence[str], at: int) -> tuple[list[_Node], int]:
    """What stands from a line on, up to the next branch or end of the condition around it, and where that is."""
    out: list[_Node] = []
    while at < len(lines):
        word = _word(lines[at])
        if word in ("elif", "else", "endif"):
            break
        if word in ("if", "ifdef", "ifndef"):
            branches: list[tuple[str, list[_Node]]] = []
            while _word(lines[at]) != "endif":
                head = lines[at]
                inner, at = _nodes(lines, at + 1)
                branches.append((head, inner))
            out.append(branches)
            at += 1
        elif word:
            out.append(lines[at])
            at += 1
        else:
            text, at = _declaration(lines, at)
            out.append(text)
    return out, at


def _declaration(lines: Sequence[str], at: int) -> tuple[str, int]:
    """The declaration that begins on a line, marked where it is a function, and where the next begins."""
    text, depth = "", 0
    while at < len(lines):
        line = lines[at]
        text, at = text + line, at + 1
        if not _word(line):
            depth += line.count("{") - line.count("}")
            if depth == 0 and line.rstrip()[-1] in ";}":
                break
    defined = text.rstrip().endswith("}") and any(c.body >= 0 for c in split(text))  # no type, no variable with values
    return (_FUNCTION if defined else "") + text, at


def _word(line: str) -> str:
    found = _DIRECTIVE.match(line)
    return found[1] if found else ""


def _items(nodes: Sequence[_Node], whens: Sequence[str], chosen: int) -> list[_Item]:
    out: list[_Item] = []
    for node in nodes:
        if isinstance(node, str):
            out.append(_Item(node))
        elif _condition(node[0][0]) in whens:
            out += [replace(x, varies=True) for x in _items(_branch(node, whens, chosen), whens, chosen)]
        elif guard := _guard(node):
            out += [replace(x, guard=guard) for x in _items(node[0][1], whens, chosen)]
        else:
            inner = [(head, _items(branch, whens, chosen)) for head, branch in node]
            text = "".join(head + "".join(x.text for x in branch) for head, branch in inner)
            out.append(_Item(f"{text}#endif\n", any(x.varies for _, branch in inner for x in branch)))
    return out


def _guard(node: Sequence[tuple[str, list[_Node]]]) -> str:
    """The macro that a part is there once for: `#ifndef X`, `#define X`, and what follows."""
    found = re.fullmatch(r"[ \t]*#[ \t]*ifndef[ \t]+(\w+)\s*", node[0][0]) if len(node) == 1 else None
    first = node[0][1][0] if found and len(node[0][1]) > 1 else None
    return found[1] if found and isinstance(first, str) and first.split() == ["#define", found[1]] else ""


def _branch(node: Sequence[tuple[str, list[_Node]]], whens: Sequence[str], chosen: int) -> list[_Node]:
    """The branch for a level, by its own condition, or by none."""
    for head, branch in node:
        condition = _condition(head)
        assert condition in whens, f"{condition} is not for one level alone"
        if condition == whens[chosen] or not condition:
            return branch
    return []


def _condition(head: str) -> str:
    found = _DIRECTIVE.match(head)
    return found[2] if found and found[1] in ("if", "elif") else "" if found and found[1] == "else" else head
