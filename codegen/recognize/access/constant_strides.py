"""Strides of an access in elements along each iterator, and trip counts of a statement's inner loops, where all of them
are constants; None otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.recognize.access.strides import coefficients
from codegen.scop.model import Scop, Statement


def constant_strides(scop: Scop, s: Statement, number: int) -> tuple[int, ...] | None:
    """Elements from one to the next when each of the statement's iterators grows by one; None where nobody can tell."""
    access = s.accesses[number]
    array = scop.arrays[access.array]
    sizes = array.extents[1:]
    if array.scope or array.depth > 1 or any(x.kind != "sub" for x in access.path):
        return None
    if len(array.extents) != array.rank or not all(x.isdigit() for x in sizes):
        return None
    total, step = [0] * len(s.iterators), 1
    for k in reversed(range(access.index.dim(isl.dim_type.out))):
        found = coefficients(access.index.get_pw_aff(k), len(s.iterators))
        if found is None or any(x.denominator != 1 for x in found):
            return None
        total = [t + int(x) * step for t, x in zip(total, found, strict=True)]
        step *= int(sizes[k - 1]) if k else 1
    return tuple(total)


def box(domain: isl.Set, outer: Sequence[int], inner: Sequence[int]) -> tuple[int, ...] | None:
    """How many values each inner iterator has, if these are the same numbers everywhere."""
    ends = []
    around = domain
    for k in inner:
        low, high = domain.dim_min_val(k), domain.dim_max_val(k)
        if not (low.is_int() and high.is_int()):
            return None
        ends.append((low, high))
        around = around.drop_constraints_involving_dims(isl.dim_type.set, k, 1)
    whole = around
    for k, (low, high) in zip(inner, ends, strict=True):
        whole = whole.lower_bound_val(isl.dim_type.set, k, low).upper_bound_val(isl.dim_type.set, k, high)
    if not whole.is_equal(domain):
        return None
    return tuple(int(high.sub(low).to_python()) + 1 for low, high in ends)
