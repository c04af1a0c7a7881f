"""Legality of products against their plain nests: `unsafe_product` returns why a product must not be packed, or the
empty string; `unsafe_matvec` why a matrix-vector product must not keep its sums in registers.

A packed product goes through the depth in blocks. At the start of each block it copies that part of its right operand,
and of its left one before each block of rows; then it updates its target, rows and columns in any order, the steps of
each element in theirs. So every element of the target must belong to one row and column; no step may write what the
left operand or a constant reads; and what the right operand reads may be written by steps of the same column only, and
only by later ones that come no earlier in the depth: the copy is then older than the write, as it has to be.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.scop.expr import Ref, walk
from codegen.scop.model import Statement
from codegen.scop.product import Contraction
from codegen.scop.tree import Loop


def unsafe_matvec(s: Statement, together: isl.Map) -> str:
    """Why a matrix-vector product must not keep its sums in registers; empty when it may.

    The vector may be copied before the first step, and sums are stored after the last one: nothing but an element's own
    sum may be read from what is written. `together` relates instances that belong to one execution of the product.
    """
    target = s.accesses[s.target]
    for a in s.accesses:
        if a.write or a.array != target.array or a.relation.is_equal(target.relation):
            continue
        if not target.relation.apply_range(a.relation.reverse()).intersect(together).is_empty():
            return f"the product {s.name} (`{s.source}`) would read `{a.array}` before it has written it"
    return ""


def unsafe_product(s: Statement, what: Contraction, loops: Sequence[Loop], together: isl.Map) -> str:
    """Why a product must not be packed; empty when it may. `loops` are those of its plain nest, outermost first;
    `together` relates instances that belong to one execution of it."""
    target = s.accesses[s.target].relation
    clash = target.apply_range(target.reverse()).intersect(together)
    if not clash.is_subset(_same(s, (*what.rows, *what.columns))):
        return f"several rows or columns of {s.name} (`{s.source}`) write the same element"
    depth = [lp for d, lp in zip(what.inner, loops, strict=True) if d in what.depth]
    late = _ordered(s, loops).intersect(_ordered(s, depth)).intersect(_same(s, what.columns))
    right = {x.access for e in what.step.right for x in walk(e) if isinstance(x, Ref)}
    for k, a in enumerate(s.accesses):
        if a.write or a.array != s.accesses[s.target].array or a.relation.is_equal(target):
            continue
        reads = a.relation.apply_range(target.reverse()).intersect(together)  # reading step, writing step
        if not reads.is_empty() and not (k in right and reads.is_subset(late)):
            return f"the product {s.name} (`{s.source}`) would read `{a.array}` before it has written it"
    return ""


def _same(s: Statement, dims: Sequence[int]) -> isl.Map:
    """Pairs of instances that agree in some iterators."""
    pairs = isl.Map.universe(s.domain.get_space().map_from_set())
    for d in dims:
        pairs = pairs.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
    return pairs


def _ordered(s: Statement, loops: Sequence[Loop]) -> isl.Map:
    """Pairs of instances of which the second comes no earlier in the order of these loops."""
    space = s.domain.get_space()
    target = space.params().set_from_params().add_dims(isl.dim_type.set, len(loops))
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target))
    for k, lp in enumerate(loops):
        multi = multi.set_pw_aff(k, lp.exprs[s.name])
    time = isl.Map.from_multi_pw_aff(multi)
    return time.apply_range(isl.Map.lex_le(target)).apply_range(time.reverse())
