"""Does a printed statement, or a lane of vectors, compute what a statement of the model does?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from codegen.ast.ctree import CExpr, Instance
from codegen.verify.cores.values import Element, Scope, Term, Value, alike, expected, printed, wanted
from codegen.verify.text.read import Node, Unread

NOWHERE: Mapping[str, CExpr] = MappingProxyType({})
Places = dict[int, set[str]]  # of each access: the boxes it is found in; "" is main memory, or the region's own


def check_statement(sc: Scope, at: Instance, marked: Node, found: Node, places: Places) -> None:
    """Raises Unread unless the printed statement is the wanted one."""
    seen: dict[Element, set[str]] = {}
    mine, want = printed(sc, found), expected(sc, at, marked)
    if not alike(mine, want, seen) and not _alike_fold(sc, at, mine, marked, seen):
        raise Unread(f"another statement than {at.stmt}")
    note_places(sc, at, seen, NOWHERE, places)


def _alike_fold(sc: Scope, at: Instance, mine: Value, marked: Node, seen: dict[Element, set[str]]) -> bool:
    """`t += e` for `t = t + e`, however the sum is written."""
    if not isinstance(mine, Term) or mine.kind != "do" or marked.kind != "do" or marked.kids[0].kind != "assign":
        return False
    (store,) = mine.kids
    if not isinstance(store, Term) or store.kind != "assign" or store.text == "=":
        return False
    target, rest = store.kids
    value = Term("binary", store.text[:-1], (target, rest))
    place = expected(sc, at, marked.kids[0].kids[0])
    return alike(target, place, seen) and any(alike(value, w, seen) for w in values_of(sc, at, marked, NOWHERE))


def values_of(sc: Scope, at: Instance, marked: Node, shift: Mapping[str, CExpr]) -> list[Value]:
    """The value that an assignment stores, in the spellings that are the same: sums and products of two either way."""
    store = marked.kids[0]
    value = expected(sc, at, store.kids[1], shift)
    if store.text != "=":
        return [Term("binary", store.text[:-1], (expected(sc, at, store.kids[0], shift), value))]
    if isinstance(value, Term) and value.kind == "binary" and value.text in ("+", "*"):
        return [value, Term("binary", value.text, value.kids[::-1])]
    return [value]


def alike_lanes(found: Value, want: Value, seen: dict[Element, set[str]]) -> bool:
    """As `alike`; lanes have one type, to which nothing needs to be converted."""
    if isinstance(want, Term) and want.kind == "cast" and not (isinstance(found, Term) and found.kind == "cast"):
        return alike_lanes(found, want.kids[0], seen)
    if isinstance(found, Term) and isinstance(want, Term):
        same = found[:2] == want[:2] and len(found.kids) == len(want.kids)
        return same and all(alike_lanes(a, b, seen) for a, b in zip(found.kids, want.kids, strict=True))
    return alike(found, want, seen)


def note_places(
    sc: Scope, at: Instance, seen: Mapping[Element, set[str]], shift: Mapping[str, CExpr], places: Places
) -> None:
    """Notes for each access where its element was found."""
    for k in range(len(sc.scop.statement(at.stmt).accesses)):
        where = seen.get(wanted(sc, at, k, shift))
        if where:
            places.setdefault(k, set()).update(where)


def elements(v: Value) -> Iterator[Element]:
    if isinstance(v, Element):
        yield v
    elif isinstance(v, Term):
        for k in v.kids:
            yield from elements(k)
