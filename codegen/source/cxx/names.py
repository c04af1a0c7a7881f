"""Name lookup at namespace scope in C++ (`TranslationUnit`): which entity declares a variable, type, function or
constant that a region uses."""
from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from codegen.record import record
from codegen.source.cxx.declare import CxxDeclarator, declaration, type_id
from codegen.source.cxx.scopes import Entity, entities, without_template
from codegen.source.cxx.tokens import CxxToken, Tokens, code, group_end, plain_strings, tokens
from codegen.source.layout.linemap import LineMap

_DEEP = 16  # names that stand for other names, one after the other


@record
class Named:
    """A name that an entity declares.

    kind  variable, function, type, class, enum, enumerator, using (another name), directive (a namespace), template
    type  the tokens of its type, or of the name or namespace that `using` names
    """

    name: str
    kind: str
    entity: Entity
    type: tuple[CxxToken, ...] = ()
    declarator: CxxDeclarator | None = None
    qualifiers: frozenset[str] = frozenset()


class TranslationUnit:
    """A preprocessed translation unit."""

    def __init__(self, text: str, regions: tuple[int, ...], kept: frozenset[str] = frozenset()) -> None:
        self.kept = kept  # macros that stand for themselves, and are integers
        self.text = plain_strings(text)
        self.where = LineMap(text)
        self.entities = entities(self.text, regions)
        self._begins = [e.begin for e in self.entities]
        self._declared: dict[int, tuple[Named, ...]] = {}
        self._directives: tuple[Named, ...] | None = None

    def around(self, offset: int) -> Entity | None:
        """The entity that an offset lies in."""
        at = bisect_right(self._begins, offset) - 1
        found = self.entities[at] if at >= 0 else None
        return found if found is not None and offset < found.end else None

    def find(self, name: str, scope: tuple[str, ...], before: int) -> list[Named]:
        """What a name without scopes before it means: the declarations in the innermost scope that has some, with those
        that directives make visible there."""
        here = self._all(name, before)
        for k in range(len(scope), -1, -1):
            found = [n for n in here if n.entity.scope == scope[:k]]
            found += [n for n in here if n.entity.scope in self._visible(scope[:k], before) and n not in found]
            if found:
                return self._followed(found, before)
        return []

    def find_in(self, name: str, scope: tuple[str, ...], before: int) -> list[Named]:
        """What a name means in one namespace."""
        here = self._all(name, before)
        found = [n for n in here if n.entity.scope == scope]
        found += [n for n in here if n.entity.scope in self._visible(scope, before) and n not in found]
        return self._followed(found, before)

    def _followed(self, found: list[Named], before: int, depth: int = _DEEP) -> list[Named]:
        out: list[Named] = []
        for n in found:
            if n.kind != "using" or not depth:
                out.append(n)
                continue
            path = [t.text for t in n.type if t.kind == "word"]
            scope = tuple(path[:-1]) if n.type[0].text == "::" or len(path) > 1 else n.entity.scope
            other = [m for m in self._all(n.name, before) if m.entity.scope == scope and m.entity is not n.entity]
            out += self._followed(other, before, depth - 1)
        return [n for k, n in enumerate(out) if n not in out[:k]]

    def _visible(self, scope: tuple[str, ...], before: int) -> set[tuple[str, ...]]:
        """The namespaces that directives in a scope name."""
        if self._directives is None:
            at = [m.start() for m in re.finditer(r"\busing\s+namespace\b", self.text)]
            near = (e for e in map(self.around, at) if e is not None)
            self._directives = tuple(n for e in near for n in self.declared(e) if n.kind == "directive")
        found = [n for n in self._directives if n.entity.scope == scope and n.entity.begin < before]
        return {tuple(t.text for t in n.type if t.kind == "word") for n in found}

    def _all(self, name: str, before: int) -> list[Named]:
        """Every declaration of a name, in any scope. Functions may be defined later than they are used."""
        seen: dict[int, Entity] = {}
        for offset in _places(self.text, name):
            at = bisect_right(self._begins, offset) - 1
            e = self.entities[at] if at >= 0 else None
            if e is not None and offset < e.end and (e.begin < before or e.kind == "function"):
                seen[at] = e
        return [n for at in sorted(seen) for n in self.declared(seen[at]) if n.name == name]

    def declared(self, e: Entity) -> tuple[Named, ...]:
        """The names that an entity declares."""
        if e.begin not in self._declared:
            self._declared[e.begin] = tuple(_declared(self.text, e))
        return self._declared[e.begin]


