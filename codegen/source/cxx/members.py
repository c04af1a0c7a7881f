"""Finds the data members of the class that a C++ member function belongs to, with their types: `writer.py` looks up
names in them that a region uses without `this->`. Also says whether base classes may add more."""
from __future__ import annotations

from codegen.record import record
from codegen.source.cxx.declare import CxxDeclarator, declaration
from codegen.source.cxx.names import TranslationUnit
from codegen.source.cxx.scopes import Entity, without_template
from codegen.source.cxx.tokens import CxxToken, code, group_end, tokens, words
from codegen.source.cxx.types import member_parts


@record
class ClassMember:
    """Data of an object, or of the class itself if it is `static`."""

    type: tuple[CxxToken, ...]
    declarator: CxxDeclarator
    qualifiers: frozenset[str]


@record
class Members:
    """What is known of a class: its data, all words in it, and whether it may have more, from base classes."""

    owner: str
    data: dict[str, ClassMember]
    words: frozenset[str]
    derived: bool
    parameters: frozenset[str] = frozenset()  # words of the template that the class is


def members_of(unit: TranslationUnit, owner: str, scope: tuple[str, ...]) -> Members:
    """The members of a class around a function, or of one that the function's name is qualified with."""
    inside = [x for x in unit.entities if owner in x.classes]
    if inside:
        named = [n for x in inside if x.scope[-1:] == (owner,) for n in unit.declared(x)]
        data = {n.name: ClassMember(n.type, n.declarator, n.qualifiers) for n in named
                if n.kind == "variable" and n.declarator is not None and n.type}  # fmt: skip
        heads = (tokens(unit.text, x.begin, x.end if x.body < 0 else x.body) for x in inside)
        inner = frozenset(t.text for h in heads for t in h)
        parameters = frozenset[str]().union(*(x.parameters for x in inside))
        return Members(owner, data, inner, any(x.derived for x in inside), parameters)
    for k in range(len(scope), -1, -1):
        for n in unit.find_in(owner, scope[:k], 1 << 60):
            if n.kind in ("class", "template") and n.entity.kind == "class":
                return _of_body(unit, owner, n.entity)
    return Members(owner, {}, frozenset(), True)


def _of_body(unit: TranslationUnit, owner: str, e: Entity) -> Members:
    found = code(tokens(unit.text, e.body, e.end))
    data: dict[str, ClassMember] = {}
    for part in member_parts(found[1 : group_end(found, 0) - 1]):
        made = declaration(part, lambda n: False, lambda n: True)
        if made is None or made.has("typedef", "friend"):
            continue
        qualifiers = frozenset(t.text for t in made.qualifiers)
        data |= {d.name.text: ClassMember(made.type, d, qualifiers) for d in made.declarators if not d.is_function}
    whole = unit.text[e.begin : e.body]
    template = words(code(tokens(whole[: len(whole) - len(without_template(whole))])))
    return Members(owner, data, words(found), ":" in without_template(whole).replace("::", ""), template)
