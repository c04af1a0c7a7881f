"""Parses the text of a format descriptor into a `Descriptor`; raises located errors. Statements: format, shape, let,
map, access, data, uf, forall, key, symmetric, skew, permute; `#` starts a comment."""
from __future__ import annotations

from dataclasses import field

from codegen.diagnostics import Loc
from codegen.record import record
from codegen.sparse.algebra.expr import Exp, var
from codegen.sparse.algebra.lexer import bad
from codegen.sparse.algebra.parse import Reader
from codegen.sparse.algebra.relation import Relation, function_of
from codegen.sparse.algebra.terms import calls, names, subst
from codegen.sparse.formats.check import check
from codegen.sparse.formats.codes import with_codes
from codegen.sparse.formats.model import Descriptor, Function, Key, Permutation, Quantifier

_WORDS = ("format", "shape", "let", "map", "access", "data", "uf", "forall", "key", "symmetric", "skew", "permute")


@record
class _Parts:
    """What has been read so far; statements may come in any order."""

    single: dict[str, object] = field(default_factory=dict)
    lets: list[tuple[str, Exp]] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    quantifiers: list[tuple[Exp, Exp, str, str, str, Loc]] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    places: dict[str, Loc] = field(default_factory=dict)


def read(name: str, text: str) -> Descriptor:
    """The descriptor a text holds; `name` is what messages call the file."""
    reader, parts = Reader(name, text), _Parts()
    while reader.here.kind != "end":
        loc = reader.loc
        word = reader.ident("a statement")
        if word not in _WORDS:
            raise bad(f"unknown statement '{word}'", loc, f"statements are {', '.join(_WORDS)}")
        if word in parts.single:
            raise bad(f"a second '{word}'", loc, f"the first is on line {parts.places[word].line}")
        _STATEMENTS[word](reader, parts, loc)
        parts.places.setdefault(word, loc)
    return _build(name, text, parts, reader)


def _format(r: Reader, p: _Parts, loc: Loc) -> None:
    p.single["format"] = r.ident("the format's name")


def _shape(r: Reader, p: _Parts, loc: Loc) -> None:
    p.single["shape"] = _list(r, "the name of an extent")


def _list(r: Reader, what: str) -> tuple[str, ...]:
    out = [r.ident(what)]
    while r.accept(","):
        out.append(r.ident(what))
    return tuple(out)


def _let(r: Reader, p: _Parts, loc: Loc) -> None:
    id = r.ident("a symbol")
    r.expect("=")
    p.lets.append((id, r.exp()))


def _map(r: Reader, p: _Parts, loc: Loc) -> None:
    p.single["map"] = r.relation()


def _access(r: Reader, p: _Parts, loc: Loc) -> None:
    p.single["access"] = r.relation()


def _data(r: Reader, p: _Parts, loc: Loc) -> None:
    p.single["data"] = r.ident("the name of the value array")
    if r.accept("fill"):
        at = r.loc
        if r.integer("0") != 0:
            raise bad("values are filled with 0 only", at)
        p.single["fill"] = True


def _uf(r: Reader, p: _Parts, loc: Loc) -> None:
    id = r.ident("the function's name")
    if any(f.name == id for f in p.functions):
        raise bad(f"{id} is declared twice", loc)
    domain = r.relation()
    r.expect("->", f" between domain and range of {id}")
    range_ = r.relation()
    fill = r.integer("the value of unused elements") if r.accept("fill") else None
    if len(range_.ins) != 1:
        raise bad(f"the range of {id} must be a set of one-tuples", loc)
    p.functions.append(Function(id, domain, range_, fill, loc))


def _forall(r: Reader, p: _Parts, loc: Loc) -> None:
    first = r.ident("a variable")
    r.expect(",")
    second = r.ident("a variable")
    r.expect(":")
    at = r.loc
    if r.chain() != Reader("", f"{first} < {second}").chain():
        raise bad(f"the left side must be {first} < {second}", at)
    r.expect("<=>")
    left = r.exp()
    sign = r.accept("<=", "<", ">=", ">")
    if sign is None:
        raise bad(f"expected <, <=, > or >=, found '{r.here.text}'", r.loc)
    at = r.loc
    right = r.exp()
    if subst(left, {first: var(second)}) != right:
        raise bad(f"the right side must compare the same key of {first} and {second}", at)
    p.quantifiers.append((left, right, first, second, sign, loc))


