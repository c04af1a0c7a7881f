"""Parses the tokens of a C++ declaration into specifiers and declarators; returns None where they are an expression or
another statement."""
from __future__ import annotations

from collections.abc import Callable

from codegen.record import record
from codegen.source.cxx.tokens import CxxToken, Tokens, angle_end, group_end, split_at

FUNDAMENTAL = frozenset({"void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned"})
_STRANGE = frozenset({"auto", "wchar_t", "char8_t", "char16_t", "char32_t", "__int128", "__float128", "_Complex"})
QUALIFIERS = frozenset({"const", "volatile", "constexpr", "constinit", "static", "extern", "inline", "mutable",
                        "register", "thread_local", "__thread", "typedef", "friend", "virtual", "explicit",
                        "__extension__", "__inline", "__inline__", "__const"})
_TAGS = frozenset({"struct", "class", "union", "enum", "typename"})
_GROUPS = frozenset({"alignas", "__attribute__", "__attribute", "__declspec"})
_POINTERS = frozenset({"*", "&", "&&", "const", "volatile", "__restrict", "__restrict__", "restrict"})
# Words that begin statements or expressions, so what follows them is no declaration.
_BEGINS = """return goto break continue case default if else for while do switch try catch throw delete new using
namespace template public private protected operator this sizeof static_cast const_cast reinterpret_cast
dynamic_cast co_return co_await co_yield static_assert asm __asm__ and or not nullptr true false"""
_STATEMENTS = frozenset(_BEGINS.split())
_BEHIND = frozenset({";", ",", "=", "{", "(", "[", ":"})


@record
class CxxDeclarator:
    """One name of a declaration. `before` are pointers and references, `behind` sizes or parameters; `round` is what
    stands in parentheses before the name, as in `(*p)[N]`. `style` is how the value is given: "=", "{" or "("."""

    name: CxxToken
    before: tuple[CxxToken, ...] = ()
    round: tuple[CxxToken, ...] = ()
    behind: tuple[CxxToken, ...] = ()
    value: tuple[CxxToken, ...] = ()
    style: str = ""

    @property
    def is_reference(self) -> bool:
        return any(t.text in ("&", "&&") for t in (*self.before, *self.round))

    @property
    def is_function(self) -> bool:
        """At namespace scope; in a block it may be a variable with its value in parentheses."""
        return self.style == "("


@record
class Declaration:
    """Specifiers, of which `type` are those that name a type, and the declarators."""

    qualifiers: tuple[CxxToken, ...]
    type: tuple[CxxToken, ...]
    declarators: tuple[CxxDeclarator, ...]

    def has(self, *words: str) -> bool:
        return any(t.text in words for t in self.qualifiers)


Is = Callable[[str], bool]


def declaration(found: Tokens, is_variable: Is, is_type: Is) -> Declaration | None:
    """Tokens up to a semicolon as a declaration; None where they are something else. What begins with the name of a
    variable is an expression."""
    found = without_attributes(found)
    if not found or found[0].text in _STATEMENTS:
        return None
    qualifiers, kind, k = _specifiers(found, is_variable)
    if not kind or k >= len(found):
        return None
    if kind[0].text == "auto" and any(t.text == "[" for t in found[k : k + 2]):  # auto [x, y] = ...
        inside = [t for t in found[k : group_end(found, k + (found[k].text != "["))] if t.kind == "word"]
        return Declaration(tuple(qualifiers), tuple(kind), tuple(CxxDeclarator(t) for t in inside))
    sure = kind[0].text in FUNDAMENTAL | _STRANGE | _TAGS or is_type(kind[-1].text) or len(kind) > 1
    out: list[CxxDeclarator] = []
    for part in split_at([t for t in found[k:] if t.text != ";"], ","):
        made = _declarator(part, sure, all(t.text in FUNDAMENTAL for t in kind))
        if made is None:
            return None
        out.append(made)
    return Declaration(tuple(qualifiers), tuple(kind), tuple(out))


