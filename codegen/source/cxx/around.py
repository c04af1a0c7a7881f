"""Parses the function around a region in C++ (`EnclosingFunction`): its parameters, the open blocks, and what they
declare; raises NotC for a region in a lambda or a local class."""
from __future__ import annotations

from itertools import pairwise

from codegen.record import record
from codegen.source.cxx.declare import FUNDAMENTAL, CxxDeclarator, Is, declaration, type_id
from codegen.source.cxx.names import TranslationUnit, parameters_at
from codegen.source.cxx.refusal import NotC
from codegen.source.cxx.scopes import Entity
from codegen.source.cxx.tokens import CxxToken, Tokens, angle_end, code, group_end, split_at, tokens

_HEADED = frozenset({"if", "for", "while", "switch", "else", "do", "try", "catch"})
_TAGS = frozenset({"struct", "class", "union", "enum"})
_OPENS = frozenset({")", "else", "do", "try", ":"})


@record
class LocalName:
    """A name that the function declares. `kind` is variable or type; `place` is param or local."""

    declarator: CxxDeclarator
    type: tuple[CxxToken, ...]
    qualifiers: frozenset[str] = frozenset()
    kind: str = "variable"
    place: str = "local"

    @property
    def name(self) -> str:
        return self.declarator.name.text


@record
class TokenStatement:
    """Tokens that the parser is not shown as they are, and the locals that they declare."""

    tokens: tuple[CxxToken, ...]
    declares: tuple[LocalName, ...] = ()


@record
class EnclosingBlock:
    """A block around the region: the pragmas and the header before its brace, and the statements before the region."""

    pragmas: tuple[CxxToken, ...]
    header: TokenStatement
    statements: tuple[TokenStatement, ...]


@record
class EnclosingFunction:
    """The function around a region. `locals` are the names that are visible where the region begins."""

    entity: Entity
    name: CxxToken
    qualified: tuple[str, ...]  # what stands before the name
    parameters: tuple[LocalName, ...]
    levels: tuple[EnclosingBlock, ...]
    after: tuple[CxxToken, ...]
    types: frozenset[str]  # template parameters that are types or templates
    constants: tuple[LocalName, ...]  # those that are values
    pragmas: tuple[CxxToken, ...]  # right before the region
    usings: frozenset[str] = frozenset()  # names, and namespaces with `::` behind them, that the body makes visible

    @property
    def locals(self) -> dict[str, LocalName]:
        found = {x.name: x for x in (*self.constants, *self.parameters)}
        for level in self.levels:
            found |= {x.name: x for s in (level.header, *level.statements) for x in s.declares}
        return found


def function_around(unit: TranslationUnit, e: Entity, span: tuple[int, int]) -> EnclosingFunction:
    """Take the function apart; raises NotC where the region is in a lambda or a class of its own."""
    head = code(tokens(unit.text, e.begin, e.body))
    types, constants, first = _template(head)
    head = head[first:]
    at = parameters_at(head)
    if at < 0:
        raise NotC("the function around the region cannot be read", e.begin)
    name = next((t for t in reversed(head[:at]) if t.kind == "word"), head[at])
    parameters = tuple(x for p in split_at(head[at + 1 : group_end(head, at) - 1], ",") for x in _parameter(p))
    if any(t.text in ("constexpr", "consteval") for t in head[:at]):
        raise NotC("the compiler may evaluate the function, which generated code does not allow", head[0].begin,
                   "leave out `constexpr`")
    body = _Body(unit, e, span)
    body.walk()
    qualified = _qualified(head[: at - 1])
    return EnclosingFunction(e, name, qualified, parameters, tuple(body.done()), body.after, types, constants,
                    tuple(body.pragmas), frozenset(body.usings))


def _parameter(found: Tokens) -> tuple[LocalName, ...]:
    """A parameter. Of one that cannot be read the name is known all the same."""
    made = declared(found, "param")
    last = [t for t in found if t.kind == "word"][-1:]
    return made or tuple(LocalName(CxxDeclarator(t), (t,), place="param") for t in last if len(found) > 1)


def _template(head: Tokens) -> tuple[frozenset[str], tuple[LocalName, ...], int]:
    """The parameters of templates, and where the function itself begins."""
    types: set[str] = set()
    constants: list[LocalName] = []
    k = 0
    while k + 1 < len(head) and head[k].text == "template" and head[k + 1].text == "<":
        end = angle_end(head, k + 1)
        if end < 0:
            break
        for part in split_at(head[k + 2 : end - 1], ","):
            found = declared(part, "param")
            if found and found[0].type and all(t.text in FUNDAMENTAL for t in found[0].type):
                constants += found
            else:
                types |= {t.text for t in part if t.kind == "word"} - {"typename", "class"}
        k = end
    return frozenset(types), tuple(constants), k


def _qualified(before: Tokens) -> tuple[str, ...]:
    """The scopes in `void A::B::f(`."""
    out: list[str] = []
    k = len(before)
    while k >= 2 and before[k - 1].text == "::":
        at = k - 2
        if before[at].text == ">":  # the arguments of a template
            at = next((i for i in range(at, 0, -1) if before[i].text == "<" and angle_end(before, i) == k - 1), 0) - 1
        if at < 0 or before[at].kind != "word":
            break
        out.insert(0, before[at].text)
        k = at
    return tuple(out)


