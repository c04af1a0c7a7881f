"""Finds, by the dependences, variables declared before the region that carry no value into it or out of it, and makes
them local to it: small ones on the stack, large arrays in allocated memory where a loop becomes parallel by it.

C programmers often declare `double t;` or `double row[64];` at the top of a function. If every value that it takes in
the region is used within the same iteration of some loops, and nobody looks at it afterwards, each iteration can have
its own, and loops become parallel. Where one scalar serves several purposes one after the other, each gets its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from codegen.frontend.syntax.symbols import RegionSite
from codegen.recognize.privatize.expansion import NoExpansion, ends_of
from codegen.recognize.privatize.gain import gains
from codegen.scop.dependences import Dependences, ValueFlows, compute_dependences
from codegen.scop.isl_helpers import maps_of, relation_of
from codegen.scop.model import Access, Array, Scop, Statement
from codegen.scop.tree import Node, enclosing


def privatize(scop: Scop, tree: Node, found: ValueFlows, site: RegionSite) -> Scop:
    """The scop with such variables made the region's own; the same object when there are none."""
    changed = scop
    for name in sorted(scop.arrays):
        array = scop.arrays[name]
        if array.inside or not _forgotten(array, site) or fed_from_outside(found.live_in, name):
            continue
        if not array.rank:
            for k, users in enumerate(_purposes(scop, found.flows, name)):
                own = name if k == 0 else fresh(changed, f"{name}{k + 1}")
                changed = make_inside(changed, name, own, users, shared_depth(scop, tree, found.flows, name, users))
        elif small(scop, name):
            names = users_of(scop, name)
            depth = shared_depth(scop, tree, found.flows, name, names)
            changed = make_inside(changed, name, name, names, depth) if depth else changed
    return changed


def privatize_roomy(
    scop: Scop, tree: Node, deps: Dependences, site: RegionSite
) -> tuple[Scop, Dependences]:
    """The same for arrays that no stack should hold, whose memory the region asks for; only where a loop carries
    nothing any more by it."""
    made, done = scop, []
    for name in sorted({d.array for d in deps.all if d.kind != "flow"}):
        array = scop.arrays[name]
        wanted = not array.inside and array.rank and not array.fits and plain(scop, name)
        if not wanted or not _forgotten(array, site) or fed_from_outside(deps.live_in, name):
            continue
        users = users_of(scop, name)
        depth = shared_depth(scop, tree, deps.flows, name, users)
        extents = _extents(scop, name)
        if depth and extents:
            made = make_inside(made, name, name, users, depth)
            sized = replace(made.arrays[name], extents=extents)
            made = replace(made, arrays={**made.arrays, name: sized})
            done.append((users[0], depth))
    if not done:
        return scop, deps
    new = compute_dependences(made, tree)
    good = any(gains(tree, deps, tree, new, user, depth) for user, depth in done)
    return (made, new) if good else (scop, deps)


def _extents(scop: Scop, name: str) -> tuple[str, ...]:
    """Sizes that hold all elements the region uses; none where there is no formula. What was declared may have been
    written with variables that have other values by now."""
    try:
        return ends_of(scop, name)
    except NoExpansion:
        return ()


def _forgotten(array: Array, site: RegionSite) -> bool:
    """A variable that nobody looks at outside the region. Arrays that are parameters are the caller's, and what a
    pointer points to is somebody else's memory, which may be looked at under another name."""
    var = site.variables.get(array.base)
    return (
        var is not None
        and var.place in (("local",) if array.rank else ("local", "param"))
        and not var.static
        and array.name == array.base
        and array.declarable
        and bool(var.shape.declarators) == bool(array.rank)
        and all(declarator.kind == "array" for declarator in var.shape.declarators)
        and not site.used_outside(array.base)
    )


def small(scop: Scop, name: str) -> bool:
    """A scalar, or an array of fixed size that fits on the stack of a thread, of which whole elements are used."""
    return scop.arrays[name].fits and plain(scop, name)


