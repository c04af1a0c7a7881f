"""Translates the types of variables in a C++ region to C text: arithmetic types, pointers and arrays of them, and
structs with plain members, with the typedefs and structs that have to be declared first; raises NotC for all others."""
from __future__ import annotations

from collections.abc import Callable, Iterator

from codegen.record import record
from codegen.source.cxx.declare import FUNDAMENTAL, CxxDeclarator, declaration
from codegen.source.cxx.names import Named, TranslationUnit
from codegen.source.cxx.refusal import NotC
from codegen.source.cxx.tokens import CxxToken, Tokens, code, group_end, joined, tokens

POINTER = "take a pointer to its elements before the region: `double *p = v.data();`"
_KINDS = {"variable": "a variable", "function": "a function", "template": "a template", "enum": "an enumeration"}
_STORAGE = {"static": "static ", "extern": "extern ", "thread_local": "_Thread_local ", "__thread": "_Thread_local "}
_SPELLED = {"__restrict": "restrict", "__restrict__": "restrict", "__const": "const", "constexpr": "const"}


@record
class FileScopeLine:
    """A line of C at file scope for the entity at `begin`, which has so many lines."""

    begin: int
    text: str
    lines: int
    local: bool = False  # declared in the function


class CxxTypes:
    """The types of one region; `pieces` are the declarations that they need, in order.

    `local` are types that the function itself declares, `unknown` those that only an instance of it knows.
    """

    def __init__(self, unit: TranslationUnit, before: int, local: dict[str, tuple[tuple[CxxToken, ...], CxxDeclarator]],
                 unknown: frozenset[str], value: Callable[[Tokens, tuple[str, ...]], None]) -> None:  # fmt: skip
        self.unit = unit
        self.before = before
        self.local = local
        self.unknown = unknown
        self.value = value  # makes sure that sizes of arrays can be computed
        self.pieces: list[FileScopeLine] = []
        self._known: dict[str, str] = {}

    def text(self, kind: Tokens, scope: tuple[str, ...]) -> str:
        """C text of the specifiers that name a type; raises NotC."""
        words = [t for t in kind if t.text not in ("typename", "class", "struct", "union", "enum")]
        if not words:
            at = kind[0].begin if kind else self.before
            raise NotC("its type is declared in the function itself, or has no name", at, POINTER)
        if all(t.text in FUNDAMENTAL for t in words):
            return joined(words)
        path = [t.text for t in words if t.kind == "word"]
        if len(path) * 2 - 1 + (words[0].text == "::") != len(words) or words[0].text == "auto":
            raise NotC(f"`{_compact(words)}` is no plain C type", words[0].begin, POINTER)
        return self._named(words, path, scope)

    def is_type(self, name: str, scope: tuple[str, ...]) -> bool:
        if name in self.local or name in FUNDAMENTAL or name in self._known:
            return True
        found = self.unit.find(name, scope, self.before)
        return bool(found) and all(n.kind in ("type", "class", "enum") for n in found)

    def declarator(self, d: CxxDeclarator, scope: tuple[str, ...], parameter: bool = False) -> str:
        """C text of a name with pointers and sizes. A reference to an array is a parameter like a pointer to it."""
        references = [t for t in (*d.before, *d.round) if t.text in ("&", "&&")]
        to_array = parameter and bool(d.round) and bool(d.behind) and len(references) == 1
        if references and not to_array:
            raise NotC(f"`{d.name.text}` is a reference", references[0].begin,
                       "copy its value to a variable before the region, or take its address as a pointer")
        if d.is_function:
            raise NotC(f"`{d.name.text}` is a function, or a variable that the tool cannot read", d.name.begin)
        self.value(d.behind, scope)
        before = " ".join(_spelled(t) for t in d.before)
        inner = " ".join(_spelled(t) for t in d.round if t.text not in ("&", "&&"))
        name = f"({inner} {d.name.text})" if inner else d.name.text
        return f"{before} {name}{self._source(d.behind)}".strip()

    def _source(self, found: Tokens) -> str:
        return self.unit.text[found[0].begin : found[-1].end].replace("\n", " ") if found else ""

    def _named(self, words: Tokens, path: list[str], scope: tuple[str, ...]) -> str:
        name, whole = path[-1], _compact(words)
        if len(path) == 1 and name in self.unknown:
            raise NotC(f"`{name}` is a parameter of the template", words[0].begin, "use a type that is known here")
        if len(path) == 1 and name in self.local:
            return self._local(name, scope)
        if len(path) == 1 and name in self._known:
            return self._known[name]
        if len(path) == 1:
            found = self.unit.find(name, scope, self.before)
        else:
            found = next(filter(None, (self.unit.find_in(name, (*scope[:k], *path[:-1]), self.before)
                                       for k in range(len(scope), -1, -1))), [])
        kinds = [n for n in found if n.kind in ("type", "class", "enum")]
        if not kinds:
            what = _KINDS.get(found[0].kind, "no type") if found else "not declared where it can be seen"
            raise NotC(f"`{whole}` is {what}, and no plain C type", words[0].begin, POINTER)
        return self._declared(kinds[0], whole, len(path) == 1, words[0])

    def _local(self, name: str, scope: tuple[str, ...]) -> str:
        kind, d = self.local[name]
        if name not in self._known:
            self._known[name] = name
            line = f"typedef {self.text(kind, scope)} {self._abstract(d, name, scope)};"
            self.pieces.append(FileScopeLine(d.name.begin, line, 0, True))
        return name

    def _declared(self, n: Named, whole: str, plain: bool, at: CxxToken) -> str:
        """Names without scopes are declared; for others, which generated code cannot use as they are, what they are."""
        scope = n.entity.scope
        if n.kind == "class":
            if not plain:
                raise NotC(f"`{whole}` is a class of another namespace", at.begin, "use it by a name without `::`")
            return self._struct(n, at)
        if n.kind == "enum" or n.declarator is None:
            raise NotC(f"`{whole}` is an enumeration", at.begin, "use a variable of type int")
        kind = self.text(n.type, scope)
        kind = f"const {kind}" if "const" in n.qualifiers else kind
        if not plain:
            if n.declarator.before or n.declarator.behind or n.declarator.round:
                raise NotC(f"`{whole}` is no arithmetic type", at.begin, "write what it stands for")
            return kind
        if n.name != kind:
            self._known[n.name] = n.name
            self._add(n, f"typedef {kind} {self._abstract(n.declarator, n.name, scope)};")
        return n.name

    def _abstract(self, d: CxxDeclarator, name: str, scope: tuple[str, ...]) -> str:
        """The declarator of a typedef; of `using T = double *;` all is before the name."""
        split = next((k for k, t in enumerate(d.before) if t.text == "["), len(d.before))
        return self.declarator(CxxDeclarator(d.name, d.before[:split], d.round, d.before[split:] or d.behind), scope)

    def _struct(self, n: Named, at: CxxToken) -> str:
        e, text = n.entity, self.unit.text
        head = code(tokens(text, e.begin, e.body))
        if any(t.text == ":" for t in head):
            raise NotC(f"`{n.name}` has base classes", at.begin, "use pointers to its members")
        word = "union" if any(t.text == "union" for t in head) else "struct"
        self._known[n.name] = n.name
        found = code(tokens(text, e.body, e.end))
        members = " ".join(self._members(n.name, found[1 : group_end(found, 0) - 1], e.scope, at))
        self._add(n, f"typedef {word} {n.name} {n.name}; {word} {n.name} {{ {members} }};")
        return n.name

    def _members(self, owner: str, found: Tokens, scope: tuple[str, ...], at: CxxToken) -> Iterator[str]:
        for part in member_parts(found):
            if any(t.text in ("operator", "~", "virtual", "template") for t in part) or _copies(part, owner):
                raise NotC(f"`{owner}` is no plain struct: it has functions of its own for what C does by itself",
                           at.begin, "use pointers to its members")
            made = declaration(part, lambda n: False, lambda n: True)
            if made is None or made.has("static", "typedef", "friend") or any(d.is_function for d in made.declarators):
                if made is None and not any(t.text == "(" for t in part):
                    raise NotC(f"`{owner}` has members that are no plain data", at.begin, "use pointers to its members")
                continue  # functions and static members are no part of an object
            const = "const " if made.has("const") else ""
            names = (self.declarator(d, scope) + (f" : {joined(d.value)}" if d.style == ":" else "")
                     for d in made.declarators)
            yield f"{const}{self.text(made.type, scope)} {', '.join(names)};"

    def _add(self, n: Named, line: str) -> None:
        self.pieces.append(FileScopeLine(n.entity.begin, line,
                                         self.unit.text.count("\n", n.entity.begin, n.entity.end)))