def _places(text: str, word: str) -> Iterator[int]:
    """Where a word stands. Plain search is ten times as fast as a regular expression."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (at and _of_word(text[at - 1])) and not (end < len(text) and _of_word(text[end])):
            yield at
        at = text.find(word, end)


def _of_word(char: str) -> bool:
    return char.isalnum() or char in "_$"


def _declared(text: str, e: Entity) -> Iterator[Named]:
    head = text[e.begin : e.body if e.kind in ("function", "class", "enum") else e.end]
    shift = len(head) - len(without_template(head)) if e.template else 0
    found = code(tokens(text, e.begin + shift, e.begin + len(head)))
    if e.kind == "function":
        name = function_name(found)
        if name is not None:
            yield Named(name.text, "template" if e.template else "function", e)
        return
    if e.kind in ("class", "enum"):
        yield from _tagged(text, e, found)
        return
    if found and found[0].text == "using":
        yield from _using(e, found)
        return
    made = declaration(found, lambda n: False, lambda n: True)
    if made is None:
        name = function_name(found)
        if name is not None:
            yield Named(name.text, "template" if e.template else "function", e)
        return
    words = frozenset(t.text for t in made.qualifiers)
    for d in made.declarators:
        kind = "type" if "typedef" in words else "function" if d.style == "(" else "variable"
        yield Named(d.name.text, "template" if e.template else kind, e, made.type, d, words)


def _tagged(text: str, e: Entity, head: Tokens) -> Iterator[Named]:
    """The tag, enumerators, and what is declared behind the braces."""
    before = frozenset({"struct", "class", "union", "enum"})
    names = [t.text for s, t in pairwise(head) if t.kind == "word" and s.text in before and t.text not in before]
    tag = names[-1] if names else ""
    kind = "template" if e.template else e.kind
    if tag:
        yield Named(tag, kind, e)
    found = code(tokens(text, e.body, e.end))
    end = group_end(found, 0)
    if e.kind == "enum" and not any(t.text in ("class", "struct") for t in head):
        inside = [t for k, t in enumerate(found[: end - 1]) if t.kind == "word" and found[k - 1].text in ("{", ",")]
        yield from (Named(t.text, "enumerator", e) for t in inside)
    words = frozenset(t.text for t in head)
    for k, t in enumerate(found[end:], end):
        if t.kind == "word" and found[k + 1 : k + 2] and found[k + 1].text in (";", ",", "[", "="):
            yield Named(t.text, (kind if "typedef" in words else "variable"), e, tuple(head), CxxDeclarator(t))


def _using(e: Entity, found: Tokens) -> Iterator[Named]:
    rest = [t for t in found[1:] if t.text != ";"]
    if not rest:
        return
    if rest[0].text == "namespace":
        yield Named("", "directive", e, tuple(rest[1:]))
    elif len(rest) > 2 and rest[1].text == "=":
        qualifiers, kind, behind = type_id(rest[2:])
        words, what = frozenset(t.text for t in qualifiers), "template" if e.template else "type"
        yield Named(rest[0].text, what, e, kind, CxxDeclarator(rest[0], behind), words)
    elif rest[-1].kind == "word":
        yield Named(rest[-1].text, "using", e, tuple(rest))


def function_name(head: Tokens) -> CxxToken | None:
    """The name before the parameters of a function, given all up to its body or semicolon."""
    at = parameters_at(head)
    return head[at - 1] if at > 0 and head[at - 1].kind == "word" else None


_NO_PARAMETERS = frozenset({"__attribute__", "__attribute", "alignas", "noexcept", "decltype", "__declspec", "throw",
                            "explicit", "requires", "operator"})


def parameters_at(head: Tokens) -> int:
    """Where the parameters of a function begin; -1 if there are none."""
    k = 0
    while k < len(head):
        text = head[k].text
        if text == "operator":
            while k + 1 < len(head) and head[k + 1].text != "(":
                k += 1
            nothing = [t.text for t in head[k + 1 : k + 3]] == ["(", ")"]
            k += 3 if nothing and head[k + 3 : k + 4] and head[k + 3].text == "(" else 1
            return k
        if text == "[":
            k = group_end(head, k)
        elif text == "(":
            if k and head[k - 1].kind == "word" and head[k - 1].text not in _NO_PARAMETERS:
                return k
            k = group_end(head, k)
        else:
            k += 1
    return -1
