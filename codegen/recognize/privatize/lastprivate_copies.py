"""Makes the copy-in and copy-out statements of firstprivate and lastprivate variables (`into_copy`, `back_copy`), and
puts them into the schedule tree (`with_copies`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from codegen.recognize.access.strides import coefficients
from codegen.record import record
from codegen.scop.element_access import element_access
from codegen.scop.expr import Ref
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.tree import Band, Leaf, Loop, Node, Seq, seq, statements


@record
class Copies:
    """Copies at the beginning and at the end of an iteration; either may be missing."""

    into: Statement | None
    back: Statement | None

    @property
    def all(self) -> tuple[Statement, ...]:
        return tuple(s for s in (self.into, self.back) if s is not None)


def back_copy(
    scop: Scop, label: str, name: str, own: str, users: Sequence[str], directions: Sequence[int]
) -> Statement:
    """`x[e] = own[e]` in the last iteration of the outer loops that writes x[e]."""
    writes = [(s, a) for s, a in scop.accesses() if a.array == name and a.write and s.name in users]
    first, access = writes[0]
    final = _outer(scop, [a.relation for _, a in writes], len(directions))
    turn = _turn(final.get_space().range(), directions)
    final = isl.Map.from_pw_multi_aff(final.coalesce().apply_range(turn).lexmax_pw_multi_aff()).apply_range(turn)
    return _copy(label, first, access, _Copied(final, name, own, len(directions)))


@record
class _Copied:
    """Elements and iterations of the outer loops, `depth` of them, for which `source` is copied to `target`."""

    where: isl.Map
    target: str
    source: str
    depth: int


def into_copy(
    scop: Scop, label: str, names: tuple[str, str], first: Statement, exposed: Sequence[isl.Map], depth: int
) -> Statement:
    """`own[e] = x[e]` in every iteration of the outer loops that reads x[e] as it was before all of them; `names` are
    those of x and of its copy."""
    name, own = names
    access = next(a for a in first.accesses if a.array == name)
    return _copy(label, first, access, _Copied(_outer(scop, exposed, depth), own, name, depth))


def _outer(scop: Scop, uses: Sequence[isl.Map], depth: int) -> isl.Map:
    """Elements to the iterations of the outer loops that use them."""
    total: isl.Map | None = None
    for m in uses:
        outer = m.reverse().project_out(isl.dim_type.out, depth, m.dim(isl.dim_type.in_) - depth)
        outer = outer.reset_tuple_id(isl.dim_type.out).intersect_params(scop.context)
        total = outer if total is None else total.union(outer)
    assert total is not None
    return total


def _copy(label: str, like: Statement, access: Access, what: _Copied) -> Statement:
    """A statement that copies elements of an array."""
    where, target, source, depth = what.where, what.target, what.source, what.depth
    rank = where.dim(isl.dim_type.in_)
    iterators = (*like.iterators[:depth], *_elements(like.iterators, rank))
    domain = where.reverse().wrap().flatten().set_tuple_name(label).coalesce()
    for k, it in enumerate(iterators):
        domain = domain.set_dim_name(isl.dim_type.set, k, it)
    space = isl.LocalSpace.from_space(domain.get_space())
    dims = [isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, k)) for k in range(depth + rank)]
    to, by = (
        element_access(domain, n, write, dims[depth:] if n == access.array else dims, access.path, access.loc)
        for n, write in ((target, True), (source, False))
    )
    subscripts = "".join(f"[{n}]" for n in iterators[depth:])
    text = f"{target}{subscripts} = {source}{subscripts}"
    return Statement(label, iterators, domain, "=", 0, Ref(1), (to, by), (), access.loc, text)


def _turn(space: isl.Space, directions: Sequence[int]) -> isl.Map:
    """Iterations counted in the order in which they run, and back."""
    multi = isl.MultiAff.identity(space.map_from_set())
    for k, sign in enumerate(directions):
        multi = multi.set_aff(k, multi.get_aff(k).scale_val(isl.Val(sign)))
    return isl.Map.from_multi_aff(multi)


def _elements(taken: Sequence[str], rank: int) -> tuple[str, ...]:
    free = (n for n in ("e", "f", "g", "h", *(f"e{k}" for k in range(9))) if n not in taken)
    return tuple(next(free) for _ in range(rank))


# -- the order -------------------------------------------------------------------------------------


def with_copies(tree: Node, users: Sequence[str], copies: Copies, depth: int, level: int = 0) -> Node | None:
    """The tree with the copies first and last in the body of the first `depth` loops around the users."""
    if level == depth:
        return seq([*_nests(copies.into, depth), tree, *_nests(copies.back, depth)])
    if isinstance(tree, Seq):
        at = next((k for k, x in enumerate(tree.children) if set(users) <= set(statements(x))), None)
        child = None if at is None else with_copies(tree.children[at], users, copies, depth, level)
        if at is None or child is None:
            return None
        return Seq((*tree.children[:at], child, *tree.children[at + 1 :]))
    if not isinstance(tree, Band):
        return None
    some = tree.loops[: depth - level]
    rest = tree.loops[len(some) :]
    below = Band(rest, tree.child, tree.permutable) if rest else tree.child
    child = with_copies(below, users, copies, depth, level + len(some))
    if child is None:
        return None
    loops = []
    for k, loop in enumerate(some):
        values = {s.name: _like(loop.exprs[users[0]], s, level + k) for s in copies.all}
        if any(v is None for v in values.values()):
            return None
        loops.append(replace(loop, exprs={**loop.exprs, **{n: v for n, v in values.items() if v is not None}}))
    return Band(tuple(loops), child, tree.permutable)


def _like(value: isl.PwAff, copy: Statement, k: int) -> isl.PwAff | None:
    """A loop's value, of iterator `k` alone, as a function of the copy's instances."""
    factors = coefficients(value, value.dim(isl.dim_type.in_))
    if factors is None or any(c for d, c in enumerate(factors) if d != k) or int(factors[k]) != factors[k]:
        return None
    aff = value.get_pieces()[0][1]
    local = isl.LocalSpace.from_space(copy.domain.get_space())
    made = isl.Aff.var_on_domain(local, isl.dim_type.set, k).scale_val(isl.Val(int(factors[k])))
    if any(not aff.get_coefficient_val(isl.dim_type.param, d).is_zero() for d in range(aff.dim(isl.dim_type.param))):
        return None
    return isl.PwAff.from_aff(made.add_constant_val(aff.get_constant_val()))


def _nests(copy: Statement | None, depth: int) -> list[Node]:
    if copy is None:
        return []
    local = isl.LocalSpace.from_space(copy.domain.get_space())
    loops = tuple(
        Loop(n, {copy.name: isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, k))})
        for k, n in enumerate(copy.iterators)
        if k >= depth
    )
    return [Band(loops, Leaf(copy.name), len(loops) > 1) if loops else Leaf(copy.name)]