def _spelled(t: CxxToken) -> str:
    return _SPELLED.get(t.text, t.text)


def _compact(found: Tokens) -> str:
    """A type as people write it."""
    out = ""
    for t in found:
        out += f" {t.text}" if out and out[-1].isalnum() and t.kind == "word" else t.text
    return out


def member_parts(found: Tokens) -> list[list[CxxToken]]:
    """Declarations of a class: up to a semicolon, or to the body of a function; labels are left out."""
    out: list[list[CxxToken]] = [[]]
    k = 0
    while k < len(found):
        t = found[k]
        if t.text in ("public", "private", "protected") and found[k + 1 : k + 2] and found[k + 1].text == ":":
            k += 2
        elif t.text == "{" and any(x.text == "(" for x in out[-1]):
            k = group_end(found, k)
            out.append([])
        elif t.text in ("{", "(", "["):
            end = group_end(found, k)
            out[-1] += found[k:end]
            k = end
        else:
            if t.text == ";":
                out.append([])
            else:
                out[-1].append(t)
            k += 1
    return [part for part in out if part]


def _copies(part: Tokens, owner: str) -> bool:
    """Is it a constructor that makes an object from another one?"""
    return [t.text for t in part].count(owner) > 1 and any(t.text == "(" for t in part)


def prefix(qualifiers: frozenset[str]) -> str:
    """Storage classes and qualifiers, as C has them."""
    storage = "".join(dict.fromkeys(_STORAGE[q] for q in sorted(qualifiers) if q in _STORAGE))
    const = "const " if qualifiers & {"const", "constexpr", "__const"} else ""
    return f"{storage}{const}{'volatile ' if 'volatile' in qualifiers else ''}"
