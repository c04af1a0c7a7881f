"""Variables whose last value is wanted, while each iteration could have its own: `lastprivate`, for arrays too.

`for (i) { t = A[i]; B[i] = t * t; } return t;` writes one `t` over and over, which keeps the loop from running in
parallel. With an own `t` in each iteration, and the last one of them copied to `t` where it is final, only values
that flow from one iteration to another are left to keep.

What is made here is a proposal that `wrong_lasting` judges by comparing both regions: every read has the writer it
had, and what is there after the region is what was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import islpy as isl

from codegen.diagnostics import Diagnostic, Severity
from codegen.recognize.lasting_proof import wrong_lasting
from codegen.recognize.privates import fed_from_outside, fresh, make_inside, shared_depth, small, users_of
from codegen.recognize.strides import coefficients
from codegen.record import record
from codegen.scop.dependences import Dependences, compute_dependences
from codegen.scop.expr import Ref
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.tree import Band, Leaf, Loop, Node, Seq, enclosing, seq, statements

SUFFIX = "_own"


@record
class Lasting:
    """The region with variables of its own, copied where they are final."""

    scop: Scop
    tree: Node
    deps: Dependences
    names: tuple[str, ...]


def keep_last(scop: Scop, tree: Node, deps: Dependences) -> Lasting | None:
    """The region with such variables, if that takes a dependence off a loop; None otherwise."""
    names = [n for n in sorted(scop.arrays) if _candidate(scop, tree, deps, n)]
    made, order, done = scop, tree, list[str]()
    for name in names:
        own = fresh(made, name + SUFFIX)
        depth = shared_depth(scop, tree, deps, name, users_of(scop, name))
        moved = make_inside(made, name, own, users_of(scop, name), depth)
        copy = _copy(scop, moved, name, own, _directions(tree, users_of(scop, name)[0])[:depth])
        after = replace(moved, statements=(*moved.statements, copy))
        grown = _grown(order, users_of(scop, name), copy, depth)
        if grown is not None and not wrong_lasting(made, order, after, grown, name, own):
            made, order = after, grown
            done.append(name)
    if not done:
        return None
    new = compute_dependences(made, order)
    if not any(_gains(scop, tree, deps, new, n) for n in done):
        return None
    return Lasting(made, order, new, tuple(done))


def own_remarks(before: Scop, after: Scop, lasting: Sequence[str]) -> tuple[Diagnostic, ...]:
    """Which arrays, and which variables that are looked at later, are now the iterations' own, and what it costs."""
    found = []
    for name, array in sorted(after.arrays.items()):
        of = name.removesuffix(SUFFIX) if name not in before.arrays else name
        if of not in before.arrays or before.arrays[of].inside or not array.inside or not array.scope:
            continue
        if not array.rank and of not in lasting:
            continue
        s, a = next((s, a) for s, a in before.accesses() if a.array == of)
        bytes_ = prod(map(int, array.extents)) * array.elem.bytes
        cost = f", {bytes_} bytes on the stack of each thread" if array.rank else ""
        end = "; the last is kept" if of in lasting else ""
        loops = ", ".join(s.iterators[: array.scope])
        text = f"each iteration of {loops} has its own `{of}`{cost}{end}"
        found.append(Diagnostic(Severity.REMARK, "own-copy", text, a.loc, kind="passed"))
    return tuple(found)


def _candidate(scop: Scop, tree: Node, deps: Dependences, name: str) -> bool:
    array = scop.arrays[name]
    written = any(a.write for _, a in scop.accesses() if a.array == name)
    if array.inside or not written or array.depth > 1 or not small(scop, name) or fed_from_outside(deps, name):
        return False
    return name in deps.flows and bool(shared_depth(scop, tree, deps, name, users_of(scop, name)))


def _gains(scop: Scop, tree: Node, old: Dependences, new: Dependences, name: str) -> bool:
    """Does one of the loops around all uses carry nothing any more?"""
    names = users_of(scop, name)
    loops = enclosing(tree, names[0])[: shared_depth(scop, tree, old, name, names)]
    for depth, loop in enumerate(loops):
        below = [s.name for s in scop.statements if loop in enclosing(tree, s.name)]
        if _carries(old, below, depth) and not _carries(new, below, depth):
            return True
    return False


def _carries(deps: Dependences, names: Sequence[str], depth: int) -> bool:
    for m in maps_of(deps.must):
        if m.get_tuple_name(isl.dim_type.in_) in names and m.get_tuple_name(isl.dim_type.out) in names:
            for k in range(depth):
                m = m.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
            if not m.is_subset(m.equate(isl.dim_type.in_, depth, isl.dim_type.out, depth)):
                return True
    return False


