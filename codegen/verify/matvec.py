"""Legality of vectorized matrix-vector products against their plain nest: sums may stay in registers where nothing but
an element's own sum is read from what the product writes. `unsafe_matvec` returns why not, or the empty string."""

from __future__ import annotations

import islpy as isl

from codegen.scop.model import Statement


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