def declared(found: Tokens, place: str, is_variable: Is = lambda n: False) -> tuple[LocalName, ...]:
    """The names that a statement or a parameter declares; none where it is no declaration."""
    made = declaration(found, is_variable, lambda n: True)  # in doubt: names are hidden rather than mixed up
    if made is None:
        return ()
    words = frozenset(t.text for t in made.qualifiers)
    kind = "type" if "typedef" in words else "variable"
    return tuple(LocalName(d, made.type, words, kind, place) for d in made.declarators)


class _Body:
    """A walk over the tokens of a function's body up to the region."""

    def __init__(self, unit: TranslationUnit, e: Entity, span: tuple[int, int]) -> None:
        self.found = tokens(unit.text, e.body, e.end)
        self.stop = span[0]
        self.after = tuple(code(tokens(unit.text, span[1], e.end)))
        self.names: set[str] = set()
        self.usings: set[str] = set()
        self.pragmas: list[CxxToken] = []
        self._open: list[tuple[tuple[CxxToken, ...], TokenStatement, list[TokenStatement]]] = []

    def done(self) -> list[EnclosingBlock]:
        return [EnclosingBlock(p, h, tuple(s)) for p, h, s in self._open]

    def walk(self) -> None:
        found, k = self.found, 1
        self._open.append(((), TokenStatement(()), []))
        now: list[CxxToken] = []
        while k < len(found) and found[k].begin < self.stop:
            t = found[k]
            if t.kind == "line":
                if not now:
                    self.pragmas.append(t)
                k += 1
            elif t.text == "{" and self._is_block(now):
                end = group_end(found, k)
                if end <= len(found) and found[end - 1].begin > self.stop:
                    self._enter(now)
                    k += 1
                else:
                    self._add([*now, *code(found[k:end])])
                    k = end
                now = []
            elif t.text in ("(", "[", "{"):
                end = group_end(found, k)
                if found[end - 1].begin > self.stop:
                    raise NotC(_inside(now, found[k:end], t), t.begin,
                               "put the loops into a function of their own, or the region around all of it")
                now += code(found[k:end])
                k = end
            else:
                now.append(t)
                if t.text == ";":
                    self._add(now)
                    now = []
                k += 1
        if now:  # the header of a statement without braces
            raise NotC("the region is not in a pair of braces of its own", now[0].begin, "put braces around it")

    @staticmethod
    def _is_block(now: Tokens) -> bool:
        if not now:
            return True
        return (now[0].text in _HEADED or now[-1].text == ":") and now[-1].text in _OPENS

    def _enter(self, header: Tokens) -> None:
        declares: list[LocalName] = []
        for k, t in enumerate(header):
            if t.text == "(" and k and header[k - 1].text in _HEADED | {"constexpr"}:
                inside = header[k + 1 : group_end(header, k) - 1]
                first = split_at(inside, ";")[0]
                declares += self._locals(split_at(first, ":")[0] if header[k - 1].text == "for" else first)
        self._open.append((tuple(self.pragmas), TokenStatement(tuple(header), tuple(declares)), []))
        self.pragmas = []

    def _add(self, now: Tokens) -> None:
        declares = self._locals(now)
        if now and now[0].text == "using":
            path = [t.text for t in now[1:] if t.kind == "word"]
            if len(now) > 3 and now[2].text == "=":
                qualifiers, kind, behind = type_id([t for t in now[3:] if t.text != ";"])
                words = frozenset(t.text for t in qualifiers)
                declares = [LocalName(CxxDeclarator(now[1], behind), kind, words, "type")]
            elif path[:1] == ["namespace"]:
                self.usings.add("::".join(path[1:]) + "::")
            elif path[:1] == ["std"]:
                self.usings.add(path[-1])
            else:
                declares = [LocalName(CxxDeclarator(t), (t,)) for t in now[-2:-1]]
        self._open[-1][2].append(TokenStatement(tuple(now), tuple(declares)))
        self.pragmas = []

    def _locals(self, now: Tokens) -> list[LocalName]:
        at = next((k for k in range(len(now) - 1, -1, -1) if now[k].text == ":" and _labels(now[:k])), -1)
        now = now[at + 1 :]
        made = _of_class(now) or list(declared(now, "local", lambda n: n in self.names))
        self.names |= {x.name for x in made}
        return made


def _labels(now: Tokens) -> bool:
    """Are these labels, up to the last colon?"""
    return now[:1] != [] and (now[0].text in ("case", "default") or (len(now) == 1 and now[0].kind == "word"))


def _of_class(now: Tokens) -> list[LocalName]:
    """What a class or an enumeration within the function declares: names of types that are not looked at."""
    head = next((k for k, t in enumerate(now) if t.text in _TAGS), -1)
    brace = next((k for k, t in enumerate(now) if t.text == "{"), -1)
    if head < 0 or brace < head or any(t.text in ("=", "(") for t in now[:brace]):
        return []
    end = group_end(now, brace)
    inside = now[brace:end] if now[head].text == "enum" else ()
    found = [*now[head + 1 : brace], *(t for s, t in pairwise(inside) if s.text in ("{", ",")), *now[end:]]
    return [LocalName(CxxDeclarator(t), (now[head],)) for t in found if t.kind == "word"]


def _inside(now: Tokens, group: Tokens, opening: CxxToken) -> str:
    if opening.text == "{" and any(t.text in ("struct", "class", "union") for t in now):
        return "the region is in a class within a function"
    return "the region is in a lambda"