def _directions(tree: Node, user: str) -> list[int]:
    """1 for loops around a statement that count up, -1 for those that count down."""
    found = []
    for k, loop in enumerate(enclosing(tree, user)):
        value = loop.exprs[user]
        factors = coefficients(value, value.dim(isl.dim_type.in_))
        found.append(-1 if factors and factors[k] < 0 else 1)
    return found


def _copy(scop: Scop, moved: Scop, name: str, own: str, directions: Sequence[int]) -> Statement:
    """`x[e] = own[e]` in the last iteration of the outer loops that writes x[e]."""
    depth = len(directions)
    writes = [(s, a) for s, a in scop.accesses() if a.array == name and a.write]
    first, access = writes[0]
    rank = access.index.dim(isl.dim_type.out)
    final: isl.Map | None = None
    for s, a in writes:
        outer = a.relation.reverse().project_out(isl.dim_type.out, depth, len(s.iterators) - depth)
        outer = outer.reset_tuple_id(isl.dim_type.out).intersect_params(scop.context)
        final = outer if final is None else final.union(outer)
    assert final is not None
    turn = _turn(final.get_space().range(), directions)
    final = isl.Map.from_pw_multi_aff(final.coalesce().apply_range(turn).lexmax_pw_multi_aff()).apply_range(turn)
    label = f"S{max(int(s.name[1:]) for s in moved.statements) + 1}"
    iterators = (*first.iterators[:depth], *_elements(first.iterators, rank))
    domain = final.reverse().wrap().flatten().set_tuple_name(label).coalesce()
    for k, it in enumerate(iterators):
        domain = domain.set_dim_name(isl.dim_type.set, k, it)
    space = isl.LocalSpace.from_space(domain.get_space())
    all_dims = [isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, k)) for k in range(depth + rank)]
    target = _access(domain, access, name, True, all_dims[depth:])
    source = _access(domain, access, own, False, all_dims)
    subscripts = "".join(f"[{n}]" for n in iterators[depth:])
    text = f"{name}{subscripts} = {own}{subscripts}"
    return Statement(label, iterators, domain, "=", 0, Ref(1), (target, source), (), access.loc, text)


def _turn(space: isl.Space, directions: Sequence[int]) -> isl.Map:
    """Iterations counted in the order in which they run, and back."""
    multi = isl.MultiAff.identity(space.map_from_set())
    for k, sign in enumerate(directions):
        multi = multi.set_aff(k, multi.get_aff(k).scale_val(isl.Val(sign)))
    return isl.Map.from_multi_aff(multi)


def _elements(taken: Sequence[str], rank: int) -> tuple[str, ...]:
    free = (n for n in ("e", "f", "g", "h", *(f"e{k}" for k in range(9))) if n not in taken)
    return tuple(next(free) for _ in range(rank))


def _access(domain: isl.Set, like: Access, name: str, write: bool, values: Sequence[isl.PwAff]) -> Access:
    space = domain.get_space()
    target = space.params().set_from_params().add_dims(isl.dim_type.set, len(values))
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target.set_tuple_name(isl.dim_type.set, name)))
    for k, v in enumerate(values):
        multi = multi.set_pw_aff(k, v)
    relation = isl.Map.from_multi_pw_aff(multi).intersect_domain(domain)
    return Access(name, write, multi, relation, like.path, like.loc)


# -- the order -------------------------------------------------------------------------------------


def _grown(tree: Node, users: Sequence[str], copy: Statement, depth: int, level: int = 0) -> Node | None:
    """The tree with the copy as the last thing in the body of the first `depth` loops around its users."""
    if level == depth:
        return seq([tree, _nest(copy, depth)])
    if isinstance(tree, Seq):
        at = next((k for k, x in enumerate(tree.children) if set(users) <= set(statements(x))), None)
        child = None if at is None else _grown(tree.children[at], users, copy, depth, level)
        if at is None or child is None:
            return None
        return Seq((*tree.children[:at], child, *tree.children[at + 1 :]))
    if not isinstance(tree, Band):
        return None
    some = tree.loops[: depth - level]
    values = [_like(loop.exprs[users[0]], copy, level + k) for k, loop in enumerate(some)]
    rest = tree.loops[len(some) :]
    below = Band(rest, tree.child, tree.permutable) if rest else tree.child
    child = _grown(below, users, copy, depth, level + len(some))
    if child is None or any(v is None for v in values):
        return None
    loops = (replace(x, exprs={**x.exprs, copy.name: v}) for x, v in zip(some, values, strict=True) if v is not None)
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


def _nest(copy: Statement, depth: int) -> Node:
    local = isl.LocalSpace.from_space(copy.domain.get_space())
    loops = tuple(
        Loop(n, {copy.name: isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, k))})
        for k, n in enumerate(copy.iterators)
        if k >= depth
    )
    return Band(loops, Leaf(copy.name), len(loops) > 1) if loops else Leaf(copy.name)
