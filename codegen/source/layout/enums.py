"""What stands at an enum beside its enumerators: `__attribute__((packed))`, and a type of its own as C23 has it,
`enum E : unsigned char { ... }`. The parser has no words for either: both are blanked, and noted by the name of the
first enumerator; `annotated` puts them into the tree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from codegen.patterns import pattern
from codegen.source.layout.lexis import CHAR, STRING, blank_code, closing

PACKED = "packed"
TYPE = "tw_enum_type"  # the name of an enumerator that says how an enum is represented
_UNKNOWN = "?"
_ENUM = pattern(rf"(?P<skip>{STRING}|{CHAR}|^[ \t]*\#[^\n]*)|\benum\b", re.M)
_GAP = r"(?:\s|^[ \t]*\#[^\n]*\n)*"
_SPACE = pattern(_GAP, re.M)
_TAG = pattern(r"[A-Za-z_$][\w$]*")
_ATTRIBUTE = pattern(r"(?:__attribute__|__attribute)\b|\[(?=\s*\[)")
_UNDERLYING = pattern(r":([^{};:()\[\]=,]*)(?=\{)")
_FIRST = pattern(rf"\{{{_GAP}([A-Za-z_$][\w$]*)", re.M)
_PACKED = pattern(r"\b(?:__)?packed(?:__)?\b")


def has_annotations(text: str) -> bool:
    """Whether there may be an enum with more than its enumerators."""
    return "enum" in text and (":" in text or "packed" in text)


def enum_types(text: str) -> tuple[str, dict[str, str]]:
    """The text without types of enums, as long as before, and for the first enumerator of an enum `packed` or the type
    that it has by its declaration."""
    found: dict[str, str] = {}  # of all enums: a name may stand for several, in blocks
    gone: list[tuple[int, int]] = []
    for m in _ENUM.finditer(text):
        if m.group("skip") is not None:
            continue
        at, attributes = _attributes(text, m.end())
        tag = _TAG.match(text, at)
        at, more = _attributes(text, tag.end() if tag else at)
        under = _UNDERLYING.match(text, at)
        opening = _space(text, under.end() if under else at)
        first = _FIRST.match(text, opening)
        if first is None:
            continue
        _, behind = _attributes(text, closing(text, opening))
        how = ""
        if under:
            gone.append(under.span())
            how = " ".join(under[1].split())
        elif any(_PACKED.search(a) for a in (*attributes, *more, *behind)):
            how = PACKED
        found[first[1]] = how if found.get(first[1], how) == how else _UNKNOWN
    for begin, end in gone:
        text = text[:begin] + blank_code(text[begin:end]) + text[end:]
    return text, {name: how for name, how in found.items() if how}


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _attributes(text: str, at: int) -> tuple[int, list[str]]:
    """The end of the attributes that follow, and of the white space there; and they."""
    out: list[str] = []
    while at >= 0:
        at = _space(text, at)
        word = _ATTRIBUTE.match(text, at)
        if word is None:
            break
        opening = at if text[at] == "[" else _space(text, word.end())
        end = closing(text, opening)
        if end < 0:
            break
        out.append(text[at:end])
        at = end
    return at, out


def annotated(tree: c_ast.FileAST, types: Mapping[str, str], short: bool) -> c_ast.FileAST:
    """The tree in which enums have a first enumerator that says how they are represented, where it is not by their
    values alone; `short` says that all without a type of their own are packed."""
    if types or short:
        for node in _enums(tree):
            how = types.get(node.values.enumerators[0].name, PACKED if short else "")
            if how:
                node.values.enumerators.insert(0, c_ast.Enumerator(TYPE, _value(how, node.coord), node.coord))
    return tree


def _value(how: str, coord: object) -> c_ast.Node:
    """`sizeof(type)`, a string for what is packed, and a variable without a name for types that cannot be read."""
    if how == PACKED:
        return c_ast.Constant("string", f'"{PACKED}"', coord)
    named = f"typedef int {how.split()[-1]}; " if _is_name(how) else ""
    try:
        read = CParser().parse(f"{named}int x = sizeof({how});")
    except ParseError:
        return c_ast.ID("", coord)
    return read.ext[-1].init


def _is_name(how: str) -> bool:
    words = ("char", "short", "int", "long", "signed", "unsigned", "_Bool")
    return not set(how.split()) & set(words)


def _enums(node: c_ast.Node) -> Iterator[c_ast.Enum]:
    if isinstance(node, c_ast.Enum) and node.values is not None and node.values.enumerators:
        yield node
    for child in node:
        yield from _enums(child)