def _key(r: Reader, p: _Parts, loc: Loc) -> None:
    id = r.ident("the key's name")
    r.expect("(")
    parameters = _list(r, "a parameter")
    r.expect(")")
    opening = r.expect("{", " before the C body of the key")
    depth = 1
    while depth:
        if r.here.kind == "end":
            raise bad(f"the body of {id} has no end", loc)
        depth += {"{": 1, "}": -1}.get(r.here.text, 0)
        r.at += 1
    p.keys.append(Key(id, parameters, r.text[opening.stop:r.tokens[r.at - 1].start].strip()))


def _symmetric(r: Reader, p: _Parts, loc: Loc) -> None:
    p.single["symmetric"] = 1


def _skew(r: Reader, p: _Parts, loc: Loc) -> None:
    p.single["skew"] = -1


def _permute(r: Reader, p: _Parts, loc: Loc) -> None:
    name = r.ident("the array with the order of rows")
    at = r.loc
    window = r.integer("how many rows are put in order at a time") if r.accept("within") else 0
    if window < 0 or (window == 0 and at != r.loc):
        raise bad("rows are put in order within at least one row", at)
    p.single["permute"] = Permutation(name, window)


_STATEMENTS = {"format": _format, "shape": _shape, "let": _let, "map": _map, "access": _access, "data": _data,
               "uf": _uf, "forall": _forall, "key": _key, "symmetric": _symmetric, "skew": _skew,
               "permute": _permute}


def _build(name: str, text: str, p: _Parts, r: Reader) -> Descriptor:
    for word in ("format", "shape", "map", "access", "data"):
        if word not in p.single:
            raise bad(f"the descriptor has no '{word}'", r.loc)
    single = p.single
    map_, access = single["map"], single["access"]
    assert isinstance(map_, Relation) and isinstance(access, Relation)
    shape = tuple(single["shape"])  # type: ignore[arg-type,var-annotated]
    map_ = with_codes(map_, shape, p.places["map"])
    if access.ins != map_.ins or len(access.outs) != 1:
        raise bad(f"access must map [{', '.join(map_.ins)}] to one index", p.places["access"])
    index = function_of(access)
    if index is None:
        raise bad("access is no function of the tuple", p.places["access"])
    quantifiers = tuple(_quantifier(map_, q) for q in p.quantifiers)
    made = Descriptor(str(single["format"]), shape, map_,
                      index[access.outs[0]], str(single["data"]), bool(single.get("fill")), tuple(p.lets),
                      tuple(p.functions), quantifiers, tuple(p.keys), text, Loc(name, 1), p.places["map"],
                      p.places["access"], int(str(single.get("symmetric", single.get("skew", 0)))),
                      single.get("permute"))  # type: ignore[arg-type]
    if sum(word in single for word in ("symmetric", "skew", "permute")) > 1:
        raise bad("a format is symmetric, skew or has its rows in another order: one of them", made.loc)
    if made.indirect and made.rank != 2:
        raise bad("only matrices are symmetric, skew or have their rows in another order", made.loc)
    check(made, p.places)
    return made


def _quantifier(map_: Relation, q: tuple[Exp, Exp, str, str, str, Loc]) -> Quantifier:
    """Find the tuple variable a quantifier speaks of: by the call it shares with the map, or by its name."""
    left, _, first, _, sign, loc = q
    for c in calls(left):
        if c.args == (var(first),):
            for m in (m for con in map_.cons for m in calls(con.exp) if m.id == c.id and len(m.args) == 1):
                found = sorted(names(m.args[0]) & frozenset(map_.ins))
                if len(found) == 1:
                    return Quantifier(found[0], subst(left, {first: var(found[0])}), sign, loc)
    plain = first.rstrip("0123456789")
    if plain not in map_.ins:
        raise bad(f"cannot tell which tuple variable '{first}' stands for", loc,
                  f"name it after one of {', '.join(map_.ins)}, with a digit")
    return Quantifier(plain, subst(left, {first: var(plain)}), sign, loc)
