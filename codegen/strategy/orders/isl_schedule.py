"""Runs isl's scheduler on a region and returns its order as a loop tree with named loops: parallel loops outside and
reuse inside (`fusion` none, smart or max), or everything in one tilable band."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import islpy as isl

from codegen.record import record
from codegen.scop.dependences import Dependences, domain, known_through, one_object, order_map, param_space
from codegen.scop.flows import times_of
from codegen.scop.isl_helpers import maps_of, schedule_kind
from codegen.scop.memo import remember
from codegen.scop.model import Scop
from codegen.scop.tree import Band, Leaf, Loop, Node, Seq, kids, loops, seq, statements, walk, with_kids
from codegen.strategy.orders.any_sizes import sizes_in
from codegen.strategy.orders.clusters import Clusters, clusters

# Relations of more pieces than this are replaced by their hull: a little less freedom, far less work.
PIECES = 6
# Exact dependences are not tried if they have more parts than this, and parts with more faces: what an order has to
# fulfil is then found by work without an end, of which isl counts next to nothing.
PARTS, FACES = 24, 8
# With more faces than this (nests of eight loops have them) exact dependences take half a minute, however few.
MANY_FACES = 14
# Statements times parts of dependences from which on the scheduler is not asked: with 20 by 80 it takes 0.06 s, with 38
# by 310 it takes 12 s.
LARGE = 6000
Relations = tuple[isl.UnionMap, isl.UnionMap, isl.UnionMap, isl.UnionMap]


@record
class _Graph:
    """What the scheduler is asked: instances of statements, or of clusters of them; validity, flow, and the lives of
    variables with their order, exact and without what the domains say."""

    nodes: isl.UnionSet
    exact: Relations
    short: Relations
    together: Clusters | None


@remember(4)
def isl_schedule(scop: Scop, deps: Dependences, source: Node, fusion: str) -> Node:
    """Schedule a region: parallel loops outside if that needs no skewing, else loops that can be tiled.

    `fusion` is none, smart or max; `source` is the order of the source."""
    tree = _schedule(scop, deps, source, fusion, outer_parallel=True)
    if any(isinstance(n, Band) and _is_wavefront(scop, n) for _, n in walk(tree)):
        tree = _schedule(scop, deps, source, fusion, outer_parallel=False)
    return tree


def tilable_schedule(scop: Scop, deps: Dependences, source: Node) -> Node:
    """Everything in one band if that can be: fused, skewed and shifted, whatever becomes of parallel loops."""
    return _schedule(scop, deps, source, "max", outer_parallel=False)


def is_large(scop: Scop, deps: Dependences, source: Node) -> bool:
    """Is the region too large for the scheduler, whose linear programs grow with statements and dependences?"""
    graph = _graph(scop, deps, source)
    parts = sum(m.n_basic_map() for m in maps_of(graph.short[0]))
    return int(graph.nodes.n_set()) * parts > LARGE


def is_costly(scop: Scop, deps: Dependences, source: Node, fusion: str) -> bool:
    """Does an order take much work? Then short dependences are cyclic, and exact ones have many faces."""
    if is_large(scop, deps, source):
        return True
    graph = _graph(scop, deps, source)
    if max(_faces(_parts(graph.exact)), default=0) <= MANY_FACES:
        return False
    try:
        _by_short(scop, graph, fusion, True)
    except isl.Error:
        return True
    return False


def _is_wavefront(scop: Scop, band: Band) -> bool:
    """A sequential loop over a sum of iterators, so that what is inside becomes parallel: one point of every
    row at a time, which no cache likes."""
    first = band.loops[0]
    return not first.coincident and any(len(_terms(scop, n, e) or ()) > 1 for n, e in first.exprs.items())


def _set_options(fusion: str, outer_parallel: bool) -> None:
    ctx = isl.DEFAULT_CONTEXT
    ctx.set_schedule_outer_coincidence(int(outer_parallel))
    ctx.set_schedule_maximize_band_depth(1)
    ctx.set_schedule_maximize_coincidence(1 if fusion == "smart" else 0)
    ctx.set_schedule_serialize_sccs(1 if fusion == "none" else 0)


def _schedule(scop: Scop, deps: Dependences, source: Node, fusion: str, outer_parallel: bool) -> Node:
    graph = _graph(scop, deps, source)
    try:
        schedule = _by_short(scop, graph, fusion, outer_parallel)
    except isl.Error:
        # What the shortened dependences add outside the domain can make them cyclic; the exact ones are not.
        exact = graph.exact if _few(graph.exact) else _lean(graph.nodes, graph.exact)
        known = _for_any_sizes(scop, graph.nodes, exact)
        if known is not None:
            return rename(scop, graph.together.restored(known) if graph.together else known)
        schedule = _compute(scop.context, graph.nodes, exact)
    tree = _from_isl(schedule.get_root().child(0), scop)
    return rename(scop, graph.together.restored(tree) if graph.together else tree)


def _for_any_sizes(scop: Scop, nodes: isl.UnionSet, relations: Relations) -> Node | None:
    """The order for variables in place of large numbers; None where there are none, or where it depends on them."""
    alike = nodes.identity()
    sizes = sizes_in((*relations, alike))
    if sizes is None:
        return None
    context = scop.context.align_params(sizes.space).intersect(sizes.context)
    try:
        schedule = _compute(context, sizes.lifted(alike).domain(), _four(map(sizes.lifted, relations)))
    except isl.Error:
        return None
    tree = _from_isl(schedule.get_root().child(0), scop)
    every = [e for x in loops(tree) for e in x.loop.exprs.values()]
    values = {id(e): kept for e in every if (kept := sizes.dropped(e)) is not None}
    return _replaced(tree, values) if len(values) == len({*map(id, every)}) else None


def _replaced(node: Node, values: Mapping[int, isl.PwAff]) -> Node:
    """The tree with other values of its loops."""
    if isinstance(node, Band):
        each = (replace(lp, exprs={n: values[id(e)] for n, e in lp.exprs.items()}) for lp in node.loops)
        node = replace(node, loops=tuple(each))
    return with_kids(node, tuple(_replaced(k, values) for k in kids(node)))


@remember(2)
def _by_short(scop: Scop, graph: _Graph, fusion: str, outer_parallel: bool) -> isl.Schedule:
    """The order by shortened dependences. Raises isl.Error where these are cyclic."""
    _set_options(fusion, outer_parallel)
    return _compute(scop.context, graph.nodes, graph.short)


@remember(4)
def _graph(scop: Scop, deps: Dependences, source: Node) -> _Graph:
    """The same for every way to fuse."""
    nodes, validity = domain(scop), deps.union()
    exact = (validity, deps.union(("flow",)), *live_ranges(scop, deps, source))
    together = clusters(scop, source, validity)
    if together is not None:
        nodes = together.first.range()
        exact = _four(together.merged(r) for r in exact)
    return _Graph(nodes, exact, _four(_short(r, nodes) for r in exact), together)


def _four(relations: Iterable[isl.UnionMap]) -> Relations:
    validity, flow, alive, reuse = relations
    return validity, flow, alive, reuse


def _few(relations: Relations) -> bool:
    """Are these dependences that the scheduler can cope with as they are?"""
    parts = _parts(relations)
    return len(parts) <= PARTS or max(_faces(parts)) <= FACES


def _parts(relations: Relations) -> list[isl.BasicMap]:
    return [b.remove_divs() for r in relations for m in maps_of(r) for b in m.get_basic_maps()]


def _faces(parts: Iterable[isl.BasicMap]) -> Iterator[int]:
    return (sum(not c.is_equality() for c in b.get_constraints()) for b in parts)


def _lean(nodes: isl.UnionSet, relations: Relations) -> Relations:
    """Dependences without what the domains say, and all of their pieces."""
    return _four(r.gist_domain(nodes).gist_range(nodes) for r in relations)


def _short(relation: isl.UnionMap, everywhere: isl.UnionSet) -> isl.UnionMap:
    """Dependences without what the domains already say.

    The scheduler's linear programs grow with the number and size of constraints: heat-3d takes 2.7 s with the
    full relations and 0.01 s with these.
    """
    total = isl.UnionMap.empty(relation.get_space())
    for m in maps_of(relation.coalesce()):
        if m.n_basic_map() > PIECES:
            m = isl.Map.from_basic_map(m.simple_hull())
        total = total.union(isl.UnionMap.from_map(m))
    return total.gist_domain(everywhere).gist_range(everywhere)


def _compute(context: isl.Set, nodes: isl.UnionSet, relations: Relations) -> isl.Schedule:
    validity, proximity, alive, reuse = relations
    constraints = isl.ScheduleConstraints.on_domain(nodes).set_context(context)
    constraints = constraints.set_validity(validity).set_coincidence(validity).set_proximity(proximity)
    if not alive.is_empty():
        constraints = constraints.set_conditional_validity(alive, reuse)
    return constraints.compute_schedule()


def live_ranges(scop: Scop, deps: Dependences, source: Node) -> tuple[isl.UnionMap, isl.UnionMap]:
    """For variables declared inside the region: their flow, and the order in which one object is reused.

    Each iteration has its own object in the model, but one in memory. As long as a value's life stays within
    an iteration of the new loops, one object per iteration does; where it does not, lives must not overlap.
    """
    space = param_space(scop)
    alive, reuse = isl.UnionMap.empty(space), isl.UnionMap.empty(space)
    inside = sorted(n for n, a in scop.arrays.items() if a.inside)
    for name in inside:
        alive = alive.union(deps.flows.get(name, isl.UnionMap.empty(space)))
    if alive.is_empty():
        return alive, reuse
    times = order_map(scop, source, everywhere=True)
    for name in inside:
        question = f"reuse {scop.arrays[name].scope}"
        found = known_through(scop, source, name, question, partial(_reuse, scop, name, times))
        reuse = reuse.union(found)
    return alive, reuse


def _reuse(scop: Scop, name: str, times: isl.UnionMap) -> isl.UnionMap:
    """From each access of a variable to the next that writes it, all iterations sharing one object."""
    reads, writes = (one_object(scop, name, w) for w in (False, True))
    info = isl.UnionAccessInfo.from_sink(writes).set_must_source(writes).set_may_source(reads)
    return info.set_schedule_map(times_of(times, reads, writes)).compute_flow().get_may_dependence()


def _from_isl(node: isl.ScheduleNode, scop: Scop) -> Node:
    kind = schedule_kind(node)
    if kind == "band":
        child = _from_isl(node.child(0), scop)
        names = sorted(_names(node))
        partial = node.band_get_partial_schedule()
        members = []
        for k in range(node.band_n_member()):
            row = partial.get_union_pw_aff(k)
            exprs = {n: _piece(row, scop, n) for n in names}
            members.append(Loop(f"c{k}", exprs, coincident=bool(node.band_member_get_coincident(k))))
        if not members:
            return child
        return Band(tuple(members), child, bool(node.band_get_permutable()))
    if kind in ("sequence", "set"):
        children = [_from_isl(node.child(k), scop) for k in range(node.n_children())]
        # The members of a set may run in any order: the source's is as good as any, and stable.
        if kind == "set":
            children.sort(key=_first)
        return seq(children)
    if kind in ("filter", "context", "guard", "mark"):
        return _from_isl(node.child(0), scop)
    names = sorted(_names(node), key=_number)
    return Leaf(names[0]) if len(names) == 1 else Seq(tuple(Leaf(n) for n in names))


def _number(name: str) -> int:
    return int(name[1:])


def _first(node: Node) -> int:
    return min(_number(s) for s in statements(node))


def _names(node: isl.ScheduleNode) -> set[str]:
    found: set[str] = set()
    node.get_domain().foreach_set(lambda s: found.add(s.get_tuple_name()))
    return found


def _piece(row: isl.UnionPwAff, scop: Scop, name: str) -> isl.PwAff:
    space = scop.statement(name).domain.get_space()
    target = (
        space.add_dims(isl.dim_type.out, 1) if space.is_map() else space.from_domain().add_dims(isl.dim_type.out, 1)
    )
    return row.extract_pw_aff(target)


def rename(scop: Scop, tree: Node, taken: frozenset[str] = frozenset()) -> Node:
    """Name loops after the source's iterators they step through; names of loops around them are `taken`."""
    return _rename(scop, tree, taken)


