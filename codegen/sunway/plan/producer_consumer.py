"""Producer-consumer pairs of kernels: arrays whose elements both use in the same iteration of their parallel loops, and
so on the same core.

With tiles of one size, such an array belongs to the same core in both kernels (`resident.py` makes sure of it when the
kernels are there). Only tests on subscripts are asked here.
"""

from __future__ import annotations

import islpy as isl

from codegen.recognize.ownership.extract import affine, reference
from codegen.recognize.ownership.linear import linear
from codegen.recognize.ownership.model import ThreadAxis
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import Loop


@record
class SharedKernel:
    """A kernel: its statements, and the loops whose iterations go to the cores in tiles of these sizes."""

    names: tuple[str, ...]
    loops: tuple[Loop, ...]
    sizes: tuple[int, ...]


def handed_on(scop: Scop, a: SharedKernel, b: SharedKernel) -> frozenset[str]:
    """Arrays that both kernels use, one of them writes and nothing else touches; iterations share no element of it."""
    if not all(_values(scop, a, k).is_equal(_values(scop, b, k)) for k in range(len(a.loops))):
        return frozenset()
    axes = [_axis(scop, a, b, k) for k in range(len(a.loops))]
    return frozenset(n for n in _common(scop, a, b) if _owned(scop, n, axes))


def _common(scop: Scop, a: SharedKernel, b: SharedKernel) -> list[str]:
    out = []
    for name in sorted(n for n, x in scop.arrays.items() if x.rank and not x.inside):
        users = {s.name for s in scop.statements if any(x.array == name for x in s.accesses)}
        written = any(x.write and x.array == name for _, x in scop.accesses())
        if written and users & set(a.names) and users & set(b.names) and users <= {*a.names, *b.names}:
            out.append(name)
    return out


def _values(scop: Scop, k: SharedKernel, number: int) -> isl.Set:
    """The values that a loop takes."""
    total: isl.Set | None = None
    for n, e in sorted(k.loops[number].exprs.items()):
        one = isl.Map.from_pw_aff(e).intersect_domain(scop.statement(n).domain).range()
        total = one if total is None else total.union(one)
    assert total is not None
    return total.intersect_params(scop.context)


def _axis(scop: Scop, a: SharedKernel, b: SharedKernel, number: int) -> ThreadAxis:
    values = {**a.loops[number].exprs, **b.loops[number].exprs}
    return ThreadAxis(a.loops[number].name, 1, values, values, {n: affine(v, scop) for n, v in values.items()})


def _owned(scop: Scop, array: str, axes: list[ThreadAxis]) -> bool:
    refs = [reference(scop, s, k) for s in scop.statements for k, x in enumerate(s.accesses) if x.array == array]
    return all(linear(x, y, axes) for x in refs for y in refs)
