"""What a region needs of its file and its function, as C: the declarations of the names that it uses."""
from __future__ import annotations

from collections.abc import Iterator

from ..gnu import is_pure
from .around import Function, Local, declared
from .body import STD, Body, Names, edited
from .declare import Declarator
from .names import Named, Unit, parameters_at
from .refusal import NotC
from .tokens import Token, Tokens, code, group_end, split_at, tokens
from .types import Piece, Types

_MEMBER = "put it into a variable before the region, or take a pointer to it"
_STORAGE = {"static": "static ", "extern": "extern ", "thread_local": "_Thread_local ", "__thread": "_Thread_local "}


class Writer:
    """The C text of one region, as it grows while names are asked for.

    `system` tells whether an offset is in a header of the system.
    """

    def __init__(self, unit: Unit, function: Function, system: frozenset[str]) -> None:
        self.unit = unit
        self.function = function
        self.system = system
        e = function.entity
        self.scope = (*e.scope, *function.qualified)
        self.owner = next((s for s in reversed(self.scope) if s in e.classes or self._is_class(s)), "")
        self.locals = function.locals
        own = {n: (x.type, x.declarator) for n, x in self.locals.items() if x.kind == "type"}
        self.types = Types(unit, e.body, own, function.types, self.values)
        self.kept: dict[str, str] = {}  # locals by name: their declaration without a value
        self._globals: dict[str, int] = {}  # where they are declared
        self._functions: dict[str, str] = {}
        self._is: dict[str, bool] = {}
        self._doing: list[str] = []

    def namespaces(self) -> tuple[str, ...]:
        """The namespaces around the function."""
        inside = [k for k, s in enumerate(self.scope) if s in self.function.entity.classes or self._is_class(s)]
        return self.scope[: inside[0]] if inside else self.scope

    def names(self, scope: tuple[str, ...] | None = None) -> Names:
        here = self.scope if scope is None else scope
        return Names(self.use, self.call, lambda found: self.types.text(found, here), self.is_type)

    def is_type(self, name: str) -> bool:
        if name not in self._is:
            local = self.locals.get(name)
            known = local.kind == "type" if local is not None else self.types.is_type(name, self.scope)
            self._is[name] = known or name in self.function.types
        return self._is[name]

    # -- variables -------------------------------------------------------------------------------------

    def use(self, t: Token) -> None:
        """Make sure that a variable or constant is declared in the C text."""
        local = self.locals.get(t.text)
        if local is not None:
            if t.text not in self.kept:
                self._local(local, t)
            return
        if t.text in self._globals and not self._doing:
            return
        self._not_member(t)
        found = self.unit.find(t.text, self.scope, self.function.entity.body)
        if found and self._globals.get(t.text, found[0].entity.begin) != found[0].entity.begin:
            raise NotC(f"`{t.text}` means different things here and in a function that is called", t.begin)
        if found and t.text in self._globals:
            return
        if any(n.kind == "enumerator" for n in found):
            self._enumeration(found[0], t)
        elif found and all(n.kind == "variable" for n in found):
            self._global(found, t)
        else:
            what = "a template" if any(n.kind == "template" for n in found) else "not declared where it can be seen"
            raise NotC(f"`{t.text}` is {what}", t.begin, "declare it as a plain variable")

    def has_global(self, name: str) -> bool:
        return name in self._globals and name not in self.locals

    def values(self, found: Tokens, scope: tuple[str, ...]) -> None:
        """The names in the sizes of an array."""
        for k, t in enumerate(found):
            if t.text == "::" or (t.text == "(" and k and found[k - 1].kind == "word"):
                raise NotC("a size that cannot be read", t.begin, "use a number or a constant")
            if t.kind == "word":
                self.use(t)

    def _local(self, local: Local, t: Token) -> None:
        if local.kind == "type":
            raise NotC(f"`{t.text}` is a type", t.begin)
        d, param = local.declarator, local.place == "param"
        try:
            kind = self.types.text(local.type, self.scope)
            shown = Declarator(d.name, d.before, d.round, d.behind)
            text = f"{_prefix(local.qualifiers)}{kind} {self.types.declarator(shown, self.scope, param)}"
        except NotC as error:
            why = error.message if error.message.startswith(f"`{t.text}`") else f"`{t.text}`: {error.message}"
            raise NotC(why, t.begin, error.hint) from None
        self.kept[t.text] = text

    def _global(self, found: list[Named], t: Token) -> None:
        n = next((n for n in found if "extern" not in n.qualifiers), found[0])
        d = n.declarator
        if d is None or not n.type:
            raise NotC(f"`{t.text}` has a type that cannot be read", t.begin)
        self._globals[t.text] = found[0].entity.begin
        scope = n.entity.scope
        try:
            kind = self.types.text(n.type, scope)
            text = self.types.declarator(Declarator(d.name, d.before, d.round, d.behind), scope)
        except NotC as error:
            raise NotC(f"`{t.text}`: {error.message}", t.begin, error.hint) from None
        const = bool({"const", "constexpr"} & n.qualifiers)
        value = self._constant(d) if const and not d.before and not d.behind else ""
        self._piece(n, f"{_prefix(n.qualifiers)}{kind} {text}{value};")

    def _constant(self, d: Declarator) -> str:
        """The value of a constant, if it is made of numbers and such constants."""
        plain = d.value and all(t.kind == "number" or t.text in "+-*()" for t in d.value)
        return f" = {self._source(d.value)}" if plain else ""

    def _enumeration(self, n: Named, t: Token) -> None:
        e = n.entity
        found = code(tokens(self.unit.text, e.body, e.end))
        inside = found[1 : group_end(found, 0) - 1]
        if any(x.text in ("class", "struct") for x in tokens(self.unit.text, e.begin, e.body)):
            raise NotC(f"`{t.text}` belongs to an enumeration with a scope", t.begin, "use a constant of type int")
        names = {part[0].text for part in split_at(inside, ",") if part}
        self._globals |= dict.fromkeys(names, e.begin)
        for x in inside:
            if x.kind == "word" and x.text not in names:
                self.use(x)
        self._piece(n, f"enum {{ {self._source(inside)} }};")

    def _piece(self, n: Named, text: str) -> None:
        lines = self.unit.text.count("\n", n.entity.begin, n.entity.end)
        self.types.pieces.append(Piece(n.entity.begin, text, lines))

    def _source(self, found: Tokens) -> str:
        return self.unit.text[found[0].begin : found[-1].end].replace("\n", " ") if found else ""

    # -- classes ---------------------------------------------------------------------------------------

    def _is_class(self, name: str) -> bool:
        return any(n.kind in ("class", "template") for n in self.unit.find(name, self.function.entity.scope, 1 << 60))

    def _not_member(self, t: Token) -> None:
        """In a function of a class, names of the file may be hidden by members."""
        if not self.owner:
            return
        e = self.function.entity
        found = self.unit.find(self.owner, e.scope, 1 << 60)
        bodies = [self.unit.text[n.entity.begin : n.entity.end] for n in found if n.kind in ("class", "template")]
        inside = [x for x in self.unit.entities if self.owner in x.classes]
        words = {x.text for b in bodies for x in tokens(b)} | {
            x.text for i in inside for x in tokens(self.unit.text, i.begin, i.end if i.body < 0 else i.body)
        }
        derived = any(":" in b.partition("{")[0].replace("::", "") for b in bodies)
        if derived or t.text in words or (not bodies and not inside):
            raise NotC(f"`{t.text}` may be a member of `{self.owner}`", t.begin, _MEMBER)

    # -- functions -------------------------------------------------------------------------------------

    def call(self, t: Token) -> str:
        """How C calls a function; its definition is there if it can be read."""
        if t.text in self.locals:
            self.use(t)
            return t.text
        if t.text in self._functions:
            return self._functions[t.text]
        if t.text in self.function.usings or "std::" in self.function.usings:
            return STD + t.text
        found = self.unit.find(t.text, self.scope, self.function.entity.body)
        own = [n for n in found if self.unit.where.locate(n.entity.begin).file not in self.system]
        if own:
            self._not_member(t)
            self._functions[t.text] = t.text
            self._define(own, t)
        else:
            chosen = any(n.entity.scope[:1] == ("std",) for n in found)
            self._functions[t.text] = STD + t.text if chosen else t.text
        return self._functions[t.text]

    def _define(self, found: list[Named], t: Token) -> None:
        """The function with its body as C, or as a prototype where that is not possible."""
        if any(n.kind != "function" for n in found):
            raise NotC(f"`{t.text}` is a template", t.begin, "write the expression it stands for")
        heads = {self._signature(n) for n in found}
        if len(heads) > 1:
            hint = "give the one that is meant a name of its own"
            raise NotC(f"there are several functions `{t.text}`", t.begin, hint)
        n = next((n for n in found if n.entity.kind == "function"), None)
        if n is None or len(self._doing) > 8:
            return
        self._doing.append(t.text)
        try:
            self._piece(n, self._definition(n))
        except NotC:
            return  # it cannot be read: whoever needs its body says so
        finally:
            self._doing.pop()

    def _signature(self, n: Named) -> str:
        """The types of the parameters."""
        head = code(tokens(self.unit.text, n.entity.begin, n.entity.body if n.entity.body >= 0 else n.entity.end))
        at = parameters_at(head)
        inside = head[at + 1 : group_end(head, at) - 1] if at >= 0 else []
        parts = []
        for part in split_at(inside, ","):
            named = len(part) > 1 and part[-1].kind == "word" and (part[-2].kind == "word" or part[-2].text in "*&")
            parts.append(" ".join(x.text for x in (part[:-1] if named else part)))
        return ", ".join(parts)

    def _definition(self, n: Named) -> str:
        e, text = n.entity, self.unit.text
        head = code(tokens(text, e.begin, e.body))
        at = parameters_at(head)
        kind = [x for x in head[: at - 1] if x.text not in ("inline", "static", "constexpr", "extern", "const")]
        pointers = "".join(x.text for x in kind if x.text == "*")
        result = self.types.text([x for x in kind if x.text != "*"], e.scope)
        given = [declared(p, "param") for p in split_at(head[at + 1 : group_end(head, at) - 1], ",") if p]
        shown = []
        for p in (x[0] for x in given if x):
            d = Declarator(p.declarator.name, p.declarator.before, p.declarator.round, p.declarator.behind)
            kind_text = self.types.text(p.type, e.scope)
            shown.append(f"{_prefix(p.qualifiers)}{kind_text} {self.types.declarator(d, e.scope, True)}")
        own = frozenset(x[0].name for x in given if x)
        saved = self.locals, self.scope, self.owner
        self.locals, self.scope, self.owner = {}, e.scope, ""  # of the caller's variables it sees none
        try:
            edits = Body(tokens(text, e.body, e.end), self.names(e.scope), own).translate()
        finally:
            self.locals, self.scope, self.owner = saved
        body = edited(text, e.body, e.end, edits)
        lines = [x for x in body.split("\n") if not x.lstrip().startswith("#")]
        return f"static {result} {pointers}{n.name}({', '.join(shown) or 'void'}) {' '.join(lines)}"

    def pure(self) -> Iterator[str]:
        """The functions that have the attribute `const`."""
        for name in self._functions:
            for n in self.unit.find(name, self.scope, self.function.entity.body):
                e = n.entity
                if is_pure(self.unit.text[e.begin : e.body if e.body >= 0 else e.end]):
                    yield name


def _prefix(qualifiers: frozenset[str]) -> str:
    storage = "".join(dict.fromkeys(_STORAGE[q] for q in sorted(qualifiers) if q in _STORAGE))
    const = "const " if qualifiers & {"const", "constexpr", "__const"} else ""
    return f"{storage}{const}{'volatile ' if 'volatile' in qualifiers else ''}"
