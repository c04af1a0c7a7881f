"""How often loops run when all parameters are known: mean lengths, whose product is the number of iterations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

import islpy as isl

from codegen.scop.model import Statement
from codegen.scop.tree import Loop

SIZE = 1000  # values of a parameter, when nothing is known about it
# What parameters are: their names and values.
Sizes = tuple[tuple[str, int], ...]
# Where to look at a loop to know the mean of what is inside it, as parts of its length: exact for lengths that are
# polynomials of third degree, as in loops over triangles and what is cut from them.
_AT = (0.5 - sqrt(3) / 6, 0.5 + sqrt(3) / 6)


def mean_lengths(s: Statement, around: Sequence[Loop], sizes: Sizes) -> tuple[float, ...]:
    """For each loop around a statement how often it runs, on the average over what runs around it. Parameters that
    `sizes` does not have count as SIZE."""
    counts = _counts(_values(s, around, dict(sizes)), 0)
    out, before = [], 1.0
    for n in counts:
        out.append(n / before if before else 0.0)
        before = n
    return tuple(out)


def _values(s: Statement, around: Sequence[Loop], sizes: dict[str, int]) -> isl.Set:
    """The values of the loops' variables, with numbers for the parameters."""
    if not around:
        return s.domain
    first, *others = (isl.Map.from_pw_aff(lp.exprs[s.name]) for lp in around)
    for m in others:
        first = first.flat_range_product(m)
    out = s.domain.apply(first)
    for k in range(out.dim(isl.dim_type.param)):
        value = sizes.get(out.get_dim_name(isl.dim_type.param, k) or "", SIZE)
        out = out.fix_val(isl.dim_type.param, k, isl.Val(value))
    return out


def _counts(values: isl.Set, k: int) -> list[float]:
    """How many iterations of loop `k`, and of each inside it, run altogether while those outside it stand still."""
    depth = values.dim(isl.dim_type.set)
    if k == depth:
        return []
    low, high = values.dim_min_val(k), values.dim_max_val(k)
    if low.is_nan() or high.is_nan():  # nothing runs
        return [0.0] * (depth - k)
    if not (low.is_int() and high.is_int()):
        return [float(SIZE)] * (depth - k)
    step = values.project_out(isl.dim_type.set, k + 1, depth - k - 1).get_stride(k).to_python()
    first, turns = low.to_python(), (high.to_python() - low.to_python()) // step + 1
    inside = [_counts(values.fix_val(isl.dim_type.set, k, isl.Val(first + step * t)), k + 1) for t in _looked_at(turns)]
    return [float(turns), *(turns * sum(column) / len(inside) for column in zip(*inside, strict=True))]


def _looked_at(turns: int) -> Iterator[int]:
    """Some turns of a loop that runs so often."""
    if turns <= len(_AT):
        yield from range(turns)
    else:
        yield from (min(turns - 1, int(turns * x)) for x in _AT)