def type_id(found: Tokens) -> tuple[tuple[CxxToken, ...], tuple[CxxToken, ...], tuple[CxxToken, ...]]:
    """A type without a name, as in a cast: qualifiers, the type, and all behind it."""
    qualifiers, kind, k = _specifiers(found, lambda name: False)
    return tuple(qualifiers), tuple(kind), tuple(found[k:])


def _specifiers(found: Tokens, is_variable: Is) -> tuple[list[CxxToken], list[CxxToken], int]:
    qualifiers: list[CxxToken] = []
    kind: list[CxxToken] = []
    named = False
    k = 0
    while k < len(found):
        t = found[k]
        if t.text in QUALIFIERS:
            qualifiers.append(t)
            k += 1
        elif t.text == "extern" or (t.kind == "text" and qualifiers and qualifiers[-1].text == "extern"):
            k += 1
        elif t.text in FUNDAMENTAL | _STRANGE:
            kind.append(t)
            named = True
            k += 1
        elif t.text in _TAGS and not kind:
            kind.append(t)
            k += 1
        elif t.text in ("decltype", "__typeof__", "typeof") and not named and k + 1 < len(found):
            end = group_end(found, k + 1) if found[k + 1].text == "(" else k + 1
            kind += found[k:end]
            k, named = end, True
        elif not named and (t.kind == "word" or t.text == "::") and (
            "::" in (t.text, *(x.text for x in found[k + 1 : k + 2])) or not is_variable(t.text)
        ):
            end = _qualified(found, k)
            kind += found[k:end]
            k, named = end, True
        else:
            break
    return qualifiers, kind, k


def _qualified(found: Tokens, k: int) -> int:
    """Behind a name with the scopes before it and the arguments of templates."""
    if found[k].text == "::":
        k += 1
    while k < len(found) and found[k].kind == "word":
        k += 1
        if k < len(found) and found[k].text == "<":
            end = angle_end(found, k)
            if end < 0:
                return k
            k = end
        if k + 1 < len(found) and found[k].text == "::" and found[k + 1].kind == "word":
            k += 1
            continue
        return k
    return k


def without_attributes(found: Tokens) -> list[CxxToken]:
    out: list[CxxToken] = []
    k = 0
    while k < len(found):
        text, following = found[k].text, found[k + 1].text if k + 1 < len(found) else ""
        if (text in _GROUPS and following == "(") or (text == "[" and following == "["):
            k = group_end(found, k + (text != "["))
            continue
        out.append(found[k])
        k += 1
    return out


def _declarator(found: Tokens, sure: bool, basic: bool) -> CxxDeclarator | None:
    k = 0
    while k < len(found) and found[k].text in _POINTERS:
        k += 1
    before, round_ = tuple(found[:k]), ()
    if k < len(found) and found[k].text == "(" and sure:
        end = group_end(found, k)
        inner = found[k + 1:end - 1]
        at = next((i for i, t in enumerate(inner) if t.text not in _POINTERS), len(inner))
        if at + 1 != len(inner) or inner[at].kind != "word":
            return None
        if not basic and (not at or not found[end:] or found[end].text not in "[("):
            return None
        return _behind(found, end, inner[at], before, tuple(inner[:at]))
    if k >= len(found) or found[k].kind != "word" or found[k].text in _STATEMENTS:
        return None
    return _behind(found, k + 1, found[k], before, round_)


def _behind(
    found: Tokens, k: int, name: CxxToken, before: tuple[CxxToken, ...], round_: tuple[CxxToken, ...]
) -> CxxDeclarator | None:
    start = k
    if k < len(found) and found[k].text not in _BEHIND:
        return None
    while k < len(found) and found[k].text == "[":
        k = group_end(found, k)
    behind = tuple(found[start:k])
    rest = found[k:]
    if not rest:
        return CxxDeclarator(name, before, round_, behind)
    if rest[0].text == "(" and not behind:
        return CxxDeclarator(name, before, round_, tuple(rest), tuple(rest[1:-1]), "(")
    if rest[0].text == "{":
        return CxxDeclarator(name, before, round_, behind, tuple(rest[1:-1]), "{")
    if rest[0].text in ("=", ":"):
        return CxxDeclarator(name, before, round_, behind, tuple(rest[1:]), rest[0].text)
    return None
