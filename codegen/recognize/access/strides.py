"""Strides of accesses: how far an access moves along each dimension of its array when a loop advances by one (`move`),
None where that is no fixed step. The basis for choosing innermost loops and tiles."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import islpy as isl

from codegen.record import record
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.tree import Loop


def coefficients(value: isl.PwAff, n: int) -> list[Fraction] | None:
    """Coefficients of the n set dimensions of a single affine piece; None if it is not that simple."""
    if value.n_piece() != 1:
        return None
    aff = value.get_pieces()[0][1]
    if aff.dim(isl.dim_type.div):
        return None
    out = []
    for k in range(n):
        v = aff.get_coefficient_val(isl.dim_type.in_, k)
        out.append(Fraction(v.get_num_si(), 1 if v.is_int() else v.get_den_val().get_num_si()))
    return out


def step_of(s: Statement, loops: Sequence[Loop], which: int) -> list[Fraction] | None:
    """How the statement's iterators change when loop `which` advances by one and the others stand still."""
    # Asked for every access of the statement, and again for every order that is tried.
    exprs = [(k, lp.exprs[s.name]) for k, lp in enumerate(loops) if not lp.tile]
    known: dict[tuple[int, ...], tuple[object, list[Fraction] | None]] = s.__dict__.setdefault("_steps", {})
    key = (which, *(x for k, e in exprs for x in (k, id(e))))
    if key not in known:
        known[key] = exprs, _step(s, exprs, which)
    return known[key][1]


def _step(s: Statement, exprs: Sequence[tuple[int, isl.PwAff]], which: int) -> list[Fraction] | None:
    n = len(s.iterators)
    rows: list[list[Fraction]] = []
    for k, e in exprs:
        c = coefficients(e, n)
        if c is None:
            return None
        rows.append([*c, Fraction(int(k == which))])
    return _solve(rows, n)


def _solve(rows: list[list[Fraction]], n: int) -> list[Fraction] | None:
    """A solution of the linear system `rows` (coefficients, right-hand side), free variables zero."""
    rows = [r[:] for r in rows]
    pivots: list[tuple[int, int]] = []
    used = 0
    for col in range(n):
        pivot = next((k for k in range(used, len(rows)) if rows[k][col]), None)
        if pivot is None:
            continue
        rows[used], rows[pivot] = rows[pivot], rows[used]
        rows[used] = [x / rows[used][col] for x in rows[used]]
        for k in range(len(rows)):
            if k != used and rows[k][col]:
                f = rows[k][col]
                rows[k] = [x - f * y for x, y in zip(rows[k], rows[used], strict=True)]
        pivots.append((used, col))
        used += 1
    if any(not any(r[:n]) and r[n] for r in rows):
        return None
    out = [Fraction(0)] * n
    for row, col in pivots:
        out[col] = rows[row][n]
    return out


@record
class AccessStride:
    """How an access moves: per array dimension, in elements. None when it is not a fixed step."""

    steps: tuple[Fraction, ...] | None

    @property
    def still(self) -> bool:
        return self.steps is not None and not any(self.steps)

    @property
    def unit(self) -> bool:
        """The last dimension moves by one element and no other moves."""
        return self.steps is not None and bool(self.steps) and abs(self.steps[-1]) == 1 and not any(self.steps[:-1])


def subscripts(access: Access, n: int) -> list[tuple[isl.PwAff, list[Fraction] | None]]:
    """The subscripts of an access with their coefficients."""
    known: list[tuple[isl.PwAff, list[Fraction] | None]] | None = access.__dict__.get("_subscripts")
    if known is None:
        values = [access.index.get_pw_aff(k) for k in range(access.index.dim(isl.dim_type.out))]
        known = access.__dict__["_subscripts"] = [(v, coefficients(v, n)) for v in values]
    return known


def move(scop: Scop, s: Statement, access: Access, loops: Sequence[Loop], which: int) -> AccessStride:
    """How `access` moves when the loop advances."""
    change = step_of(s, loops, which)
    if change is None:
        return AccessStride(None)
    steps = []
    skip = scop.arrays[access.array].scope
    for value, c in subscripts(access, len(s.iterators))[skip:]:
        if c is None:
            if any(x and value.involves_dims(isl.dim_type.in_, d, 1) for d, x in enumerate(change)):
                return AccessStride(None)
            c = [Fraction(0)] * len(s.iterators)
        steps.append(sum((a * b for a, b in zip(c, change, strict=True) if a and b), Fraction(0)))
    return AccessStride(tuple(steps))


def has_quotients(access: Access) -> bool:
    """Does a subscript round, as in a[i / 2] or a[i % n]?"""
    values = (access.index.get_pw_aff(k) for k in range(access.index.dim(isl.dim_type.out)))
    return any(aff.dim(isl.dim_type.div) for value in values for _, aff in value.get_pieces())
