"""Computes exact flow, anti and output dependences (`compute_dependences`): which instance must run before which, and
why. Pairs of reduction steps that the caller lets be swapped are kept apart (`folds`).

Flow is value-based: from the last writer to the reader. Anti and output dependences connect neighbouring
accesses of the same element; together with flow they order all conflicting pairs transitively.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TypeVar

import islpy as isl

from codegen.record import record
from codegen.scop.flows import apart, false_dependences, last_writers, times_of
from codegen.scop.isl_helpers import relation_of
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import Node, order


@record
class Dependence:
    """All dependences of one kind through one array."""

    kind: str  # flow, anti, output
    array: str
    relation: isl.UnionMap


@record
class Dependences:
    """`all` has to be kept. `folds` are the conflicting pairs of reductions, by array, whose order is free;
    for such arrays `all` holds every other conflicting pair, since chains through freed pairs order nothing."""

    all: tuple[Dependence, ...]
    folds: Mapping[str, isl.UnionMap]
    flows: Mapping[str, isl.UnionMap]  # last writer to reader, by array, whatever may be reordered
    live_in: isl.UnionMap  # reads that no instance of the region feeds
    live_out: isl.UnionMap  # writes that may be seen after the region

    @property
    def must(self) -> isl.UnionMap:
        """All pairs of `all`, in few pieces. Not every form of a region that is tried comes to need it."""
        known: isl.UnionMap | None = self.__dict__.get("_must")
        if known is None:
            known = self.__dict__["_must"] = self.union().coalesce()
        return known

    def union(self, kinds: Sequence[str] = ("flow", "anti", "output")) -> isl.UnionMap:
        total = empty_map(self.live_in.get_space())
        for d in self.all:
            if d.kind in kinds:
                total = total.union(d.relation)
        return total


def empty_map(space: isl.Space) -> isl.UnionMap:
    return isl.UnionMap.empty(space.params() if not space.is_params() else space)


def union_maps(maps: Sequence[isl.Map], space: isl.Space) -> isl.UnionMap:
    total = isl.UnionMap.empty(space)
    for m in maps:
        total = total.union(isl.UnionMap.from_map(m))
    return total


def param_space(scop: Scop) -> isl.Space:
    return scop.context.get_space()


def domain(scop: Scop) -> isl.UnionSet:
    """All instances of the region."""
    total = isl.UnionSet.empty(param_space(scop))
    for s in scop.statements:
        total = total.union(isl.UnionSet.from_set(s.domain))
    return total


def order_map(
    scop: Scop, tree: Node, stmts: Sequence[Statement] | None = None, everywhere: bool = False
) -> isl.UnionMap:
    """Instances to their time: sequence positions and loop values, padded with zeros to one length. With `everywhere`,
    points that are no instances have times, too: for who asks about accesses, which say it again, and isl would compare
    the pieces of domains with each other."""
    rows = {s.name: order(tree, s.name) for s in (stmts or scop.statements)}
    width = max((len(r) for r in rows.values()), default=0)
    total = isl.UnionMap.empty(param_space(scop))
    for s in stmts or scop.statements:
        one = time_map(s, rows[s.name], width)
        total = total.union(isl.UnionMap.from_map(one if everywhere else one.intersect_domain(s.domain)))
    return total


def time_map(s: Statement, row: Sequence[isl.PwAff | int], width: int) -> isl.Map:
    """Points of one statement to time, whether or not they are instances."""
    space = s.domain.get_space()
    zero = isl.PwAff.from_aff(isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space)))
    target = space.params().set_from_params().add_dims(isl.dim_type.set, width)
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target))
    for k in range(width):
        v = row[k] if k < len(row) else 0
        multi = multi.set_pw_aff(k, zero.add_constant_val(isl.Val(v)) if isinstance(v, int) else v)
    return relation_of(multi)


def accesses_of(scop: Scop, array: str, write: bool) -> list[isl.Map]:
    return [a.relation for _, a in scop.accesses_to(array) if a.write == write]


def one_object(scop: Scop, name: str, write: bool) -> isl.UnionMap:
    """Accesses to a variable as if all iterations shared one object."""
    total = isl.UnionMap.empty(param_space(scop))
    scope = scop.arrays[name].scope
    for _, a in scop.accesses_to(name):
        if a.write == write:
            shared = a.relation.project_out(isl.dim_type.out, 0, scope).set_tuple_name(isl.dim_type.out, name)
            total = total.union(isl.UnionMap.from_map(shared))
    return total


@record
class ValueFlows:
    """From last writers to readers, by array, and the reads that no instance of the region feeds."""

    flows: Mapping[str, isl.UnionMap]
    live_in: isl.UnionMap


def value_flows(scop: Scop, tree: Node) -> ValueFlows:
    """Where values come from in the order `tree` gives. What anti and output dependences are is not asked."""
    schedule = order_map(scop, tree, everywhere=True)
    found = {name: _through(scop, tree, name, schedule) for name in sorted(scop.arrays)}
    live_in = isl.UnionMap.empty(param_space(scop))
    for one in found.values():
        live_in = live_in.union(one.unfed)
    return ValueFlows({name: one.flow for name, one in found.items() if not one.writes.is_empty()}, live_in)


def flow_through(scop: Scop, tree: Node, name: str) -> tuple[isl.UnionMap, isl.UnionMap]:
    """From last writers to readers of one array, and the reads that no instance of the region feeds."""
    found = _through(scop, tree, name, order_map(scop, tree, everywhere=True))
    return found.flow, found.unfed


def compute_dependences(scop: Scop, tree: Node, free: Mapping[str, isl.UnionMap] | None = None) -> Dependences:
    """Dependences of the region in the order `tree` gives, for parameters that satisfy its guard.

    `free` gives, by array, pairs of instances that may be swapped (reductions).
    """
    space = param_space(scop)
    schedule = order_map(scop, tree, everywhere=True)
    found: list[Dependence] = []
    folds: dict[str, isl.UnionMap] = {}
    flows: dict[str, isl.UnionMap] = {}
    live_in = isl.UnionMap.empty(space)
    live_out = isl.UnionMap.empty(space)
    for name in sorted(scop.arrays):
        one = _through(scop, tree, name, schedule)
        live_in = live_in.union(one.unfed)
        if one.writes.is_empty():
            continue
        flows[name] = one.flow
        if free is not None and name in free:
            kept, folds[name] = _conflicts(name, one.reads, one.writes, schedule, free[name])
            found.extend(kept)
        else:
            found.append(Dependence("flow", name, one.flow))
            found.extend(one.false())
        if not scop.arrays[name].inside:
            live_out = live_out.union(one.writes)
    kept_all = tuple(d for d in found if not d.relation.is_empty())
    return Dependences(kept_all, folds, flows, live_in, live_out)


@record
class _Through:
    """What one array ties together."""

    name: str
    reads: isl.UnionMap
    writes: isl.UnionMap
    flow: isl.UnionMap  # from last writers to readers
    unfed: isl.UnionMap  # reads without a writer
    schedule: isl.UnionMap
    parts: tuple[tuple[isl.UnionMap, ...], ...]  # reads, writes and flow of elements that are known to differ

    def false(self) -> list[Dependence]:
        """Anti and output dependences; not asked for where steps may be swapped."""
        known: list[Dependence] | None = self.__dict__.get("_false")
        if known is None:
            try:
                known = self._by_next_writers()
            except isl.Error:
                none = isl.UnionMap.empty(self.reads.get_space())
                kept, _ = _conflicts(self.name, self.reads, self.writes, self.schedule, none)
                known = [d for d in kept if d.kind != "flow"]
            self.__dict__["_false"] = known
        return known

    def _by_next_writers(self) -> list[Dependence]:
        found = [false_dependences(r, w, times_of(self.schedule, r, w), flow) for r, w, flow in self.parts]
        kinds = [_joined(k) for k in zip(*found, strict=True)] if len(found) > 1 else found[0]
        return [Dependence(kind, self.name, k) for kind, k in zip(("output", "anti"), kinds, strict=True)]


# Forms of one region differ in a few arrays; what ties the others together is found once. By the objects that it
# depends on: accesses, and the times of the statements that make them.
_KNOWN: dict[tuple[int, ...], tuple[tuple[object, ...], object]] = {}
_MANY = 512
Found = TypeVar("Found")


def known_through(scop: Scop, tree: Node, name: str, question: str, find: Callable[[], Found]) -> Found:
    """The answer to a question about one array's accesses in the order of a tree: found, or known from another form."""
    users = scop.accesses_to(name)
    times = _relative([order(tree, n) for n in dict.fromkeys(s.name for s, _ in users)])
    objects = (scop.context, *(x for _, a in users for x in (a.relation, a.write)), *times)
    key = (hash((name, question)), *(x if isinstance(x, int) else id(x) for x in objects))
    if key not in _KNOWN:
        if len(_KNOWN) >= _MANY:
            _KNOWN.clear()
        _KNOWN[key] = objects, find()
    found: Found = _KNOWN[key][1]  # type: ignore[assignment]
    return found


