"""Exact linear algebra over the rationals: ranks, null spaces, solvability."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TypeVar

Row = tuple[Fraction, ...]
Matrix = tuple[Row, ...]
Number = TypeVar("Number", int, Fraction)


def matrix(rows: Sequence[Sequence[int | Fraction]]) -> Matrix:
    """Exact rows from plain numbers."""
    return tuple(tuple(Fraction(x) for x in row) for row in rows)


def reduced(rows: Sequence[Sequence[Fraction]]) -> tuple[list[list[Fraction]], list[int]]:
    """The reduced row echelon form without zero rows, and the column of each row's pivot."""
    work = [list(r) for r in rows]
    pivots: list[int] = []
    for col in range(len(work[0]) if work else 0):
        top = len(pivots)
        if not _pivot(work, top, col):
            continue
        lead = work[top][col]
        work[top] = [x / lead for x in work[top]]
        for k, row in enumerate(work):
            if k != top and row[col]:
                f = row[col]
                work[k] = [x - f * y for x, y in zip(row, work[top], strict=True)]
        pivots.append(col)
    return work[: len(pivots)], pivots


def _pivot(work: list[list[Number]], top: int, col: int) -> bool:
    """Bring a row with something in the column to the top of those from `top` on; False where there is none."""
    at = next((k for k in range(top, len(work)) if work[k][col]), None)
    if at is None:
        return False
    work[top], work[at] = work[at], work[top]
    return True


def rank(rows: Sequence[Sequence[Fraction]]) -> int:
    """The number of independent rows."""
    return len(_pivots(rows))


def _whole(row: Sequence[Fraction]) -> list[int]:
    """A multiple of the row without fractions."""
    below = [x.denominator for x in row]
    scale = lcm(*below)
    return [x.numerator * (scale // d) for x, d in zip(row, below, strict=True)]


def _pivots(rows: Sequence[Sequence[Fraction]]) -> list[int]:
    """The columns of the pivots alone, in integers: those take a tenth of the time that fractions take."""
    work = [_whole(r) for r in rows]
    pivots: list[int] = []
    for col in range(len(work[0]) if work else 0):
        top = len(pivots)
        if not _pivot(work, top, col):
            continue
        first, lead = work[top], work[top][col]
        for k in range(top + 1, len(work)):
            f = work[k][col]
            if f:
                work[k] = [lead * x - f * y for x, y in zip(work[k], first, strict=True)]
        pivots.append(col)
    return pivots


def null_space(rows: Sequence[Sequence[Fraction]], n: int) -> tuple[tuple[int, ...], ...]:
    """Integer vectors that span what `rows` (of length n) send to zero; each without a common factor."""
    work, pivots = reduced(rows)
    out = []
    for free in (c for c in range(n) if c not in pivots):
        v = [Fraction(0)] * n
        v[free] = Fraction(1)
        for row, col in zip(work, pivots, strict=True):
            v[col] = -row[free]
        scale = lcm(*(x.denominator for x in v))
        out.append(tuple(int(x * scale) for x in v))
    return tuple(out)


def solvable(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> bool:
    """Is there a rational x with rows * x = right?"""
    if not rows:
        return True
    width = len(rows[0])
    return width not in _pivots([[*r, b] for r, b in zip(rows, right, strict=True)])
