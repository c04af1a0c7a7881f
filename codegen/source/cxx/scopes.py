"""Scans a C++ translation unit for the entities that each namespace declares, by brackets and a few keywords.

Bodies of functions and classes are not looked into, but for those around a region.
"""
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from codegen.record import record
from codegen.source.cxx.tokens import angle_end, code, group_end, tokens
from codegen.source.layout.lexis import CHAR, STRING

_LITERAL = rf"\#[^\n]*\n|{STRING}|{CHAR}"
_TO_END = re.compile(rf"\s*(?:\#[^\n]*\n\s*)*()[^;{{}}\"'#]*(?:(?:{_LITERAL})[^;{{}}\"'#]*)*[;{{}}]")
_TO_BRACE = re.compile(rf"[^{{}}\"'#]*(?:(?:{_LITERAL})[^{{}}\"'#]*)*[{{}}]")
_LINE = re.compile(r"^[ \t]*#[^\n]*", re.M)
_ATTRIBUTE = re.compile(
    r"\b(?:__attribute__|__attribute|__declspec|alignas|noexcept|throw|decltype|explicit)\s*"
    r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)|\[\s*\[[^\]]*\]\s*\]|__extension__")
_NAMESPACE = re.compile(r"\s*(?:inline\s+)?namespace\b\s*([\w\s:]*)$")
_LINKAGE = re.compile(r'\s*extern\s*"C(?:\+\+)?"\s*$')
_CLASS = re.compile(
    r"\b(?:class|struct|union)\b\s*(?:\w+\s+)*?([A-Za-z_]\w*)?\s*(?:<[^{}]*>)?\s*(?:\bfinal\b\s*)?(?::[^:].*)?$", re.S)
_ENUM = re.compile(r"\benum\b")
_LABELS = re.compile(r"\s*(?:(?:public|private|protected)\s*:\s*)+(?!:)")
_GOES_ON = re.compile(r"\s*(?:\#[^\n]*\n\s*)*[,{]")


@record
class Entity:
    """text[begin:end] is a declaration at namespace scope, or in a class around a region.

    kind   declaration (of variables, functions, types, or by `using`), function (with a body), class, enum
    scope  the namespaces and classes around it; those without a name or `inline` are left out
    body   where its braces begin, or -1
    """

    kind: str
    scope: tuple[str, ...]
    begin: int
    end: int
    body: int = -1
    template: bool = False
    classes: frozenset[str] = frozenset()  # which of the scopes are classes
    derived: bool = False  # one of these has base classes
    parameters: frozenset[str] = frozenset()  # of these, where they are templates


@record
class _Open:
    name: str
    is_class: bool = False
    derived: bool = False
    parameters: frozenset[str] = frozenset()


def entities(text: str, regions: Sequence[int]) -> list[Entity]:
    """All entities in order. `regions` are offsets in functions that matter: classes around them are looked into."""
    return list(_Splitter(text, regions).run())


class _Splitter:
    def __init__(self, text: str, regions: Sequence[int]) -> None:
        self.text = text
        self.regions = regions
        self.open: list[_Open] = []

    def run(self) -> Iterator[Entity]:
        text, begin, at, body, kind = self.text, -1, 0, -1, "declaration"
        while (match := _TO_END.match(text, at)) is not None:
            begin = begin if begin >= 0 else match.start(1)
            at = match.end()
            if text[at - 1] == "}":
                if self.open:
                    self.open.pop()
                begin, body, kind = -1, -1, "declaration"
                continue
            if text[at - 1] == "{":
                what = self._brace(begin, at - 1)
                if what == "scope":
                    begin, body, kind = -1, -1, "declaration"
                    continue
                brace, at = at - 1, self._close(at)
                if what == "function" and _GOES_ON.match(text, at):
                    continue  # the members that a constructor sets
                if what != "function":
                    body, kind = (body, kind) if body >= 0 else (brace, what)
                    continue
                body, kind = brace, what
            yield self._entity(kind, begin, at, body)
            begin, body, kind = -1, -1, "declaration"

    def _entity(self, kind: str, begin: int, end: int, body: int) -> Entity:
        scope = tuple(name for o in self.open for name in o.name.split("::") if name)
        classes = frozenset(o.name for o in self.open if o.is_class)
        label = _LABELS.match(self.text, begin) if classes else None
        begin = label.end() if label else begin
        template = re.compile(r"(?:export\s+)?template\b").match(self.text, begin) is not None
        derived = any(o.derived for o in self.open)
        parameters = frozenset[str]().union(*(o.parameters for o in self.open))
        return Entity(kind, scope, begin, end, body, template, classes, derived, parameters)

    def _brace(self, begin: int, brace: int) -> str:
        """What the brace opens: a scope, which is entered, a function, class, enum, or braces of a declaration."""
        head = _ATTRIBUTE.sub(" ", _LINE.sub("", self.text[begin:brace]))
        space = _NAMESPACE.match(head)
        if space is not None or _LINKAGE.match(head):
            inline = head.lstrip().startswith("inline")
            names = [w for w in re.split(r"[\s:]+", space[1]) if w and w != "inline"] if space and not inline else []
            self.open.append(_Open("::".join(names)))
            return "scope"
        whole, head = head, without_template(head)
        plain = _without_angles(head)
        if "(" in plain:
            before = plain.partition("(")[0]
            return "declaration" if "=" in before and "operator" not in before else "function"
        found = _CLASS.search(head)
        if _ENUM.search(plain):
            return "enum"
        if found is None or "=" in plain:
            return "declaration"
        end = self._close(brace + 1)
        if any(brace < r < end for r in self.regions):
            parameters = frozenset(re.findall(r"\w+", whole[: len(whole) - len(head)]))
            self.open.append(_Open(found[1] or "", True, ":" in plain.replace("::", ""), parameters))
            return "scope"
        return "class"

    def _close(self, at: int) -> int:
        """The offset after the brace that closes the one just before `at`, or the end of the text."""
        depth = 1
        while depth:
            match = _TO_BRACE.match(self.text, at)
            if match is None:
                return len(self.text)
            at = match.end()
            depth += 1 if self.text[at - 1] == "{" else -1
        return at


def without_template(head: str) -> str:
    """A declaration behind its `template <...>`."""
    if "template" not in head:
        return head
    found = code(tokens(head))
    k = 0
    while k + 1 < len(found) and found[k].text == "template" and found[k + 1].text == "<":
        k = angle_end(found, k + 1)
        if k < 0:
            return head
    if 0 < k < len(found) and found[k].text == "requires":
        k += 1
        k = group_end(found, k) if k < len(found) and found[k].text == "(" else k
    return head[found[k].begin:] if 0 <= k < len(found) else ""


def _without_angles(head: str) -> str:
    """Without the arguments of templates, in which anything may stand."""
    count = 1
    while count:
        head, count = re.subn(r"(?<=\w)\s*<[^<>(){};]*>", "", head)
    return head