def _rename(scop: Scop, node: Node, taken: frozenset[str]) -> Node:
    if isinstance(node, Band):
        named = []
        for lp in node.loops:
            name, n = _loop_name(scop, lp), 2
            base = name
            while name in taken:
                name, n = f"{base}{n}", n + 1
            taken = taken | {name}
            named.append(replace(lp, name=name, note=describe(scop, lp)))
        return replace(node, loops=tuple(named), child=_rename(scop, node.child, taken))
    return with_kids(node, tuple(_rename(scop, k, taken) for k in kids(node)))


def _terms(scop: Scop, stmt: str, value: isl.PwAff) -> list[tuple[str, int]] | None:
    """Iterators and integer coefficients of a single affine piece."""
    if value.n_piece() != 1:
        return None
    aff = value.get_pieces()[0][1]
    out = []
    for k, it in enumerate(scop.statement(stmt).iterators):
        v = aff.get_coefficient_val(isl.dim_type.in_, k)
        if not v.is_zero():
            out.append((it, int(v.to_str()) if v.is_int() else 0))
    return out


def _loop_name(scop: Scop, lp: Loop) -> str:
    """The iterator most statements step through; for a skewed loop, its iterators joined by `_`."""
    votes: dict[str, int] = {}
    for stmt in sorted(lp.exprs, key=_number):
        terms = _terms(scop, stmt, lp.exprs[stmt])
        if terms:
            name = "_".join(t for t, _ in terms)
            votes[name] = votes.get(name, 0) + 1
    if not votes:
        return "c"
    return max(votes, key=lambda n: (votes[n], -n.count("_")))


def describe(scop: Scop, lp: Loop) -> str:
    """What a loop steps through, in words, when its name does not say it."""
    stmt = max(sorted(lp.exprs, key=_number), key=lambda s: len(_terms(scop, s, lp.exprs[s]) or ()))
    terms = _terms(scop, stmt, lp.exprs[stmt]) or []
    if terms == [(lp.name, 1)] or (len(terms) < 2 and (not terms or terms[0][1] == 1)):
        return ""
    text = (
        " + ".join(n if c == 1 else f"{c}*{n}" for n, c in terms)
        .replace("+ -1*", "- ")
        .replace("-1*", "-")
        .replace("+ -", "- ")
    )
    return f"{'skewed: ' if len(terms) > 1 else ''}{text}"
