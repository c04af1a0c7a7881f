"""Proof of substitution (values of temporaries in place of the temporaries): `wrong_substitution` returns what would
differ, or the empty string.

Two regions are compared, the one before and the one after, with nothing taken from the way the second was made. A
statement that stays has the same target, instances and order. Its expression is the one before, but that each read of
the temporary is the value of the assignment whose result the read finds (so that nothing else could be read), converted
to the temporary's type unless it has it: the same operations on the same values, with the same roundings. Elements that
this value is made of are not written between the assignment and the read. Nobody reads the temporary any more.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from codegen.recognize.access.ctypes import type_of
from codegen.record import record
from codegen.scop.dependences import flow_through, order_map
from codegen.scop.expr import (
    Affine,
    Binary,
    Cast,
    DataLoop,
    Expr,
    Gather,
    Ref,
    Store,
    children,
    may_skip,
    walk,
    with_parts,
)
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.tree import Node


class _Wrong(Exception):
    """What would differ."""


def wrong_substitution(before: Scop, order: Node, after: Scop, new_order: Node, name: str) -> str:
    """What would differ; empty when nothing does."""
    array = before.arrays.get(name)
    if array is None or not array.inside or array.rank:
        return f"`{name}` is no scalar of the region"
    if replace(after, statements=before.statements, arrays=before.arrays) != before:
        return "another region would come of it"
    if after.arrays != {n: a for n, a in before.arrays.items() if n != name}:
        return "it would have other variables"
    try:
        _Substitution(before, order, name).check(after, new_order)
    except _Wrong as problem:
        return str(problem)
    return ""


@record
class _Origin:
    """Where a part of an expression comes from: a statement before, and the instances of the statement after to those
    of that one."""

    stmt: Statement
    way: isl.Map


class _Substitution:
    """The region before, and which assignment each read of the temporary finds."""

    def __init__(self, before: Scop, order: Node, name: str) -> None:
        self.before, self.order, self.name = before, order, name
        self.flow, unfed = flow_through(before, order, name)
        self.times = order_map(before, order)
        if not unfed.is_empty():
            raise _Wrong(f"`{name}` is read before it is written")

    def check(self, after: Scop, new_order: Node) -> None:
        writers = [s.name for s in self.before.statements if s.accesses[s.target].array == self.name]
        stays = [s for s in self.before.statements if s.name not in writers]
        if [s.name for s in stays] != [s.name for s in after.statements]:
            raise _Wrong("other statements would stay")
        if any(a.write and k != s.target for s in self.before.statements for k, a in enumerate(s.accesses)):
            raise _Wrong("a statement writes several elements")
        for s, t in zip(stays, after.statements, strict=True):
            if all(a.array != self.name for a in s.accesses):
                if s is not t:
                    raise _Wrong(f"{s.name} (`{s.source}`) would be another statement")
            else:
                self._same_statement(after, s, t)
        self._same_order(after, new_order)

    def _same_statement(self, after: Scop, s: Statement, t: Statement) -> None:
        """The same target and instances, and the same value."""
        head = (s.iterators, s.op, s.steps, s.loc, s.source)
        if head != (t.iterators, t.op, t.steps, t.loc, t.source) or not s.domain.is_equal(t.domain):
            raise _Wrong(f"{s.name} (`{s.source}`) would run otherwise")
        if not _same_element(s.accesses[s.target], t.accesses[t.target], s.domain, None):
            raise _Wrong(f"{s.name} (`{s.source}`) would write elsewhere")
        if sum(a.write for a in t.accesses) != 1:
            raise _Wrong(f"{s.name} (`{s.source}`) would write several elements")
        here = isl.Map.identity(s.domain.get_space().map_from_set()).intersect_domain(s.domain)
        self._same_value(s.rhs, t.rhs, _Origin(s, here), t)
        self._same_reads(s, t)

    def _same_reads(self, s: Statement, t: Statement) -> None:
        """What is read beside the expression is the target's own element, by `op=`, before and after."""
        used = {e.access for e in walk(t.rhs) if isinstance(e, Ref)}
        mine = [a for a in s.reads if a.array != self.name]
        for k, a in enumerate(t.accesses):
            known = k in used or a.write or any(_same_element(b, a, s.domain, None) for b in mine)
            if not known:
                raise _Wrong(f"{s.name} (`{s.source}`) would read something else")
        for b in mine:
            if s.op != "=" and not any(_same_element(b, a, s.domain, None) for a in t.reads):
                raise _Wrong(f"{s.name} (`{s.source}`) would no longer read what it adds to")

    def _same_value(self, old: Expr, new: Expr, of: _Origin, t: Statement) -> None:
        """Raises _Wrong unless `new` in statement `t` is the value of `old` in the statement that it comes from."""
        if isinstance(old, (Gather, Store, DataLoop)):
            raise _Wrong(f"data decide what {of.stmt.name} does")
        if isinstance(old, Ref):
            a = of.stmt.accesses[old.access]
            if a.array == self.name:
                self._value_of(new, self._writer(of, t), t)
            elif not isinstance(new, Ref) or not _same_element(a, t.accesses[new.access], t.domain, of.way):
                raise _Wrong(f"{t.name} (`{t.source}`) would read another element of `{a.array}`")
        elif isinstance(old, Affine):
            if not isinstance(new, Affine) or old.ctype != new.ctype or not self._same_integer(old, new, of, t):
                raise _Wrong(f"{t.name} (`{t.source}`) would have another integer")
        else:
            self._same_parts(old, new, of, t)

    def _same_parts(self, old: Expr, new: Expr, of: _Origin, t: Statement) -> None:
        """The same operation on the same parts."""
        mine, other = children(old), children(new)
        bare = Ref(-1)
        alike = type(old) is type(new) and len(mine) == len(other)
        if not alike or _emptied(old, bare) != _emptied(new, bare):
            raise _Wrong(f"{t.name} (`{t.source}`) would compute something else")
        for x, y in zip(mine, other, strict=True):
            self._same_value(x, y, of, t)

    def _value_of(self, new: Expr, of: _Origin, t: Statement) -> None:
        """The value of an assignment as the temporary would hold it."""
        w, elem = of.stmt, self.before.arrays[self.name].elem
        own = next((k for k, a in enumerate(w.accesses) if a.array == self.name and not a.write), None)
        if w.op != "=" and own is None:
            raise _Wrong(f"{w.name} (`{w.source}`) is no assignment")
        value = w.rhs if w.op == "=" else Binary(w.op[:-1], Ref(own if own is not None else -1), w.rhs)
        if may_skip(w.rhs):
            raise _Wrong(f"{w.name} (`{w.source}`) may leave `{self.name}` alone")
        kind = type_of(self.before, w, value)
        if kind is None or elem.kind not in ("int", "float") or elem.enum:
            raise _Wrong(f"the type of what {w.name} (`{w.source}`) assigns is not known")
        if (kind.kind, kind.bits, kind.signed) != (elem.kind, elem.bits, elem.signed):
            if not isinstance(new, Cast) or (new.type_text, new.ctype) != (elem.spelling, elem):
                raise _Wrong(f"a value would not be converted to the type of `{self.name}`")
            new = new.arg
        self._unchanged(of, t)
        self._same_value(value, new, of, t)

    def _writer(self, of: _Origin, t: Statement) -> _Origin:
        """The one assignment whose result a statement finds in the temporary, for all of its instances."""
        mine = isl.UnionSet.from_set(of.way.range())
        found = [m for m in maps_of(self.flow.intersect_range(mine)) if not m.is_empty()]
        if len(found) != 1:
            raise _Wrong(f"{of.stmt.name} (`{of.stmt.source}`) finds values of several assignments in `{self.name}`")
        back = found[0].reverse()
        if not of.way.range().is_subset(back.domain()) or not back.is_single_valued():
            raise _Wrong(f"{of.stmt.name} (`{of.stmt.source}`) does not find one value in `{self.name}`")
        writer = self.before.statement(str(back.get_tuple_name(isl.dim_type.out)))
        return _Origin(writer, of.way.apply_range(back))

    def _unchanged(self, of: _Origin, t: Statement) -> None:
        """No element that an assignment reads is written after it and before the statement that takes its value over.
        (Other temporaries of the region are elements, too.)"""
        began = isl.UnionMap.from_map(of.way).apply_range(self.times)
        ends = self.times.intersect_domain(isl.UnionSet.from_set(t.domain))
        for a in of.stmt.reads:
            if a.array == self.name:
                continue
            seen = of.way.apply_range(a.relation.intersect_domain(of.stmt.domain))
            for s, w in self.before.accesses_to(a.array):
                if not w.write:
                    continue
                pairs = isl.UnionMap.from_map(seen.apply_range(w.relation.intersect_domain(s.domain).reverse()))
                own = self.times.intersect_domain(isl.UnionSet.from_set(s.domain))
                between = pairs.intersect(began.lex_lt_union_map(own)).intersect(ends.lex_gt_union_map(own))
                if not between.intersect_params(self.before.context).is_empty():
                    raise _Wrong(f"{s.name} (`{s.source}`) changes `{a.array}` before {t.name} uses `{self.name}`")

    def _same_integer(self, old: Affine, new: Affine, of: _Origin, t: Statement) -> bool:
        mine = isl.Map.from_pw_aff(of.stmt.values[old.value])
        other = isl.Map.from_pw_aff(t.values[new.value]).intersect_domain(t.domain)
        return bool(of.way.apply_range(mine).is_equal(other))

    def _same_order(self, after: Scop, new_order: Node) -> None:
        """The statements that stay run in the order in which they ran."""
        here = isl.UnionSet.empty(self.before.context.get_space())
        for t in after.statements:
            here = here.union(isl.UnionSet.from_set(t.domain.intersect_params(self.before.context)))
        old, new = (x.intersect_domain(here) for x in (self.times, order_map(after, new_order)))
        if not old.lex_lt_union_map(old).is_equal(new.lex_lt_union_map(new)):
            raise _Wrong("what stays would run in another order")


def _emptied(e: Expr, part: Expr) -> Expr:
    """An expression without what is in it."""
    return with_parts(e, lambda _: part)


def _same_element(old: Access, new: Access, domain: isl.Set, way: isl.Map | None) -> bool:
    """The same element by the same path; `way` leads from the instances of the new one to those of the old."""
    if (old.array, old.path, old.write, old.partial) != (new.array, new.path, new.write, new.partial):
        return False
    mine = old.relation if way is None else way.apply_range(old.relation)
    return bool(mine.intersect_domain(domain).is_equal(new.relation.intersect_domain(domain)))
