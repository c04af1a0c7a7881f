"""Ownership tests on subscript matrices alone. Each says yes only when that is sure, for blocks and threads of any
size.

Notation: a reference touches F*J + f in iteration J; a thread axis has the value e*J + c.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from codegen.recognize.ownership.algebra import null_space, rank, solvable
from codegen.recognize.ownership.model import Form, Reference, ThreadAxis


def ranks(ref: Reference, threads: Sequence[ThreadAxis]) -> tuple[int, int] | None:
    """rank F, and rank of F with the thread rows below it."""
    rows = _thread_rows(ref, threads)
    if ref.form is None or rows is None:
        return None
    both = [*ref.form.matrix, *(r.matrix[0] for r in rows)]
    return rank(ref.form.matrix), rank(both)


def theorem1(ref: Reference, threads: Sequence[ThreadAxis]) -> bool:
    """Through this reference, one thread uses every element: no direction that keeps the element moves a thread."""
    known = ref.form is not None and all(x.forms[ref.stmt] is not None for x in threads)
    return known and crossing(ref, threads) is None


def crossing(ref: Reference, threads: Sequence[ThreadAxis]) -> tuple[int, ...] | None:
    """A step between iterations that touches the same element again from another thread; None if there is none, or if
    subscripts or thread coordinates are no plain formulas."""
    rows = _thread_rows(ref, threads)
    if ref.form is None or rows is None:
        return None
    for u in null_space(ref.form.matrix, ref.depth):
        if any(sum(a * x for a, x in zip(r.matrix[0], u, strict=True)) for r in rows):
            return u
    return None


def equal_subscripts(a: Reference, b: Reference, threads: Sequence[ThreadAxis]) -> bool:
    """Theorem 2 (ii): the same subscripts under the same thread axes, and each reference alone keeps to its thread."""
    if a.form is None or a.form != b.form or not theorem1(a, threads):
        return False
    return all(_same_axis(x, a, b) for x in threads)


def remark2(a: Reference, b: Reference, threads: Sequence[ThreadAxis]) -> bool:
    """Equal matrices that contain every thread row itself, in a row where the offsets agree as well."""
    if a.form is None or b.form is None or a.form.matrix != b.form.matrix or not theorem1(a, threads):
        return False
    return all(_same_axis(x, a, b) and _has_row(x, a.form, b.form, a.stmt) for x in threads)


def linear(a: Reference, b: Reference, threads: Sequence[ThreadAxis]) -> bool:
    """The general linear test: for every thread axis there is a combination l of subscripts with l*F_a = e_a,
    l*F_b = e_b and l*(f_a - f_b) = c_a - c_b. Equal elements then mean equal thread values. Covers all tests above."""
    return all(_combined(a.form, b.form, x.forms[a.stmt], x.forms[b.stmt]) for x in threads)


@lru_cache(maxsize=1024)
def _combined(a: Form | None, b: Form | None, ea: Form | None, eb: Form | None) -> bool:
    """For one axis. Regions have few different subscripts, however many references there are."""
    if a is None or b is None or ea is None or eb is None:
        return False
    columns = [[*a.matrix[d], *b.matrix[d], *_minus(a, b, d)] for d in range(len(a.matrix))]
    right = [*ea.matrix[0], *eb.matrix[0], *_minus(ea, eb, 0)]
    return solvable([[c[k] for c in columns] for k in range(len(right))], right)


def _thread_rows(ref: Reference, threads: Sequence[ThreadAxis]) -> list[Form] | None:
    rows = [x.forms[ref.stmt] for x in threads]
    return None if any(r is None for r in rows) else [r for r in rows if r is not None]


def _minus(a: Form, b: Form, k: int) -> list[Fraction]:
    return [x - y for x, y in zip(a.offset[k], b.offset[k], strict=True)]


def _same_axis(x: ThreadAxis, a: Reference, b: Reference) -> bool:
    return x.forms[a.stmt] is not None and x.forms[a.stmt] == x.forms[b.stmt]


def _has_row(x: ThreadAxis, a: Form, b: Form, stmt: str) -> bool:
    own = x.forms[stmt]
    assert own is not None
    same = [d for d, row in enumerate(a.matrix) if row == own.matrix[0]]
    return any(a.offset[d] == b.offset[d] for d in same)
