"""Computes exact flow, anti and output dependences (`compute_dependences`): which instance must run before which, and
why. Pairs of reduction steps that the caller lets be swapped are kept apart (`folds`).

Flow is value-based: from the last writer to the reader. Anti and output dependences connect neighbouring
accesses of the same element; together with flow they order all conflicting pairs transitively.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import islpy as isl

from codegen.record import record
from codegen.scop.isl_helpers import maps_of
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
    return isl.Map.from_multi_pw_aff(multi)


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
    parts: tuple[tuple[isl.UnionMap, isl.UnionMap], ...]  # reads and writes of elements that are known to differ

    def false(self) -> list[Dependence]:
        """Anti and output dependences; not asked for where steps may be swapped."""
        known: list[Dependence] | None = self.__dict__.get("_false")
        if known is None:
            try:
                parts = [(r, w, times_of(self.schedule, r, w)) for r, w in self.parts]
                known = [d for part in parts for d in false_dependences(self.name, *part)]
                known = _of_kinds(self.name, known) if len(self.parts) > 1 else known
            except isl.Error:
                none = isl.UnionMap.empty(self.reads.get_space())
                kept, _ = _conflicts(self.name, self.reads, self.writes, self.schedule, none)
                known = [d for d in kept if d.kind != "flow"]
            self.__dict__["_false"] = known
        return known


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
    parts = _apart(reads, writes)
    flow, unfed = last_writers(*parts[0], times_of(schedule, *parts[0]))
    for r, w in parts[1:]:
        more, bare = last_writers(r, w, times_of(schedule, r, w))
        flow, unfed = flow.union(more), unfed.union(bare)
    if len(parts) > 1:
        flow, unfed = flow.coalesce(), unfed.coalesce()
    return _Through(name, reads, writes, flow, unfed, schedule, parts)


def times_of(schedule: isl.UnionMap, *accesses: isl.UnionMap) -> isl.UnionMap:
    """The times of the statements that make these accesses: isl takes all the others in hand, too."""
    names = {m.get_tuple_name(isl.dim_type.in_) for a in accesses for m in maps_of(a)}
    total = isl.UnionMap.empty(schedule.get_space())
    for m in maps_of(schedule):
        if m.get_tuple_name(isl.dim_type.in_) in names:
            total = total.union(isl.UnionMap.from_map(m))
    return total


FEW = 8  # pieces of accesses that isl's flow analysis, which compares all pairs of them, takes at once


def _apart(reads: isl.UnionMap, writes: isl.UnionMap) -> tuple[tuple[isl.UnionMap, isl.UnionMap], ...]:
    """Accesses to elements that differ in constant subscripts, as in `lhs[i][0][1]`: no two parts have an element in
    common."""
    maps = [(k, isl.Map.from_basic_map(b)) for k, u in enumerate((reads, writes)) for m in maps_of(u)
            for b in m.get_basic_maps()]  # fmt: skip
    if len(maps) <= FEW:
        return ((reads, writes),)
    fixed = [_constants(m) for _, m in maps]
    most = [d for d, _ in enumerate(fixed[0]) if 2 * sum(f[d] is not None for f in fixed) > len(maps)]
    values = {d: sorted({x for f in fixed if (x := f[d]) is not None}) for d in most}
    none = isl.UnionMap.empty(reads.get_space())
    parts: dict[tuple[int, ...], list[isl.UnionMap]] = {}
    for k, m in maps:
        for key, part in _by_values(m, values):
            both = parts.setdefault(key, [none, none])
            both[k] = both[k].union(isl.UnionMap.from_map(part))
    if len(parts) == 1:
        return ((reads, writes),)
    return tuple((r, w) for _, (r, w) in sorted(parts.items()))


def _by_values(m: isl.Map, values: Mapping[int, Sequence[int]]) -> list[tuple[tuple[int, ...], isl.Map]]:
    """An access in parts, by the places of some of its subscripts among these values; the last place is for others."""
    found: list[tuple[tuple[int, ...], isl.Map]] = [((), m)]
    for d, known in values.items():
        now = []
        for key, part in found:
            for place, value in enumerate(known):
                one = part.fix_val(isl.dim_type.out, d, isl.Val(value))
                if not one.is_empty():
                    now.append(((*key, place), one))
                    part = part.subtract(one)
            if not part.is_empty():
                now.append(((*key, len(known)), part))
        found = now
    return found


def _constants(m: isl.Map) -> list[int | None]:
    """The subscripts of an access that are constants."""
    values = [m.plain_get_val_if_fixed(isl.dim_type.out, d) for d in range(m.dim(isl.dim_type.out))]
    return [int(v.get_num_si()) if v.is_int() else None for v in values]


def _of_kinds(name: str, found: Sequence[Dependence]) -> list[Dependence]:
    """One dependence of each kind."""
    out: dict[str, isl.UnionMap] = {}
    for d in found:
        out[d.kind] = out[d.kind].union(d.relation) if d.kind in out else d.relation
    return [Dependence(kind, name, relation.coalesce()) for kind, relation in out.items()]


def last_writers(
    reads: isl.UnionMap, writes: isl.UnionMap, schedule: isl.UnionMap
) -> tuple[isl.UnionMap, isl.UnionMap]:
    """From the last writer of an element to its reader, and the reads that no writer feeds.

    isl's own flow analysis fails on some strided domains ("affine expression involves some of the domain
    dimensions"); there the last writer is found as the latest of all earlier ones.
    """
    flow, unfed = isl.UnionMap.empty(reads.get_space()), isl.UnionMap.empty(reads.get_space())
    try:
        for sink in _sinks(reads):
            one = isl.UnionAccessInfo.from_sink(sink).set_must_source(writes).set_schedule_map(schedule).compute_flow()
            flow, unfed = flow.union(one.get_may_dependence()), unfed.union(one.get_may_no_source())
        return flow.coalesce(), unfed
    except isl.Error:
        return latest_writers(reads, writes, schedule)


def _sinks(reads: isl.UnionMap) -> list[isl.UnionMap]:
    """Reads whose writers are found by themselves: as they are, or, where one statement has many of an array as in a
    stencil, one by one."""
    if all(m.n_basic_map() <= FEW for m in maps_of(reads)):
        return [reads]
    return [isl.UnionMap.from_basic_map(b) for m in maps_of(reads) for b in m.get_basic_maps()]


def latest_writers(
    reads: isl.UnionMap, writes: isl.UnionMap, schedule: isl.UnionMap
) -> tuple[isl.UnionMap, isl.UnionMap]:
    """As `last_writers`, straight from the definition: slower, but right where isl's flow analysis is not.

    On tiled times, where a tile's first point is known by its bounds only, isl can name an earlier writer.
    """
    reader, element = reads.domain_map(), reads.range_map()  # from [reader -> element]
    after = reader.apply_range(schedule).lex_gt_union_map(schedule)
    earlier = element.apply_range(writes.reverse()).intersect(after)
    latest = earlier.apply_range(schedule).lexmax().apply_range(schedule.reverse())
    found = latest.intersect(earlier).apply_domain(reader).reverse()
    return found.coalesce(), reads.subtract(earlier.domain().unwrap())


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


def false_dependences(
    name: str, reads: isl.UnionMap, writes: isl.UnionMap, schedule: isl.UnionMap
) -> list[Dependence]:
    """From each access to the next write of its element; those between two writes are output dependences."""
    info = isl.UnionAccessInfo.from_sink(writes).set_must_source(writes)
    output = info.set_schedule_map(schedule).compute_flow().get_may_dependence()
    if reads.is_empty():
        return [Dependence("output", name, output.coalesce())]
    info = isl.UnionAccessInfo.from_sink(writes).set_must_source(writes).set_may_source(reads)
    both = info.set_schedule_map(schedule).compute_flow().get_may_dependence()
    readers = reads.domain()
    anti = both.intersect_domain(readers).subtract(output) if not output.is_empty() else both
    return [Dependence("output", name, output.coalesce()), Dependence("anti", name, anti.coalesce())]
