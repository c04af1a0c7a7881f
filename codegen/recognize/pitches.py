"""How far apart elements lie, where the declared sizes of an array are numbers."""

from __future__ import annotations

import islpy as isl

from codegen.recognize.strides import coefficients
from codegen.scop.model import Scop, Statement


def pitches(scop: Scop, s: Statement, number: int) -> tuple[int, ...] | None:
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
