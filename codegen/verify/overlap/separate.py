"""Decides whether two arrays, or a value that the region reads and an array that it writes, are separate memory by the
rules of C, whatever the program passes to the region.

Only positive reasons count: what is not known to be separate from memory that is written has to be compared at run
time. The reasons are those of the C standard: objects of different names, and members of one, have memory of their own
(6.2.5, 6.5.9); nobody has a pointer to a variable whose address is not taken, nor one from before the call to a
variable of that call (6.2.4); what is accessed by a `restrict` pointer and changes is accessed by that alone (6.7.3.1);
new memory from an allocation is nobody else's (7.22.3); and an object is accessed by its type, or as characters (6.5),
unless the compiler was told that this does not hold (-fno-strict-aliasing).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product, takewhile
from typing import NamedTuple

import islpy as isl

from codegen.scop.expr import Sym, walk
from codegen.scop.model import Access, AccessStep, Array, Scop
from codegen.scop.origins import Place
from codegen.scop.types import CType


class Value(NamedTuple):
    """A single object that the region only reads: its C text, its type (None for a pointer), and for which parameters
    it is looked at (None for all)."""

    text: str
    ctype: CType | None
    used: isl.Set | None

    @property
    def base(self) -> str:
        return str(re.findall(r"[A-Za-z_]\w*", self.text)[0])

    @property
    def behind(self) -> bool:
        """Does a pointer lead to it?"""
        return bool(re.search(r"->|\[|^\W*\*", self.text))


def outside(scop: Scop) -> list[Array]:
    """Arrays of the source that the region uses, and that it has not declared itself."""
    found = [scop.arrays[n] for n in sorted({a.array for _, a in scop.accesses()})]
    return [x for x in found if not x.inside and x.place != "buffer"]


def written(scop: Scop) -> frozenset[str]:
    return frozenset(a.array for _, a in scop.accesses() if a.write)


def related(scop: Scop, one: Array, two: Array) -> bool:
    """Does the function itself set the one from the other?"""
    if is_object(one) and is_object(two):
        return False
    return any(scop.origins.related(p, q) for p, q in product(_places(scop, one), _places(scop, two)))


def separate(scop: Scop, one: Array, two: Array) -> bool:
    """Is it known that two arrays, one of them written, have no element in common?"""
    if is_object(one) and is_object(two):
        return one.base != two.base or _members(scop, one, two)
    if one.base == two.base and _place(scop, one) == _place(scop, two) and _members(scop, one, two):
        return True
    if related(scop, one, two):
        return False
    if _hidden(scop, one) or _hidden(scop, two):
        return True
    pairs = ((one, two), (two, one))
    return any(_reserved(scop, x) and _cannot_lead_to(scop, y) for x, y in pairs) or _of_other_types(scop, one, two)


def separate_value(scop: Scop, array: Array, v: Value) -> bool:
    """Is it known that no store to an array changes a value?"""
    if not _may_store(scop, array, v.ctype) or _hidden(scop, array):
        return True
    named = scop.origins.visible | scop.origins.exposed | _global_pointers(scop)
    if not v.behind:
        return v.base not in named or is_object(array) or _reserved(scop, array)
    kept = v.base in scop.origins.restricted | scop.origins.fresh
    if array.base == v.base:  # members of what the pointer leads to, not what their own pointers lead to
        return array.depth <= sum(step.kind == "arrow" for step in _lead(scop, array))
    if is_object(array):
        return kept or (array.place != "global" and v.base in scop.origins.settled)
    return kept or _reserved(scop, array)


def values(scop: Scop) -> Iterator[Value]:
    """Everything that the region reads but elements of its arrays: parameters, numbers, what computed parameters are
    made of, and the pointers on the ways to elements."""
    own = {c.param for c in scop.computed}
    yield from (Value(p.text, p.ctype, None) for p in scop.params if p.name not in own)
    for s in scop.statements:
        found = (e for e in walk(s.rhs) if isinstance(e, Sym) and e.ctype is not None)
        yield from (Value(e.text, e.ctype, s.domain.params()) for e in found)
    for c in scop.computed:
        for r in c.reads:
            if r.base:
                yield Value(r.text, r.ctype, c.where)
            else:  # what lies between two pointers
                yield from (Value(end, None, c.where) for end in r.text.split(" - ") if "->" in end)
    for s in scop.statements:
        for a in s.accesses:
            yield from (Value(text, None, s.instances(a).params()) for text in _pointers(scop, a))


def is_object(array: Array) -> bool:
    """Does its name stand for the memory itself?"""
    declared = array.place in ("global", "local") and array.depth == 0
    return declared or (array.rank == 0 and not array.opaque)


def is_character(t: CType) -> bool:
    """May an object be accessed by it whatever its own type is? Structs may hold anything."""
    return t.kind == "other" or (t.is_int and t.bits == 8)


def _may_store(scop: Scop, array: Array, ctype: CType | None) -> bool:
    t = array.part or array.elem
    same = ctype is not None and (t.kind, t.bits) == (ctype.kind, ctype.bits)
    return same or not scop.dialect.typed_memory or is_character(t)


def _hidden(scop: Scop, array: Array) -> bool:
    """A variable that no pointer can lead to."""
    plain = array.rank == 0 and not array.opaque
    return plain and array.place != "global" and array.base not in scop.origins.exposed


def _reserved(scop: Scop, array: Array) -> bool:
    """Memory that only its own name leads to, and what was set from it."""
    if is_object(array):
        return array.place != "global"
    return _behind_name(scop, array) and array.base in scop.origins.restricted | scop.origins.fresh


def _cannot_lead_to(scop: Scop, array: Array) -> bool:
    """Is it no memory that another name could have been made to lead to, without the function showing that?"""
    if is_object(array):
        return True
    return _behind_name(scop, array) and array.base in scop.origins.settled | scop.origins.fresh


def _of_other_types(scop: Scop, one: Array, two: Array) -> bool:
    """Elements of arrays with subscripts that depend on data are told apart by their types."""
    a, b = one.part or one.elem, two.part or two.elem
    known = scop.dialect.typed_memory and all(t.kind in ("int", "float") and not is_character(t) for t in (a, b))
    return (one.opaque or two.opaque) and known and (a.kind, a.bits) != (b.kind, b.bits)


def _behind_name(scop: Scop, array: Array) -> bool:
    """Do the elements lie behind the variable itself, not behind pointers in memory?"""
    return array.depth <= 1 and len(_place(scop, array)) == 1


def _members(scop: Scop, one: Array, two: Array) -> bool:
    """Do the ways to them go apart at members of one object, or of the elements of one array? Members of unions are one
    array in the model."""
    a, b = (_path(scop, x) for x in (one, two))
    at = next((k for k, (p, q) in enumerate(zip(a, b, strict=False)) if p.text != q.text), None)
    if at is None or any(step.kind not in ("member", "arrow") for step in (a[at], b[at])):
        return False
    return all(_kind(p) == _kind(q) for p, q in zip(a[: at + 1], b, strict=False))


def _kind(step: AccessStep) -> str:
    return "sub" if step.kind in ("sub", "flat", "data") else step.kind


def _path(scop: Scop, array: Array) -> tuple[AccessStep, ...]:
    return scop.accesses_to(array.name)[0][1].path


def _lead(scop: Scop, array: Array) -> tuple[AccessStep, ...]:
    """The members ahead of the first subscript."""
    return tuple(takewhile(lambda step: step.kind in ("member", "arrow"), _path(scop, array)))


def _place(scop: Scop, array: Array) -> Place:
    """The variable, and the members that lead to the pointer to the elements, or to elements of the variable itself."""
    lead = _lead(scop, array)
    return (array.base, *(step.text for step in lead if len(lead) < len(_path(scop, array))))


def _places(scop: Scop, array: Array) -> tuple[Place, ...]:
    """Also, of a whole variable, those of its members that something was set from."""
    whole = array.rank == 0 and not array.opaque
    return (_place(scop, array), *(scop.origins.inside(array.base) if whole else ()))


def _pointers(scop: Scop, a: Access) -> Iterator[str]:
    """The pointers that an access follows up to its first subscript, as C texts."""
    array = scop.arrays[a.array]
    if array.inside or array.place == "buffer":
        return
    text, arrows = array.base, 0
    depth = max(array.depth, int(array.place == "param"))  # arrays that are parameters are pointers
    for step in a.path:
        if step.kind not in ("member", "arrow"):
            if depth > arrows:
                yield text
            return
        if step.kind == "arrow":
            yield text
            arrows += 1
        text += ("->" if step.kind == "arrow" else ".") + step.text


def _global_pointers(scop: Scop) -> frozenset[str]:
    return frozenset(x.base for x in scop.arrays.values() if x.place == "global" and x.depth > 0)
