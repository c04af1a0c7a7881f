"""Shape of a statement's domain: bounds on iterations and instances (None where parameters decide), gaps between its
points, and unit stride by its step."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from codegen.scop.memo import remember
from codegen.scop.model import Access, Statement

# Statement instances below which starting threads costs more than it saves. A fork-join on two cores takes
# about 5 us with libgomp, some 10,000 cycles; an instance of a simple statement takes one cycle or less.
PARALLEL_MIN = 20000
# Pieces of a domain from which on every pair of them is too much to look at: mask-pattern has 30.
MANY = 4


def extent(s: Statement, d: int, fixed: Iterable[int]) -> int | None:
    """The most values that iterator `d` takes while those in `fixed` stand still; None when parameters decide. Of a
    domain in many pieces it is the most for what encloses them all."""
    return _extent(s.domain, d, tuple(sorted(set(fixed) - {d})))


@remember(1024)
def _extent(domain: isl.Set, d: int, known: tuple[int, ...]) -> int | None:
    n = domain.dim(isl.dim_type.set)
    both = domain if domain.n_basic_set() <= MANY else isl.Set.from_basic_set(domain.simple_hull())
    for k in reversed(range(n)):
        if k != d and k not in known:
            both = both.project_out(isl.dim_type.set, k, 1)
    pairs = isl.Map.universe(both.get_space().map_from_set()).intersect_domain(both).intersect_range(both)
    at = sorted([*known, d])
    for k, which in enumerate(at):
        if which != d:
            pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    apart = pairs.deltas()
    if apart.is_empty():
        return 0
    local = isl.LocalSpace.from_space(apart.get_space())
    most = apart.max_val(isl.Aff.var_on_domain(local, isl.dim_type.set, at.index(d)))
    return int(most.to_str()) + 1 if most.is_int() else None


def leaves_out(s: Statement) -> bool:
    """Are there points between those at which a statement runs, as with every second or those of a remainder? Bounds
    such as n / 2 leave out none."""
    n = s.domain.dim(isl.dim_type.set)
    parts = (isl.Set.from_basic_set(b) for b in s.domain.get_basic_sets() if b.dim(isl.dim_type.div))
    return any(not part.get_stride(k).is_one() for part in parts for k in range(n))


def next_by_step(s: Statement, a: Access) -> bool:
    """Does the next point along the last iterator, as far away as the statement's steps are, use the next element?"""
    d = s.domain.dim(isl.dim_type.set) - 1
    pairs = isl.Map.lex_lt(s.domain.get_space()).intersect_domain(s.domain).intersect_range(s.domain)
    for k in range(d):
        pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    moves = pairs.lexmin().apply_domain(a.relation).apply_range(a.relation).deltas()
    n = moves.dim(isl.dim_type.set)
    one = isl.Set.universe(moves.get_space())
    for k in range(n):
        one = one.fix_val(isl.dim_type.set, k, isl.Val(int(k == n - 1)))
    return n > 0 and not moves.is_empty() and bool(moves.is_subset(one))


def most_instances(s: Statement, fixed: Iterable[int]) -> int | None:
    """A bound on the instances of a statement that agree in the iterators `fixed`; None when parameters decide."""
    total = 1
    done = set(fixed)
    for d in range(s.domain.dim(isl.dim_type.set)):
        if d in done:
            continue
        size = extent(s, d, done)
        if size is None:
            return None
        total *= size
    return total
