"""Rewrites scalars that accumulate a sum for one array element: the element itself accumulates it (forwarding).
`forward` returns the new region and its tree, or None where that would change something.

`double s = 0; for (k) s += ...; C[i][j] = s;` computes in C[i][j] what `C[i][j] = 0; for (k) C[i][j] += ...` does, and
the second form is a product that can be blocked. The copy goes; every use of the scalar becomes the element. This holds
as long as the copy is the scalar's last use, and nobody looks at the element while the scalar lives. The last use may
also compute with the value, `C[i][j] = s / d[j]`; it then stays, with the element in the scalar's place.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from codegen.scop.dependences import order_map
from codegen.scop.expr import Ref, walk
from codegen.scop.isl_helpers import relation_of
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.tree import Band, Hold, Leaf, Node, Seq, kids, seq, statements


def candidates(scop: Scop) -> tuple[str, ...]:
    """Scalars that gather something and end in an element."""
    return tuple(n for n in sorted(scop.arrays) if any(_ends_in(scop, s, n) for s in scop.statements))


def forward(scop: Scop, tree: Node, name: str) -> tuple[Scop, Node] | None:
    """The region with the element in place of the scalar; None where that would change something."""
    copies = [s for s in scop.statements if _ends_in(scop, s, name)]
    if len(copies) == 1 and len(scop.statements) > 1 and _allowed(scop, tree, copies[0], name):
        after = _replaced(scop, copies[0], name)
        gone = {s.name for s in scop.statements} - {s.name for s in after.statements}
        rest = without(tree, gone)
        return None if rest is None else (after, rest)
    return None


def forwarded(scop: Scop, name: str) -> Scop | None:
    """The region with the element in place of the scalar, whether or not that is allowed."""
    copies = [s for s in scop.statements if _ends_in(scop, s, name)]
    return _replaced(scop, copies[0], name) if len(copies) == 1 else None


def _ends_in(scop: Scop, s: Statement, name: str) -> bool:
    """`C[..] = s`, or a value computed from a scalar `s` that gathers, once for every object that `s` is."""
    read = {s.accesses[e.access].array for e in walk(s.rhs) if isinstance(e, Ref)}
    if s.op != "=" or name not in read or any(a.write and a.array == name for a in s.accesses):
        return False
    target, source = scop.arrays[s.accesses[s.target].array], scop.arrays[name]
    alike = (target.elem.kind, target.elem.bits, target.elem.signed) == (
        source.elem.kind,
        source.elem.bits,
        source.elem.signed,
    )
    scalar = source.inside and not source.rank and len(s.iterators) == source.scope
    plain = alike and scalar and source.elem.kind != "other" and not target.inside
    return plain and (isinstance(s.rhs, Ref) or any(_gathers(t, name) for t in scop.statements))


def _gathers(s: Statement, name: str) -> bool:
    """Does the statement add something to the scalar?"""
    return s.accesses[s.target].array == name and any(not a.write and a.array == name for a in s.accesses)


def _allowed(scop: Scop, tree: Node, copy: Statement, name: str) -> bool:
    users = [s for s in scop.statements if s is not copy and any(a.array == name for a in s.accesses)]
    writers = [s for s in users if any(a.write and a.array == name for a in s.accesses)]
    objects = {s.name: _object(s, copy) for s in users}
    written = isl.Set.empty(copy.domain.get_space())
    for s in writers:
        written = written.union(objects[s.name].range())
    every = all(objects[s.name].range().is_subset(copy.domain) for s in users)
    if not writers or not every or not copy.domain.is_subset(written) or _reads_own(copy):
        return False
    times = order_map(scop, tree)
    last = times.intersect_domain(isl.UnionSet.from_set(copy.domain))
    for s in users:
        of_user = times.intersect_domain(isl.UnionSet.from_set(s.domain))
        if not isl.UnionMap.from_map(objects[s.name]).intersect(of_user.lex_gt_union_map(last)).is_empty():
            return False  # a use after the copy
    begun = isl.UnionMap.empty(times.get_space())
    for s in writers:
        begun = begun.union(isl.UnionMap.from_map(objects[s.name]).reverse())
    first = times.intersect_domain(begun.range())
    element = copy.accesses[copy.target].array
    for s, a in scop.accesses():
        own = times.intersect_domain(isl.UnionSet.from_set(s.domain)) if a.array == element else None
        if own is not None and _looks(a, copy, own.lex_lt_union_map(last), own.lex_gt_union_map(first), begun):
            return False
    return True


def _reads_own(copy: Statement) -> bool:
    """Does the last use need what the element was before?"""
    target = copy.accesses[copy.target]
    same = (a.relation.intersect(target.relation) for a in copy.reads if a.array == target.array)
    return any(not m.is_empty() for m in same)


def _looks(
    a: Access, copy: Statement, before: isl.UnionMap, after: isl.UnionMap, begun: isl.UnionMap
) -> bool:
    """Does an access see the element between the scalar's first write and the copy? Its instances come `before` those
    of the copy, and `after` those of writers."""
    target = copy.accesses[copy.target]
    same = isl.UnionMap.from_map(a.relation.apply_range(target.relation.reverse()))
    early = same.intersect(before)  # instances to the copy that comes later
    return not early.apply_range(begun).intersect(after).is_empty()


def _object(s: Statement, copy: Statement) -> isl.Map:
    """Instances of a user to the copy of the same object."""
    return relation_of(prefix(s, copy)).intersect_domain(s.domain)


def prefix(s: Statement, copy: Statement) -> isl.MultiPwAff:
    """Instances of a statement to those of one with its outer iterators alone."""
    space, target = s.domain.get_space(), copy.domain.get_space()
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target))
    for k in range(len(copy.iterators)):
        var = isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, k)
        multi = multi.set_pw_aff(k, isl.PwAff.from_aff(var))
    return multi


def _replaced(scop: Scop, copy: Statement, name: str) -> Scop:
    kept = tuple(
        _redirected(s, copy, name) for s in scop.statements if s is not copy or not isinstance(copy.rhs, Ref)
    )
    busy = tuple(s for s in kept if not _is_idle(s))
    arrays = {n: a for n, a in scop.arrays.items() if n != name}
    return replace(scop, statements=busy or kept, arrays=arrays)


def _redirected(s: Statement, copy: Statement, name: str) -> Statement:
    if all(a.array != name for a in s.accesses):
        return s
    target = copy.accesses[copy.target]
    index = target.index.pullback_multi_pw_aff(prefix(s, copy))
    relation = relation_of(index)

    def moved(a: Access) -> Access:
        there = relation.intersect_domain(s.instances(a))
        return replace(a, array=target.array, index=index, relation=there, path=target.path)

    return replace(s, accesses=tuple(moved(a) if a.array == name else a for a in s.accesses))


def _is_idle(s: Statement) -> bool:
    """`C[..] = C[..]`."""
    return (
        s.op == "="
        and isinstance(s.rhs, Ref)
        and s.accesses[s.rhs.access].array == s.accesses[s.target].array
        and s.accesses[s.rhs.access].path == s.accesses[s.target].path
        and bool(s.accesses[s.rhs.access].relation.is_equal(s.accesses[s.target].relation))
    )


def without(node: Node, gone: set[str]) -> Node | None:
    """The tree without some statements."""
    if isinstance(node, Leaf):
        return None if node.stmt in gone else node
    if isinstance(node, Seq):
        parts = [p for p in (without(k, gone) for k in kids(node)) if p is not None]
        return seq(parts) if parts else None
    child = without(node.child, gone)
    if child is None:
        return None
    if isinstance(node, Hold):
        return Hold(node.slots, child)
    here = set(statements(child))
    loops = tuple(replace(lp, exprs={n: e for n, e in lp.exprs.items() if n in here}) for lp in node.loops)
    return Band(loops, child, node.permutable, node.split)
