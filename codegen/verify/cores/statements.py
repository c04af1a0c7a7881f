"""Compares a printed statement, or a lane of vectors, with a statement of the model up to equivalent spellings, and
notes in which box of local memory each access finds its element. `check_statement` raises Unread where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from codegen.ast.ctree import CExpr, Instance
from codegen.verify.cores.values import LocalElement, NameScope, Value, ValueTerm, alike, expected, printed, wanted
from codegen.verify.text.read import Node, Unread

NOWHERE: Mapping[str, CExpr] = MappingProxyType({})
Places = dict[int, set[str]]  # of each access: the boxes it is found in; "" is main memory, or the region's own


def check_statement(sc: NameScope, at: Instance, marked: Node, found: Node, places: Places) -> None:
    """Raises Unread unless the printed statement is the wanted one."""
    seen: dict[LocalElement, set[str]] = {}
    mine, want = printed(sc, found), expected(sc, at, marked)
    if not alike(mine, want, seen) and not _alike_fold(sc, at, mine, marked, seen):
        raise Unread(f"another statement than {at.stmt}")
    note_places(sc, at, seen, NOWHERE, places)


def _alike_fold(sc: NameScope, at: Instance, mine: Value, marked: Node, seen: dict[LocalElement, set[str]]) -> bool:
    """`t += e` for `t = t + e`, however the sum is written."""
    if not isinstance(mine, ValueTerm) or mine.kind != "do" or marked.kind != "do" or marked.kids[0].kind != "assign":
        return False
    (store,) = mine.kids
    if not isinstance(store, ValueTerm) or store.kind != "assign" or store.text == "=":
        return False
    target, rest = store.kids
    value = ValueTerm("binary", store.text[:-1], (target, rest))
    place = expected(sc, at, marked.kids[0].kids[0])
    return alike(target, place, seen) and any(alike(value, w, seen) for w in values_of(sc, at, marked, NOWHERE))


def values_of(sc: NameScope, at: Instance, marked: Node, shift: Mapping[str, CExpr]) -> list[Value]:
    """The value that an assignment stores, in the spellings that are the same: sums and products of two either way."""
    store = marked.kids[0]
    value = expected(sc, at, store.kids[1], shift)
    if store.text != "=":
        return [ValueTerm("binary", store.text[:-1], (expected(sc, at, store.kids[0], shift), value))]
    if isinstance(value, ValueTerm) and value.kind == "binary" and value.text in ("+", "*"):
        return [value, ValueTerm("binary", value.text, value.kids[::-1])]
    return [value]


def alike_lanes(found: Value, want: Value, seen: dict[LocalElement, set[str]]) -> bool:
    """As `alike`; lanes have one type, to which nothing needs to be converted."""
    if (
        isinstance(want, ValueTerm)
        and want.kind == "cast"
        and not (isinstance(found, ValueTerm) and found.kind == "cast")
    ):
        return alike_lanes(found, want.kids[0], seen)
    if isinstance(found, ValueTerm) and isinstance(want, ValueTerm):
        same = found[:2] == want[:2] and len(found.kids) == len(want.kids)
        return same and all(alike_lanes(a, b, seen) for a, b in zip(found.kids, want.kids, strict=True))
    return alike(found, want, seen)


def note_places(
    sc: NameScope, at: Instance, seen: Mapping[LocalElement, set[str]], shift: Mapping[str, CExpr], places: Places
) -> None:
    """Notes for each access where its element was found."""
    for k in range(len(sc.scop.statement(at.stmt).accesses)):
        where = seen.get(wanted(sc, at, k, shift))
        if where:
            places.setdefault(k, set()).update(where)


def elements(v: Value) -> Iterator[LocalElement]:
    if isinstance(v, LocalElement):
        yield v
    elif isinstance(v, ValueTerm):
        for k in v.kids:
            yield from elements(k)