def plain(scop: Scop, name: str) -> bool:
    """Are whole elements used, by subscripts alone?"""
    steps = (x for _, a in scop.accesses() if a.array == name for x in a.path)
    return scop.arrays[name].declarable and all(x.kind == "sub" for x in steps)


def users_of(scop: Scop, name: str) -> tuple[str, ...]:
    return tuple(s.name for s in scop.statements if any(a.array == name for a in s.accesses))


def fed_from_outside(live_in: isl.UnionMap, name: str) -> bool:
    """Is a value from before the region read?"""
    found: list[str] = []
    live_in.foreach_map(lambda m: found.append(m.get_tuple_name(isl.dim_type.out)))
    return name in found


def _purposes(scop: Scop, flows: Mapping[str, isl.UnionMap], name: str) -> list[tuple[str, ...]]:
    """The statements that use the scalar, in groups between which no value flows."""
    groups = [{s.name} for s in scop.statements if any(a.array == name for a in s.accesses)]
    for m in maps_of(flows[name]) if name in flows else ():
        ends = {m.get_tuple_name(isl.dim_type.in_), m.get_tuple_name(isl.dim_type.out)}
        tied = [g for g in groups if g & ends]
        groups = [g for g in groups if not g & ends] + [set().union(*tied)]
    ordered = [tuple(s.name for s in scop.statements if s.name in g) for g in groups]
    return sorted(ordered, key=lambda g: int(g[0][1:]))


def fresh(scop: Scop, name: str) -> str:
    while name in scop.arrays or name in scop.names:
        name += "_"
    return name


def shared_depth(
    scop: Scop, tree: Node, flows: Mapping[str, isl.UnionMap], name: str, names: tuple[str, ...]
) -> int:
    """How many outer loops separate the values that these statements pass on."""
    users = [s for s in scop.statements if s.name in names]
    common = common_loops(tree, users)
    flow = [m for m in maps_of(flows[name]) if m.get_tuple_name(isl.dim_type.in_) in names]
    depth = 0
    while depth < common and all(same_iterator(m, depth) for m in flow):
        depth += 1
    return depth


def common_loops(tree: Node, users: list[Statement]) -> int:
    """Loops of the source that enclose all users."""
    paths = [enclosing(tree, s.name) for s in users]
    depth = 0
    while all(len(p) > depth for p in paths) and len({id(p[depth]) for p in paths}) == 1:
        depth += 1
    return depth


def same_iterator(m: isl.Map, pos: int) -> bool:
    return bool(m.is_subset(m.equate(isl.dim_type.in_, pos, isl.dim_type.out, pos)))


def make_inside(scop: Scop, name: str, own: str, users: tuple[str, ...], depth: int) -> Scop:
    """These uses of the variable as one of the region's own, called `own`."""
    array = replace(scop.arrays[name], name=own, base=own, inside=True, scope=depth, place="inside", unshared=True)
    statements = tuple(_rescoped(s, name, own, depth) if s.name in users else s for s in scop.statements)
    return replace(scop, arrays={**scop.arrays, own: array}, statements=statements)


def _rescoped(s: Statement, name: str, own: str, depth: int) -> Statement:
    accesses = tuple(_with_scope(s, replace(a, array=own), depth) if a.array == name else a for a in s.accesses)
    return replace(s, accesses=accesses)


def _with_scope(s: Statement, a: Access, depth: int) -> Access:
    """Index the variable by the first `depth` iterators, then as it is."""
    source = s.domain.get_space()
    rank = a.index.dim(isl.dim_type.out)
    target = source.params().set_from_params().add_dims(isl.dim_type.set, depth + rank)
    target = target.set_tuple_name(isl.dim_type.set, a.array)
    multi = isl.MultiPwAff.zero(source.map_from_domain_and_range(target))
    for k in range(depth):
        var = isl.Aff.var_on_domain(isl.LocalSpace.from_space(source), isl.dim_type.set, k)
        multi = multi.set_pw_aff(k, isl.PwAff.from_aff(var))
    for k in range(rank):
        multi = multi.set_pw_aff(depth + k, a.index.get_pw_aff(k))
    relation = relation_of(multi).intersect_domain(s.instances(a))
    return replace(a, index=multi, relation=relation)
