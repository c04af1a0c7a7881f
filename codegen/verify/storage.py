"""Proof of the storage of a region's local variables: it is declared, large enough, not shared by iterations of
parallel loops, and a value is still there when it is read. Returns messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from codegen.ast.ctree import CExpr, Held, Int, Name, expr_names
from codegen.record import record
from codegen.scop.dependences import Dependences, param_space
from codegen.scop.flows import latest_writers
from codegen.scop.isl_helpers import maps_of, relation_of
from codegen.scop.model import Access, Scop
from codegen.scop.tree import CONCURRENT, PARALLEL, PIPELINED
from codegen.verify.readback import StatementRun, same_iteration_until


@record
class _Use:
    """One access to a variable of the region: where, through which storage, declared how deep in `when`."""

    run: StatementRun
    held: Held
    depth: int
    printed: tuple[CExpr, ...]
    write: bool
    touches: isl.Map  # instances to the elements of the model
    only: isl.Set | None = None  # the instances for which it happens, if it stands behind a condition


SHARED_BY = "would be shared by the iterations of the"  # which loops around the same storage cannot mend


def wrong_storage(
    scop: Scop, deps: Dependences, runs: Sequence[StatementRun], times: isl.UnionMap, width: int
) -> list[str]:
    """Messages for every variable whose storage is missing, too small, shared by threads, or overwritten early."""
    out: list[str] = []
    for name in sorted(scop.arrays):
        if scop.arrays[name].inside:
            out.extend(_check(scop, deps, runs, times, width, name))
    return out


def _check(
    scop: Scop, deps: Dependences, runs: Sequence[StatementRun], times: isl.UnionMap, width: int, name: str
) -> list[str]:
    uses = []
    for use in _uses(scop, runs, name):
        if use is None:
            return [f"`{name}` is used where it has no storage"]
        uses.append(use)
    if len({u.held.sizes for u in uses}) > 1:
        return [f"`{name}` has storage of different shapes"]
    for use in uses:
        if any(n not in use.run.point.vars for s in use.held.starts for n in _loops_in(s, scop)):
            return [f"`{name}` is counted from a loop that is not around it"]
        if not _fits(scop, use):
            return [f"`{name}` would be accessed outside its storage of {_shape(use.held)}"]
    space = param_space(scop)
    cells = {True: isl.UnionMap.empty(space), False: isl.UnionMap.empty(space)}
    for use in uses:
        cells[use.write] = cells[use.write].union(isl.UnionMap.from_map(_cell(scop, use)))
    reads, writes = cells[False].coalesce(), cells[True].coalesce()
    times = times.intersect_domain(reads.union(writes).domain())
    if name in deps.folds:
        kept = _own_cells(scop, uses) or _lives_apart(scop, uses, times)
    else:
        should = deps.flows.get(name, isl.UnionMap.empty(space))
        kept = (
            _own_cells(scop, uses)
            or _one_writer(reads, writes, times, should)
            or _last_writers(reads, writes, times, should)
        )
    if not kept:
        return [f"`{name}` would be overwritten before its last use"]
    return _shared(scop, uses, _Cells(reads, writes, times), width, name)


def _one_writer(reads: isl.UnionMap, writes: isl.UnionMap, times: isl.UnionMap, should: isl.UnionMap) -> bool:
    """Has each cell that is read one writer, earlier, from which the source reads, too? Then nobody needs to ask for
    the last of several writers, which takes long in a tiled order."""
    pairs = writes.apply_range(reads.reverse())
    if not (pairs.is_equal(should) and pairs.reverse().is_single_valued()):
        return False
    in_time = pairs.apply_domain(times).apply_range(times)
    return all(m.is_subset(isl.Map.lex_lt(m.get_space().domain())) for m in maps_of(in_time))


def _own_cells(scop: Scop, uses: Sequence[_Use]) -> bool:
    """Has each object of the model one cell, which no other one uses, or none in the same iteration of the innermost
    loops? Dependences, whose order is proven by itself, tie each access of an object to the writes before and behind
    it: then its cell has what the object has, from its first use to its last. Where additions may be reordered they
    tie it to the first write and the last read, and nobody else uses the cell between these."""
    return _one_to_one(scop, uses, (0,) * len(uses)) or _one_to_one(scop, uses, tuple(map(_innermost, uses)))


def _one_to_one(scop: Scop, uses: Sequence[_Use], depths: Sequence[int]) -> bool:
    """Does one object stand for one cell within the iterations that so many entries of the time tell apart?"""
    cells, iterations = isl.UnionMap.empty(param_space(scop)), dict[int, isl.Set]()
    for use, depth in zip(uses, depths, strict=True):
        when = use.run.executes(scop).reverse().apply_range(use.run.time(depth))
        cell = _cell(scop, use).range_product(when.set_tuple_name(isl.dim_type.out, f"in_{depth}"))
        cells = cells.union(isl.UnionMap.from_map(use.touches.reverse().apply_range(cell)))
        iterations[depth] = when.range() if depth not in iterations else iterations[depth].union(when.range())
    cells = cells.coalesce()
    return bool(cells.is_single_valued() and cells.is_injective()) and _apart(iterations)


def _innermost(use: _Use) -> int:
    """Entries of the time up to the innermost loop: the rest is the order of statements in it."""
    return max((k + 1 for k, w in enumerate(use.run.point.when) if not isinstance(w, int)), default=0)


def _apart(iterations: Mapping[int, isl.Set]) -> bool:
    """Are iterations that fewer entries of the time tell apart never around others, which last a shorter time?"""
    for depth, these in iterations.items():
        for other in (n for n in iterations if n > depth):
            longer = iterations[other].project_out(isl.dim_type.set, depth, other - depth)
            if not longer.is_disjoint(these):
                return False
    return True


def _last_writers(reads: isl.UnionMap, writes: isl.UnionMap, times: isl.UnionMap, should: isl.UnionMap) -> bool:
    """Is the last writer of each cell the one from which the source reads?"""
    flow = isl.UnionAccessInfo.from_sink(reads).set_must_source(writes).set_schedule_map(times).compute_flow()
    kept = bool(flow.get_may_dependence().is_equal(should))
    return kept or bool(latest_writers(reads, writes, times)[0].is_equal(should))


def _uses(scop: Scop, runs: Sequence[StatementRun], name: str) -> Iterator[_Use | None]:
    for run in runs:
        s = scop.statement(run.instance.stmt)
        for a, printed in zip(s.accesses, run.instance.accesses, strict=True):
            if a.array == name:
                found = next((h for h in run.point.held if h[0].array == name), None)
                yield None if found is None else _use(run, found[0], found[1], printed, a)


def _use(run: StatementRun, held: Held, depth: int, printed: tuple[CExpr, ...], a: Access) -> _Use:
    return _Use(run, held, depth, printed, a.write, a.relation, a.relation.domain() if a.partial else None)


def _loops_in(e: CExpr, scop: Scop) -> frozenset[str]:
    return expr_names(e) - {p.name for p in scop.params}


def _shape(held: Held) -> str:
    kept = [str(s) for s in held.sizes if s > 0]
    return " x ".join(kept) + " elements" if kept else "one element"


def _offsets(use: _Use) -> list[isl.PwAff]:
    """The kept indices, counted from where the storage starts."""
    value = use.run.point.value
    return [
        value(e).sub(value(start))
        for e, start, size in zip(use.printed, use.held.starts, use.held.sizes, strict=True)
        if size
    ]


def _fits(scop: Scop, use: _Use) -> bool:
    sizes = [s for s in use.held.sizes if s]
    point = use.run.point
    domain = point.domain
    if use.only is not None:
        domain = domain.intersect(use.run.executes(scop).intersect_range(use.only).domain())
    for off, size in zip(_offsets(use), sizes, strict=True):
        if size < 0:
            continue  # as declared by the source
        outside = off.lt_set(point.value(Int(0))).union(off.ge_set(point.value(Int(size))))
        if not domain.intersect(outside).is_empty():
            return False
    return True


def _cell(scop: Scop, use: _Use) -> isl.Map:
    """Statement instance to storage cell: the loops around the declaration, then the kept offsets."""
    point = use.run.point
    space = point.domain.get_space()
    around = [point.value(Int(w) if isinstance(w, int) else Name(w)) for w in point.when[: use.depth]]
    values = around + _offsets(use)
    target = space.params().set_from_params().add_dims(isl.dim_type.set, len(values))
    target = target.set_tuple_name(isl.dim_type.set, f"{use.held.array}_{use.depth}")
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target))
    for k, v in enumerate(values):
        multi = multi.set_pw_aff(k, v)
    cell = use.run.executes(scop).reverse().apply_range(relation_of(multi))
    return cell if use.only is None else cell.intersect_domain(use.only)


def _lives_apart(scop: Scop, uses: Sequence[_Use], times: isl.UnionMap) -> bool:
    """For variables whose additions may be reordered: once another object has used a cell, the first one is done.

    Within one object the order is a matter of dependences; here only objects that share a cell count. What counts is an
    instance together with the object it uses, as it may use several.
    """
    space = param_space(scop)
    instances, objects, cells = (isl.UnionMap.empty(space) for _ in range(3))
    for use in uses:
        instance = use.touches.domain_map()
        instances = instances.union(isl.UnionMap.from_map(instance))
        objects = objects.union(isl.UnionMap.from_map(use.touches.range_map()))
        cells = cells.union(isl.UnionMap.from_map(instance.apply_range(_cell(scop, use))))
    if not objects.reverse().apply_range(cells).is_single_valued():
        return False  # parts of one object's life would use different storage
    same = objects.apply_range(objects.reverse())
    at_once = instances.apply_range(instances.reverse()).intersect(cells.apply_range(cells.reverse()))
    if not at_once.is_subset(same):
        return False  # one instance would use a cell for two objects
    when = instances.apply_range(times)
    last = isl.UnionAccessInfo.from_sink(cells).set_must_source(cells).set_schedule_map(when).compute_flow()
    switched = last.get_may_dependence().subtract(same).range()
    earlier = when.lex_lt_union_map(when).intersect(same).range()
    return bool(switched.intersect(earlier).is_empty())


@record
class _Cells:
    """Which cells instances read and write, and when."""

    reads: isl.UnionMap
    writes: isl.UnionMap
    times: isl.UnionMap


def _shared(scop: Scop, uses: Sequence[_Use], cells: _Cells, width: int, name: str) -> list[str]:
    """A cell that one iteration of a parallel loop writes must not be used by another."""
    reads, writes, times = cells.reads, cells.writes, cells.times
    in_time: isl.UnionMap | None = None
    seen: set[int] = set()
    roomy = scop.arrays[name].roomy
    for use in uses:
        for lp in use.run.point.loops:
            if use.run.point.when.index(lp.var) < use.depth:
                if roomy and lp.loop.kind in CONCURRENT - {PARALLEL}:  # a thread has one object, lanes have none
                    return [f"`{name}` {SHARED_BY} {lp.loop.kind} loop `{lp.loop.name}`"]
                continue
            if lp.loop.kind not in CONCURRENT | {PIPELINED} or id(lp) in seen:
                continue
            if name in {a for _, a in lp.loop.reductions}:
                continue
            seen.add(id(lp))
            if in_time is None:
                conflicts = writes.apply_range(writes.union(reads).reverse())
                conflicts = conflicts.union(reads.apply_range(writes.reverse()))
                in_time = conflicts.apply_domain(times).apply_range(times)
            pairs = same_iteration_until(param_space(scop), width, use.run.point.when, lp.var)
            if not in_time.intersect(isl.UnionMap.from_map(pairs)).is_empty():
                return [f"`{name}` {SHARED_BY} {lp.loop.kind} loop `{lp.loop.name}`"]
    return []
