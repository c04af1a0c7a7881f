"""Writes the declarations that a C++ region needs of its file and its function, as C."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from codegen.source.cxx.around import EnclosingFunction, LocalName
from codegen.source.cxx.body import NameLookup
from codegen.source.cxx.constants import evaluated, is_constant
from codegen.source.cxx.declare import CxxDeclarator
from codegen.source.cxx.functions import ALONE, Definitions
from codegen.source.cxx.members import Members, members_of
from codegen.source.cxx.names import Named, TranslationUnit
from codegen.source.cxx.prefix import STD
from codegen.source.cxx.refusal import NotC
from codegen.source.cxx.tokens import CxxToken, Tokens, code, group_end, split_at, tokens
from codegen.source.cxx.types import CxxTypes, FileScopeLine, prefix
from codegen.source.gnu import is_pure

_MEMBER = "put it into a variable before the region, or take a pointer to it"
_VALUE = "put its value into a variable before the region"


class CxxWriter:
    """The C text of one region, as it grows while names are asked for.

    `system` tells whether an offset is in a header of the system.
    """

    def __init__(self, unit: TranslationUnit, function: EnclosingFunction, system: frozenset[str]) -> None:
        self.unit = unit
        self.function = function
        self.system = system
        e = function.entity
        self.scope = (*e.scope, *function.qualified)
        owner = next((s for s in reversed(self.scope) if s in e.classes or self._is_class(s)), "")
        self.members = members_of(unit, owner, self.scope) if owner else None
        self.locals = function.locals
        own = {n: (x.type, x.declarator) for n, x in self.locals.items() if x.kind == "type"}
        self.types = CxxTypes(unit, e.body, own, function.types | e.parameters, self.values)
        self.kept: dict[str, str] = {}  # locals by name: their declaration without a value
        self.constants: set[str] = set()  # those that are no objects
        self.objects: dict[str, str] = {}  # members and references, which are like variables of the file
        self.written: set[str] = set()  # by functions that are called
        self._references: dict[str, CxxToken] = {}
        self._globals: dict[str, int] = {}  # where they are declared
        self._functions: dict[str, str] = {}
        self._is: dict[tuple[tuple[str, ...], bool, str], bool] = {}
        self.doing: list[str] = []
        self._busy: list[str] = []  # whose declarations are being read

    def namespaces(self) -> tuple[str, ...]:
        """The namespaces around the function."""
        inside = [k for k, s in enumerate(self.scope) if s in self.function.entity.classes or self._is_class(s)]
        return self.scope[: inside[0]] if inside else self.scope

    @contextmanager
    def at(self, scope: tuple[str, ...]) -> Iterator[None]:
        """Names as another function of the file sees them: it knows no variables of this one."""
        saved = self.locals, self.scope, self.members
        self.locals, self.scope, self.members = {}, scope, None
        try:
            yield
        finally:
            self.locals, self.scope, self.members = saved

    def names(self) -> NameLookup:
        here = self.scope
        return NameLookup(self.use, self.call, lambda found: self.types.text(found, here), self.is_type,
                     lambda name: name in self.locals, self._scoped_number)

    def is_type(self, name: str) -> bool:
        key = (self.scope, bool(self.locals), name)
        if key not in self._is:
            local = self.locals.get(name)
            known = local.kind == "type" if local is not None else self.types.is_type(name, self.scope)
            self._is[key] = known or name in self.types.unknown
        return self._is[key]

    # -- variables -------------------------------------------------------------------------------------

    def use(self, t: CxxToken, changed: bool = False) -> None:
        """Make sure that a variable or constant is declared in the C text."""
        local, name = self.locals.get(t.text), t.text
        if local is not None:
            if local.declarator.is_reference and not (local.place == "param" and local.declarator.round):
                self._reference(local, t, changed)
            elif name not in self.kept:
                self._local(local, t)
            return
        if self.members is not None and not self._is_global(t):
            self._member(self.members, t, changed)
            return
        if name in self._globals and not self.doing:
            return
        found = self.unit.find(name, self.scope, self.function.entity.body)
        if found and self._globals.get(name, found[0].entity.begin) != found[0].entity.begin:
            raise NotC(f"`{name}` means different things here and in a function that is called", t.begin)
        if found and name in self._globals:
            return
        if any(n.kind == "enumerator" for n in found):
            self._enumeration(found[0], t)
        elif found and all(n.kind == "variable" for n in found):
            self._global(found, t)
        elif not found and name in self.unit.kept:
            self._globals[name] = -1
        else:
            what = "a template" if any(n.kind == "template" for n in found) else "not declared where it can be seen"
            raise NotC(f"`{name}` is {what}", t.begin, "declare it as a plain variable")

    def finish(self, written: frozenset[str]) -> None:
        """A reference that is a parameter may be part of a variable of the file, but of none of the function's own."""
        for name, t in self._references.items():
            other = sorted(w for w in written | self.written if w in self._globals and w not in self.locals)
            if other:
                why = f"`{name}` is a reference and may be part of `{other[0]}`, which the region changes"
                raise NotC(why, t.begin, _VALUE)

    def has_global(self, name: str) -> bool:
        return name in self._globals and name not in self.locals

    def values(self, found: Tokens, scope: tuple[str, ...]) -> None:
        """The names in the sizes of an array."""
        for k, t in enumerate(found):
            if t.text == "::" or (t.text == "(" and k and found[k - 1].kind == "word"):
                raise NotC("a size that cannot be read", t.begin, "use a number or a constant")
            if t.kind == "word":
                self.use(t)

    def _local(self, local: LocalName, t: CxxToken) -> None:
        if local.kind == "type" or "extern" in local.qualifiers:
            raise NotC(f"`{t.text}` is {'a type' if local.kind == 'type' else 'declared extern'}", t.begin)
        value = self._number(local.type, local.declarator, local.qualifiers) if local.place != "param" else None
        if value is not None:
            self.constants.add(t.text)
            self.kept[t.text] = f"enum {{ {t.text} = {value} }}"
            return
        self.kept[t.text] = self._object(local.type, local.declarator, local.qualifiers, t, local.place == "param")

    def _object(
        self, kind: Tokens, d: CxxDeclarator, qualifiers: frozenset[str], t: CxxToken, param: bool = False
    ) -> str:
        """The declaration of a variable, without a value."""
        if t.text in self._busy:
            raise NotC(f"`{t.text}` is declared by itself", t.begin)
        self._busy.append(t.text)
        try:
            text = self.types.text(kind, self.scope)
            shown = CxxDeclarator(d.name, d.before, d.round, d.behind)
            return f"{prefix(qualifiers)}{text} {self.types.declarator(shown, self.scope, param)}"
        except NotC as error:
            why = error.message if error.message.startswith(f"`{t.text}`") else f"`{t.text}`: {error.message}"
            raise NotC(why, t.begin, error.hint) from None
        finally:
            self._busy.pop()

    def _reference(self, local: LocalName, t: CxxToken, changed: bool) -> None:
        """A value behind a reference is memory that pointers may lead to, as a variable of the file is."""
        d = local.declarator
        plain = CxxDeclarator(d.name, tuple(x for x in d.before if x.text not in ("&", "&&")), d.round, d.behind)
        if changed or local.place != "param" or d.round or d.behind:
            raise NotC(f"`{t.text}` is a reference", t.begin, _VALUE)
        self._references.setdefault(t.text, t)
        self._as_file(t, local.type, plain, local.qualifiers)

    def _member(self, members: Members, t: CxxToken, changed: bool) -> None:
        """A member of the object, which is a variable of the file as far as one object is concerned."""
        found = members.data.get(t.text)
        if found is None:
            raise NotC(f"`{t.text}` may be a member of `{members.owner}`", t.begin, _MEMBER)
        if members.parameters & {x.text for x in (*found.type, *found.declarator.behind)}:
            raise NotC(f"`{t.text}` has a type that only an instance of `{members.owner}` knows", t.begin, _MEMBER)
        value = self._number(found.type, found.declarator, found.qualifiers) if "static" in found.qualifiers else None
        if value is not None and t.text in self.objects:
            return
        if value is not None:
            self._globals[t.text] = found.declarator.name.begin
            self.objects[t.text] = f"const int {t.text} = {value}"
            self.types.pieces.append(FileScopeLine(found.declarator.name.begin, f"enum {{ {t.text} = {value} }};", 0))
            return
        if changed or found.declarator.is_reference:
            raise NotC(f"`{t.text}` is a member of `{members.owner}`", t.begin, _VALUE)
        self._as_file(t, found.type, found.declarator, found.qualifiers)

    def _as_file(self, t: CxxToken, kind: Tokens, d: CxxDeclarator, qualifiers: frozenset[str]) -> None:
        if t.text in self.objects:
            return
        if self._globals.setdefault(t.text, d.name.begin) != d.name.begin:
            raise NotC(f"`{t.text}` means different things here and in a function that is called", t.begin)
        kept = qualifiers & ({"const", "volatile"} if d.before or d.behind else {"volatile"})
        text = self._object(kind, d, kept, t)
        self.objects[t.text] = text
        self.types.pieces.append(FileScopeLine(d.name.begin, f"{text};", 0))

    def _is_global(self, t: CxxToken) -> bool:
        """In a function of a class: is it surely no member?"""
        m = self.members
        if m is None or t.text in m.data or m.derived:
            return m is None
        return t.text not in m.words

    def _number(self, kind: Tokens, d: CxxDeclarator, qualifiers: frozenset[str], depth: int = 8) -> int | None:
        """The value of a constant of type int, which is a value in C++ wherever C wants one."""
        if not is_constant(kind, d, qualifiers) or not depth:
            return None
        return evaluated(d.value, lambda name: self._named_number(name, depth - 1))

    def _scoped_number(self, found: Tokens) -> int | None:
        path = [t.text for t in found if t.kind == "word"]
        for k in range(len(self.scope), -1, -1):
            inside = (*self.scope[:k], *path[:-1])
            here = self.unit.find_in(path[-1], inside, self.function.entity.body)
            n = here[0] if len(here) == 1 and here[0].kind == "variable" else None
            if n is not None and n.declarator is not None:
                with self.at(inside):
                    value = self._number(n.type, n.declarator, n.qualifiers)
                self.piece(n, "")  # the macros in it count
                return value
            if here:
                break
        return None

    def _named_number(self, name: str, depth: int) -> int | None:
        local, found = self.locals.get(name), self.unit.find(name, self.scope, self.function.entity.body)
        if local is not None:
            return self._number(local.type, local.declarator, local.qualifiers, depth)
        n = found[0] if len(found) == 1 and found[0].kind == "variable" else None
        hidden = self.members is not None and name in self.members.words
        if hidden or n is None or n.declarator is None:
            return None
        return self._number(n.type, n.declarator, n.qualifiers, depth)

    def _global(self, found: list[Named], t: CxxToken) -> None:
        n = next((n for n in found if "extern" not in n.qualifiers), found[0])
        d = n.declarator
        if d is None or not n.type:
            raise NotC(f"`{t.text}` has a type that cannot be read", t.begin)
        self._globals[t.text] = found[0].entity.begin
        value = self._number(n.type, d, n.qualifiers)
        if value is not None:
            self.piece(n, f"enum {{ {t.text} = {value} }};")
            return
        scope = n.entity.scope
        try:
            kind = self.types.text(n.type, scope)
            text = self.types.declarator(CxxDeclarator(d.name, d.before, d.round, d.behind), scope)
        except NotC as error:
            raise NotC(f"`{t.text}`: {error.message}", t.begin, error.hint) from None
        self.piece(n, f"{prefix(n.qualifiers)}{kind} {text}{self._constant(n)};")

    def _constant(self, n: Named) -> str:
        """The value of a constant that is not of type int, if it is a number."""
        d = n.declarator
        if d is None or not n.qualifiers & {"const", "constexpr"} or d.before or d.behind:
            return ""
        return f" = {self._source(d.value)}" if len(d.value) == 1 and d.value[0].kind == "number" else ""

    def _enumeration(self, n: Named, t: CxxToken) -> None:
        e = n.entity
        found = code(tokens(self.unit.text, e.body, e.end))
        inside = found[1 : group_end(found, 0) - 1]
        if any(x.text in ("class", "struct", ":") for x in tokens(self.unit.text, e.begin, e.body)):
            raise NotC(f"`{t.text}` belongs to an enumeration with a scope or a type of its own", t.begin,
                       "use a constant of type int")
        names = {part[0].text for part in split_at(inside, ",") if part}
        self._globals |= dict.fromkeys({*names, t.text}, e.begin)
        for x in inside:
            if x.kind == "word" and x.text not in names:
                self.use(x)
        self.piece(n, f"enum {{ {self._source(inside)} }};")

    def piece(self, n: Named, text: str) -> None:
        """A declaration at file scope, for what an entity declares."""
        lines = self.unit.text.count("\n", n.entity.begin, n.entity.end)
        self.types.pieces.append(FileScopeLine(n.entity.begin, text, lines))

    def _source(self, found: Tokens) -> str:
        return self.unit.text[found[0].begin : found[-1].end].replace("\n", " ") if found else ""

    # -- classes ---------------------------------------------------------------------------------------

    def _is_class(self, name: str) -> bool:
        found = self.unit.find(name, self.function.entity.scope, 1 << 60)
        return any(n.kind in ("class", "template") for n in found) or any(name in e.classes for e in self.unit.entities)

    # -- functions -------------------------------------------------------------------------------------

    def call(self, t: CxxToken) -> str:
        """How C calls a function; its definition is there if it can be read."""
        if t.text in self.locals:
            self.use(t)
            return t.text
        if t.text in self._functions:
            return self._functions[t.text]
        if t.text in self.function.usings:
            return STD + t.text
        found = self.unit.find(t.text, self.scope, self.function.entity.body)
        for name in (u.removesuffix("::") for u in sorted(self.function.usings) if u.endswith("::")):
            found += self.unit.find_in(t.text, tuple(name.split("::")), self.function.entity.body)
        own = [n for n in found if self.unit.where.locate(n.entity.begin).file not in self.system]
        if not self._is_global(t):
            raise NotC(f"`{t.text}` may be a function of the class", t.begin, _VALUE)
        if own and len(own) < len(found):
            raise NotC(f"there are several functions `{t.text}`", t.begin, ALONE)
        if not found and self.system and not t.text.startswith("__builtin_"):
            raise NotC(f"`{t.text}` is not declared where it can be seen", t.begin, _VALUE)
        if own:
            self._functions[t.text] = t.text
            if not Definitions(self).define(own, t) and self._is_standard(t.text):
                why = f"`{t.text}` is not the function of the standard library, and its body cannot be read"
                raise NotC(why, t.begin, ALONE)
        else:
            chosen = any(n.entity.scope[:1] == ("std",) for n in found)
            self._functions[t.text] = STD + t.text if chosen else t.text
        return self._functions[t.text]

    def _is_standard(self, name: str) -> bool:
        found = [*self.unit.find_in(name, (), 1 << 60), *self.unit.find_in(name, ("std",), 1 << 60)]
        return any(self.unit.where.locate(n.entity.begin).file in self.system for n in found)

    def pure(self) -> Iterator[str]:
        """The functions that have the attribute `const`."""
        for name in self._functions:
            for n in self.unit.find(name, self.scope, self.function.entity.body):
                e = n.entity
                if is_pure(self.unit.text[e.begin : e.body if e.body >= 0 else e.end]):
                    yield name
