"""Substitutes the value of a scalar temporary where it is read: `substituted` returns the new region and its tree, or
None where that has no form.

`{ double t = min(A[i][k], B[k][j]); C[i][j] = max(C[i][j], t); }` is the step of a product behind a name. Each read of
the temporary becomes the value that was assigned last ahead of it, converted to its type where that is another one;
then nobody reads it, and its assignments go. That no value changes in between, and that each read finds the assignment
that was taken for its own, is proven elsewhere (`verify/substitution.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codegen.recognize.access.ctypes import type_of
from codegen.recognize.products.forward import prefix, without
from codegen.recognize.products.lane_steps import body_of
from codegen.scop.expr import Affine, Cast, DataBlock, DataLoop, Expr, Gather, Ref, Store, may_skip, walk, with_leaves
from codegen.scop.isl_helpers import relation_of
from codegen.scop.model import Access, Array, Scop, Statement
from codegen.scop.tree import Node
from codegen.scop.types import CType

MOST = 64  # nodes of a value: values in values grow fast


def candidates(scop: Scop) -> tuple[str, ...]:
    """Scalars of the region that are assigned and read."""
    names = [n for n in sorted(scop.arrays) if _is_scalar(scop.arrays[n])]
    return tuple(n for n in names if {a.write for _, a in scop.accesses_to(n)} == {True, False})


def _is_scalar(array: Array) -> bool:
    return array.inside and not array.rank and array.elem.kind in ("int", "float") and not array.elem.enum


def substituted(scop: Scop, tree: Node, name: str) -> tuple[Scop, Node] | None:
    """The region without the temporary, whether or not that changes something."""
    after = without_variable(scop, name)
    if after is None:
        return None
    rest = without(tree, {s.name for s in scop.statements} - {s.name for s in after.statements})
    return None if rest is None else (after, rest)


def without_variable(scop: Scop, name: str) -> Scop | None:
    """The region's statements with values in place of the temporary; None where there is no such form."""
    if name not in candidates(scop):
        return None
    last: Statement | None = None  # the last assignment, with values in place of what it reads
    kept: list[Statement] = []
    for s in scop.statements:
        if all(a.array != name for a in s.accesses):
            kept.append(s)
            continue
        now = _resolved(scop, s, name, last)
        if now is None:
            return None
        if s.accesses[s.target].array != name:
            kept.append(now)
        elif _is_assignment(s, scop.arrays[name]):
            last = now
        else:
            return None
    arrays = {n: a for n, a in scop.arrays.items() if n != name}
    return replace(scop, statements=tuple(kept), arrays=arrays) if kept else None


def _is_assignment(s: Statement, array: Array) -> bool:
    """Does the statement give its temporary a value in each iteration of the loops that this belongs to?"""
    return len(s.iterators) == array.scope and not may_skip(s.rhs) and sum(a.write for a in s.accesses) == 1


def _resolved(scop: Scop, s: Statement, name: str, last: Statement | None) -> Statement | None:
    """A statement with the value of the last assignment in place of the temporary. None where there is none, or where
    data decide about elements."""
    reads = [k for k, a in enumerate(s.accesses) if a.array == name and not a.write]
    if any(isinstance(e, (Gather, Store, DataLoop, DataBlock)) for e in walk(s.rhs)):
        return None
    if not reads:
        return s
    if last is None or last.iterators != s.iterators[: len(last.iterators)]:
        return None
    own = next((k for k in reads if s.op != "=" and k not in _used(s.rhs)), None)
    body = s.rhs if own is None else body_of(s, own)  # `t += e` reads it, too
    taken = _Taken(s, last, name)
    value = converted(scop, last, taken.value(last.rhs), scop.arrays[name].elem)
    if value is None:
        return None
    rhs = with_leaves(body, lambda e: value if isinstance(e, Ref) and e.access in reads else taken.mine(e))
    if sum(1 for _ in walk(rhs)) > MOST:
        return None
    op = s.op if own is None else "="
    return replace(s, op=op, rhs=rhs, target=taken.place[s.target], accesses=taken.accesses, values=taken.values)


def _used(e: Expr) -> set[int]:
    return {x.access for x in walk(e) if isinstance(x, Ref)}


def converted(scop: Scop, s: Statement, value: Expr, to: CType) -> Expr | None:
    """The value of an assignment as its variable holds it. None where its type is not known."""
    kind = type_of(scop, s, s.rhs)
    if kind is None:
        return None
    same = (kind.kind, kind.bits, kind.signed) == (to.kind, to.bits, to.signed)
    return value if same else Cast(to.spelling, value, to)


class _Taken:
    """Accesses and integers of a statement that takes over the value of an assignment, and their new numbers."""

    def __init__(self, s: Statement, last: Statement, name: str) -> None:
        self.s, self.way = s, prefix(s, last)
        mine = [k for k, a in enumerate(s.accesses) if a.array != name or a.write]
        self.place = {k: n for n, k in enumerate(mine)}
        theirs = sorted(_used(last.rhs))
        moved = [self._moved(last, last.accesses[k]) for k in theirs]
        found = [s.accesses[k] for k in mine]
        self.numbers: dict[int, int] = {}
        for k, a in zip(theirs, moved, strict=True):
            n = next((n for n, b in enumerate(found) if _same(a, b)), len(found))
            self.numbers[k] = n
            if n == len(found):
                found.append(a)
        self.accesses = tuple(found)
        self.first = len(s.values)
        self.values = (*s.values, *(v.pullback_multi_pw_aff(self.way) for v in last.values))

    def _moved(self, last: Statement, a: Access) -> Access:
        index = a.index.pullback_multi_pw_aff(self.way)
        where = relation_of(self.way).intersect_range(last.instances(a)).domain() if a.partial else self.s.domain
        return replace(a, index=index, relation=relation_of(index).intersect_domain(where.intersect(self.s.domain)))

    def value(self, e: Expr) -> Expr:
        """The assigned value in the numbers of the statement."""
        return with_leaves(e, self._theirs)

    def _theirs(self, e: Expr) -> Expr:
        if isinstance(e, Ref):
            return Ref(self.numbers[e.access])
        return replace(e, value=self.first + e.value) if isinstance(e, Affine) else e

    def mine(self, e: Expr) -> Expr:
        return Ref(self.place[e.access]) if isinstance(e, Ref) else e


def _same(a: Access, b: Access) -> bool:
    plain = (a.array, a.path, a.partial) == (b.array, b.path, b.partial) and not b.write
    return plain and bool(a.relation.is_equal(b.relation))


def readers(scop: Scop, names: Mapping[str, object]) -> dict[str, set[str]]:
    """Of each temporary, the statements that its value comes to through others of these."""
    found: dict[str, set[str]] = {n: set() for n in names}
    writes = {s.name: s.accesses[s.target].array for s in scop.statements}
    for name in names:
        todo, seen = [name], {name}
        while todo:
            for s, a in scop.accesses_to(todo.pop()):
                to = writes[s.name]
                if a.write:
                    continue
                if to not in names:
                    found[name].add(s.name)
                elif to not in seen:
                    seen.add(to)
                    todo.append(to)
    return found
