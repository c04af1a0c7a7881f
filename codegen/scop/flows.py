"""Flow analysis of the accesses to one array in a given order: the last writers of what is read (`last_writers`), and
the next writers of what is read or written (`false_dependences`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from codegen.scop.isl_helpers import maps_of, union_of

FEW = 8  # pieces of accesses that isl's flow analysis, which compares all pairs of them, takes at once


def apart(reads: isl.UnionMap, writes: isl.UnionMap) -> tuple[tuple[isl.UnionMap, isl.UnionMap], ...]:
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


def times_of(schedule: isl.UnionMap, *accesses: isl.UnionMap) -> isl.UnionMap:
    """The times of the statements that make these accesses: isl takes all the others in hand, too. Without the entries
    that all of them share, which order nothing."""
    names = {m.get_tuple_name(isl.dim_type.in_) for a in accesses for m in maps_of(a)}
    found = [m for m in maps_of(schedule) if m.get_tuple_name(isl.dim_type.in_) in names]
    fixed = list(zip(*map(_constants, found), strict=True))
    for k, values in reversed(list(enumerate(fixed))):
        if values[0] is not None and len(set(values)) == 1:
            found = [m.project_out(isl.dim_type.out, k, 1) for m in found]
    return union_of(found, schedule.get_space())


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


def false_dependences(
    reads: isl.UnionMap, writes: isl.UnionMap, schedule: isl.UnionMap, flow: isl.UnionMap
) -> tuple[isl.UnionMap, isl.UnionMap]:
    """Output and anti dependences: from each access to the next write of its element. Those between two writes are
    output dependences alone. `flow` is from last writers to readers: to a statement that reads just what it writes, it
    is the output dependence as well."""
    own = [m for m in maps_of(reads) if m.is_subset(writes.extract_map(m.get_space()))]
    known = {_user(m) for m in own if m.is_equal(writes.extract_map(m.get_space()))}
    output = union_of([m for m in maps_of(flow) if m.get_tuple_name(isl.dim_type.out) in known], flow.get_space())
    sinks = union_of([m for m in maps_of(writes) if _user(m) not in known], writes.get_space())
    # From a read of what the statement writes itself to the next write there is an output dependence.
    others = union_of([m for m in maps_of(reads) if _user(m) not in {_user(x) for x in own}], reads.get_space())
    readers, both = {_user(m) for m in maps_of(others)}, isl.UnionMap.empty(reads.get_space())
    if readers:
        info = isl.UnionAccessInfo.from_sink(writes).set_must_source(writes).set_may_source(others)
        both = info.set_schedule_map(schedule).compute_flow().get_may_dependence()
    if readers and readers.isdisjoint(map(_user, maps_of(writes))):  # then who is first tells the two kinds apart
        found = maps_of(both)
        late = [m for m in found if _user(m) not in readers and m.get_tuple_name(isl.dim_type.out) not in known]
        anti = union_of([m for m in found if _user(m) in readers], flow.get_space())
        return output.union(union_of(late, flow.get_space())).coalesce(), anti.coalesce()
    if not sinks.is_empty():
        info = isl.UnionAccessInfo.from_sink(sinks).set_must_source(writes).set_schedule_map(schedule)
        output = output.union(info.compute_flow().get_may_dependence())
    if not readers:
        return output.coalesce(), others
    anti = both.intersect_domain(others.domain()).subtract(output) if not output.is_empty() else both
    return output.coalesce(), anti.coalesce()


def _user(m: isl.Map) -> str:
    return str(m.get_tuple_name(isl.dim_type.in_))
