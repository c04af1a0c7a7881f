"""Proof that local copies hold what main memory would: every read finds its value, and only a core's own elements are
written back.

The tree runs on main memory; the text runs it on boxes. A box is filled before an iteration of the loops around it, and
brought back after it. Threads of the tree meet in no element, which is shown of the tree; boxes may hold more than is
touched, so that is shown for them here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl

from codegen.ast.ctree import Bin
from codegen.recognize.stores import conditional
from codegen.scop.dependences import Dependences, param_space
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.verify.cores.kernel import KernelReader
from codegen.verify.cores.memory import BoxCopy
from codegen.verify.cores.records import PrintedStatement, StagedBoxes
from codegen.verify.cores.relations import (
    IN,
    OUT,
    box_of,
    domain_of,
    equal_first,
    executes,
    outermost,
    related,
    span,
    touches,
)
from codegen.verify.text.read import Unread


@dataclass(frozen=True)
class BoxAccess:
    """An access of a statement: the box that it is found in, if any."""

    leaf: PrintedStatement
    number: int
    array: str
    write: bool
    stage: StagedBoxes | None
    copy: BoxCopy | None
    elements: isl.Map


def check_staging(scop: Scop, deps: Dependences, kernel: KernelReader, outer: int) -> None:
    """Raises Unread with what is wrong. `outer` loops are around the kernel."""
    uses = list(_uses(scop, kernel))
    _check_apart(scop, deps, kernel, outer)
    for stage, copy in _copies(kernel):
        mine = [u for u in uses if u.copy is copy and u.stage is stage]
        _check_box(scop, kernel, stage, copy, mine)
        if copy.put:
            others = [u for u in uses if u.array == copy.array and u.write]
            _check_back(scop, stage, copy, mine, others, outer)
    for use in uses:
        if use.write and use.copy is not None and not use.copy.put:
            raise Unread(f"what is written to `{use.copy.buffer}` is not brought back")
        if not use.write:
            _check_read(scop, deps, use, [u for u in uses if u.array == use.array and u.write], outer)
    _check_late(kernel, uses)


def _check_apart(scop: Scop, deps: Dependences, kernel: KernelReader, outer: int) -> None:
    """Statements in different bound loops side by side run on different cores, which do not wait for each other. That
    no bound loop carries a dependence is shown of the tree."""
    for m in maps_of(deps.must):
        names = m.get_tuple_name(IN), m.get_tuple_name(OUT)
        for a in (x for x in kernel.leaves if x.instance.stmt == names[0]):
            for b in (x for x in kernel.leaves if x.instance.stmt == names[1]):
                if _bound_loops(a) == _bound_loops(b):
                    continue
                pairs = executes(scop, a).apply_range(m).apply_range(executes(scop, b).reverse())
                if not equal_first(pairs, outer).is_empty():
                    raise Unread(f"{names[1]} depends on {names[0]}, which may run on another core")


def _bound_loops(leaf: PrintedStatement) -> list[int]:
    return [id(lp) for lp in leaf.at.loops if lp.loop.kind in THREADED]


def _uses(scop: Scop, kernel: KernelReader) -> Iterator[BoxAccess]:
    for leaf in kernel.leaves:
        s = scop.statement(leaf.instance.stmt)
        for k, a in enumerate(s.accesses):
            if scop.arrays[a.array].inside:
                continue
            name = leaf.places.get(k, "")
            found = [(st, c) for st in leaf.stages for c in st.copies if c.name == name]
            stage, copy = found[-1] if found else (None, None)
            yield BoxAccess(leaf, k, a.array, a.write, stage, copy, touches(scop, leaf, k))


def _copies(kernel: KernelReader) -> list[tuple[StagedBoxes, BoxCopy]]:
    seen: dict[int, tuple[StagedBoxes, BoxCopy]] = {}
    for leaf in kernel.leaves:
        for stage in leaf.stages:
            for c in stage.copies:
                seen.setdefault(id(c), (stage, c))
    return list(seen.values())


def _check_box(scop: Scop, kernel: KernelReader, stage: StagedBoxes, copy: BoxCopy, mine: Sequence[BoxAccess]) -> None:
    """What is used is in the box, the box is in its buffer, and in the array."""
    if not mine:
        raise Unread(f"`{copy.buffer}` is there for nobody")
    depth = len(stage.at.vars)
    used = _union([outermost(u.elements, depth) for u in mine]).coalesce()
    where = domain_of(stage, copy)
    if copy.when is not None and not used.domain().is_subset(where):
        raise Unread(f"elements of `{copy.array}` are used where `{copy.buffer}` is not there")
    spans = [span(stage.at, where, e) for e in copy.lens]
    if any(low is None or low < 1 for low, _ in spans):
        raise Unread(f"`{copy.buffer}` may have no elements")
    most = [high for _, high in spans if high is not None]
    if len(most) < len(spans) or prod(most) > kernel.buffers[copy.buffer].elements:
        raise Unread(f"`{copy.buffer}` is too small")
    for k in range(len(copy.lens)):
        _check_side(scop, stage, copy, k, used)


def _check_side(scop: Scop, stage: StagedBoxes, copy: BoxCopy, k: int, used: isl.Map) -> None:
    """Along each dimension nothing is used outside of the box, and the box begins and ends where something is used, by
    the region if not by this iteration: so it lies in the array."""
    where = domain_of(stage, copy)
    n = len(copy.lens)
    line = used.project_out(OUT, k + 1, n - k - 1).project_out(OUT, 0, k)
    first = stage.at.value(copy.lows[k])
    past = stage.at.value(Bin("+", copy.lows[k], copy.lens[k]))
    if not (line.intersect(related(first, "lt")).is_empty() and line.intersect(related(past, "ge")).is_empty()):
        raise Unread(f"elements of `{copy.array}` are used that are not in `{copy.buffer}`")
    pairs = isl.Map.universe(line.get_space().range().map_from_set())
    low, last = (isl.Map.from_pw_aff(v).intersect_domain(where) for v in (first, past.add_constant_val(isl.Val(-1))))
    up, down = (line.apply_range(m) for m in (pairs.order_le(IN, 0, OUT, 0), pairs.order_ge(IN, 0, OUT, 0)))
    if low.is_subset(up) and last.is_subset(down):
        return
    line = line.union(isl.Map.from_domain_and_range(where, _touched(scop, copy.array, k, line)))
    up, down = (line.apply_range(m) for m in (pairs.order_le(IN, 0, OUT, 0), pairs.order_ge(IN, 0, OUT, 0)))
    if not (low.is_subset(up) and last.is_subset(down)):
        raise Unread(f"`{copy.buffer}` holds more than may be there of `{copy.array}`")


def _touched(scop: Scop, array: str, k: int, like: isl.Map) -> isl.Set:
    """Subscripts of one dimension of elements that the region touches whatever data say."""
    every = [a.relation.range() for s, a in scop.accesses_to(array) if not conditional(s)]
    out = isl.Set.empty(like.get_space().range())
    for s in every:
        n = s.dim(isl.dim_type.set)
        side = s.project_out(isl.dim_type.set, k + 1, n - k - 1).project_out(isl.dim_type.set, 0, k)
        out = out.union((side.reset_tuple_id() if side.has_tuple_id() else side).align_params(out.get_space()))
    return out


def _check_back(
    scop: Scop, stage: StagedBoxes, copy: BoxCopy, mine: Sequence[BoxAccess], writes: Sequence[BoxAccess], outer: int
) -> None:
    """What is brought back was written here, or is as it was and nobody else writes it meanwhile."""
    depth, whole = len(stage.at.vars), box_of(stage, copy)
    sure = [outermost(u.elements, depth) for u in mine
            if u.write and not conditional(scop.statement(u.leaf.instance.stmt))]  # fmt: skip
    for u in writes:
        elsewhere = u.copy is not copy and _inside(u.leaf, stage)
        if elsewhere and not outermost(u.elements, depth).intersect(whole).is_empty():
            raise Unread(f"`{copy.buffer}` is brought back over what is written elsewhere")
    bound = [k for k, lp in enumerate(stage.at.loops) if lp.loop.kind in THREADED]
    if copy.get and not any(_disturbs(whole, u, stage, bound, outer) for u in writes):
        return
    rest = whole.subtract(_union(sure).coalesce()) if sure else whole
    if rest.is_empty():
        return
    if not copy.get:
        raise Unread(f"`{copy.buffer}` is brought back with elements that have no value")
    if any(_disturbs(rest, u, stage, bound, outer) for u in writes):
        raise Unread(f"`{copy.buffer}` is brought back over what other cores write")


def _disturbs(part: isl.Map, w: BoxAccess, stage: StagedBoxes, bound: Sequence[int], outer: int) -> bool:
    """May another core write to this part of a box meanwhile?"""
    pairs = equal_first(part.apply_range(w.elements.reverse()), outer)
    loops = w.leaf.at.loops
    if all(len(loops) > k and loops[k] is stage.at.loops[k] for k in bound):
        return _apart(pairs, bound)
    return not pairs.is_empty()


def _apart(pairs: isl.Map, places: Sequence[int]) -> bool:
    """Do any of the pairs differ in these coordinates?"""
    sides = (side for k in places for side in (pairs.order_lt(IN, k, OUT, k), pairs.order_gt(IN, k, OUT, k)))
    return any(not side.is_empty() for side in sides)


def _check_read(scop: Scop, deps: Dependences, r: BoxAccess, writes: Sequence[BoxAccess], outer: int) -> None:
    """Where a read takes its value from: from a write to the same box in the same iteration, or from main memory, which
    has it before the box is filled."""
    fed = isl.Set.empty(r.leaf.at.domain.get_space())
    for w in writes:
        meet = equal_first(w.elements.apply_range(r.elements.reverse()), outer)
        if meet.is_empty():
            continue
        fed_by = _flow(scop, deps, w, r, meet)
        pairs = meet if r.array in deps.folds else fed_by  # where the order of writes is free, any may come before
        if r.copy is not None and w.copy is r.copy and w.stage is r.stage:
            assert r.stage is not None
            fed = fed.union(equal_first(fed_by, len(r.stage.at.vars)).range())
        elif pairs.is_empty():
            continue
        elif _meanwhile(pairs, w, r, r.stage) or _meanwhile(pairs, w, r, w.stage):
            raise Unread(f"`{r.array}` is read from one place while its value is in another")
        elif r.copy is not None and r.copy.ahead:
            raise Unread(f"`{r.copy.buffer}` is fetched ahead of what is written there")
    if r.copy is None or r.copy.get:
        return
    if not r.elements.domain().is_subset(fed):
        raise Unread(f"`{r.copy.buffer}` is read and has not been fetched")


def _meanwhile(pairs: isl.Map, w: BoxAccess, r: BoxAccess, stage: StagedBoxes | None) -> bool:
    """Are there pairs in one iteration of the loops around a box?"""
    if stage is None or not (_inside(w.leaf, stage) and _inside(r.leaf, stage)):
        return False
    return not equal_first(pairs, len(stage.at.vars)).is_empty()


def _flow(scop: Scop, deps: Dependences, w: BoxAccess, r: BoxAccess, meet: isl.Map) -> isl.Map:
    """Those of the pairs of iterations of which the second takes the value that the first writes, in the source's
    order. Reads that can be made in another order still find a value in a box if the first of them does."""
    names = w.leaf.instance.stmt, r.leaf.instance.stmt
    flows = deps.flows.get(r.array, isl.UnionMap.empty(param_space(scop)))
    found = [m for m in maps_of(flows) if (m.get_tuple_name(IN), m.get_tuple_name(OUT)) == names]
    if not found:
        return isl.Map.empty(meet.get_space())
    there = _union([executes(scop, w.leaf).apply_range(m).apply_range(executes(scop, r.leaf).reverse()) for m in found])
    return meet.intersect(there)


def _inside(leaf: PrintedStatement, stage: StagedBoxes) -> bool:
    return any(s is stage for s in leaf.stages)


def _check_late(kernel: KernelReader, uses: Sequence[BoxAccess]) -> None:
    """A put that is waited for later is of an array that is used through this buffer alone."""
    for buffer in kernel.late:
        arrays = {u.array for u in uses if u.copy is not None and u.copy.buffer == buffer}
        if any(u.array in arrays and (u.copy is None or u.copy.buffer != buffer) for u in uses):
            raise Unread(f"`{buffer}` is brought back while its array is used")


def _union(maps: Sequence[isl.Map]) -> isl.Map:
    total = maps[0]
    for m in maps[1:]:
        total = total.union(m)
    return total