def _relative(rows: Sequence[Sequence[isl.PwAff | int]]) -> list[isl.PwAff | int]:
    """Times one after the other, each closed by -1, with the places in sequences counted among these alone: whatever
    else stands in the sequence does not change their order."""
    places: dict[tuple[object, ...], list[int]] = {}
    for row in rows:
        for k, t in enumerate(row):
            if isinstance(t, int):
                places.setdefault(_prefix(row, k), []).append(t)
    out: list[isl.PwAff | int] = []
    for row in rows:
        for k, t in enumerate(row):
            out.append(sorted(set(places[_prefix(row, k)])).index(t) if isinstance(t, int) else t)
        out.append(-1)
    return out


def _prefix(row: Sequence[isl.PwAff | int], depth: int) -> tuple[object, ...]:
    """The places on the way to a sequence; loops have one body, so they need not be told apart."""
    return (*(t for t in row[:depth] if isinstance(t, int)), depth)


def _through(scop: Scop, tree: Node, name: str, schedule: isl.UnionMap) -> _Through:
    return known_through(scop, tree, name, "dependences", lambda: _found(scop, name, schedule))


def _found(scop: Scop, name: str, schedule: isl.UnionMap) -> _Through:
    space = param_space(scop)
    reads = union_maps(accesses_of(scop, name, False), space).intersect_params(scop.context)
    writes = union_maps(accesses_of(scop, name, True), space).intersect_params(scop.context)
    if writes.is_empty():
        return _Through(name, reads, writes, writes, reads, schedule, ())
    parts, unfed = [], isl.UnionMap.empty(space)
    for r, w in apart(reads, writes):
        flow, bare = last_writers(r, w, times_of(schedule, r, w))
        parts.append((r, w, flow))
        unfed = unfed.union(bare)
    if len(parts) == 1:
        return _Through(name, reads, writes, parts[0][2], unfed, schedule, tuple(parts))
    whole = _joined([flow for _, _, flow in parts])
    return _Through(name, reads, writes, whole, unfed.coalesce(), schedule, tuple(parts))


def _joined(parts: Sequence[isl.UnionMap]) -> isl.UnionMap:
    """All of them in few pieces."""
    return reduce(isl.UnionMap.union, parts).coalesce()


def _conflicts(
    name: str, reads: isl.UnionMap, writes: isl.UnionMap, schedule: isl.UnionMap, free: isl.UnionMap
) -> tuple[list[Dependence], isl.UnionMap]:
    """All conflicting pairs in source order: those to keep by kind, and those whose order is free.

    Free is the order of two steps into one element. What a step reads of other elements is ordered with their writers.
    """
    before = schedule.lex_lt_union_map(schedule)
    own = reads.intersect(writes).intersect_domain(free.domain())
    other = reads.subtract(own)

    def kept(a: isl.UnionMap, b: isl.UnionMap) -> isl.UnionMap:
        return a.apply_range(b.reverse()).intersect(before)

    steps = kept(writes, writes)
    pairs = {
        "flow": kept(writes, own).subtract(free).union(kept(writes, other)),
        "anti": kept(own, writes).subtract(free).union(kept(other, writes)),
        "output": steps.subtract(free),
    }
    return [Dependence(kind, name, p.coalesce()) for kind, p in pairs.items()], steps.intersect(free).coalesce()
