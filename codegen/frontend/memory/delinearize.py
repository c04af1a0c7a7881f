"""Delinearization: finds strides for flat subscripts `A[i*n + j]` and splits each subscript into several indices, where
every inner index stays in its row.

What loop variables are multiplied by gives the strides, polynomials in the parameters: `x_max + 5` is one as well as
`n * m`. A subscript is then divided by them, the outermost first. What is divided has no unique quotient:
`(i + 1)*m - 1 - j` is row i + 1 and column -1 - j, or row i and column m - 1 - j. So rows are carried from one
dimension to the next until the inner index is in its row, as far as isl can tell; what it cannot prove is tested at run
time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise, permutations, product
from math import gcd

import islpy as isl

from codegen.frontend.context.frame import Frame
from codegen.frontend.expressions.affine import Affiner, MissingParameter
from codegen.frontend.expressions.polynomials import (
    CONSTANT,
    ONE,
    Atom,
    Params,
    Poly,
    Variable,
    content,
    degree,
    divide,
    factors,
    is_affine,
    params,
    plus,
    text,
    times,
)
from codegen.frontend.memory.computed_parameters import ComputedCandidate
from codegen.record import record
from codegen.scop.types import INT, LONG

MOST_LAYOUTS = 12  # that are tried for one array
CARRIES = (0, -1, 1, -2, 2)  # rows that are taken from an index, likely ones first
MOST_DOUBTS = 1000  # an index that never is in its row counts as so many that may not be
RARE = 100  # and one that is so for single sizes alone (`C == 0`), a sign of the wrong strides, as so many
MOST_32 = (1 << 31) - 1  # what any type of 32 bits holds
MOST_FACTOR = 4  # times a parameter of at most 2^60 is no overflow


@record
class Flat:
    """The dimensions given to a flat array, the outermost first: their strides, of which the last is 1.

    `extents` says how often each stride fits into the one before it; the first has none. Where that is not affine in
    the parameters it is None, until a parameter of the region's own stands for it.
    """

    strides: tuple[Params, ...]
    extents: tuple[Params | None, ...]

    def stride_texts(self) -> tuple[str, ...]:
        """As C; a stride that is a product of sums is printed as one."""
        return tuple(self._text(d) for d in range(len(self.strides)))

    def _text(self, d: int) -> str:
        inner = self.extents[d + 1] if d + 1 < len(self.strides) else None
        if len(self.strides[d]) == 1 or inner is None or self.strides[d + 1] == ONE:
            return text(self.strides[d])
        return f"{text(inner)} * {self._text(d + 1)}"


@record
class Index:
    """One index: numbers of loop variables and atoms, and an offset."""

    counts: Mapping[Variable, int]
    offset: Params


@record
class SubscriptUse:
    """A subscript and where it is evaluated."""

    poly: Poly
    frame: Frame


@record
class RowIndex:
    """An index that `rows` were taken from, its extent where that is known, and whether it may be too low or too high.

    `never`: there is no size for which it is in its row; `rarely`: an equation of sizes has to hold for that.
    """

    value: isl.PwAff
    room: isl.PwAff | None = None
    rows: int = 0
    low: bool = False
    high: bool = False
    never: bool = False
    rarely: bool = False

    @property
    def doubts(self) -> int:
        return self.low + self.high + MOST_DOUBTS * self.never + RARE * self.rarely


def find_flat(uses: Sequence[SubscriptUse], affiner: Affiner) -> Flat | None:
    """The layout that leaves the fewest row conditions to the run; None where subscripts need none or have none. Where
    these would hardly ever be fulfilled, offsets are taken for strides as well."""
    if all(is_affine(u.poly) for u in uses):
        return None
    polys = [u.poly for u in uses]
    best = _fewest_doubts(_layouts(polys), uses, affiner)
    if best is not None and best[0] >= RARE:
        other = _fewest_doubts(_layouts(polys, True), uses, affiner)
        best = other if other is not None and other[0] < best[0] else best
    return None if best is None else _measured(best[1], uses, affiner)


def _fewest_doubts(
    layouts: Iterator[Flat], uses: Sequence[SubscriptUse], affiner: Affiner
) -> tuple[int, Flat] | None:
    best: tuple[int, Flat] | None = None
    for flat in islice(layouts, MOST_LAYOUTS):
        doubts = sum(row.doubts for u in uses for row in place(u, flat, affiner))
        if best is None or doubts < best[0]:
            best = doubts, flat
        if not doubts:
            break
    return best


# -- layouts -------------------------------------------------------------------------------------------


def _layouts(polys: Sequence[Poly], offsets: bool = False) -> Iterator[Flat]:
    """Layouts in which all subscripts have indices, likely ones first.

    Of the strides of one degree one is enough where the others are it and something of lower degree (n + 1 beside n);
    else all are taken, one within the other, those of outer loops outside. With `offsets`, parameters that are added
    are strides, too: in `t*C3 + h*hs + i + C` parts of C elements lie beside each other in a row.
    """
    by_degree: dict[int, list[Params]] = {}
    for poly in polys:
        for d, p in factors(poly).items():
            parts = [p] if d != CONSTANT else [params([term]) for term in p] if offsets else []
            for base in (_primitive(part) for part in parts if degree(part)):
                mine = by_degree.setdefault(degree(base), [])
                if base not in mine:
                    mine.append(base)
    levels = [by_degree[k] for k in sorted(by_degree, reverse=True)]
    simple = [sorted(level, key=lambda p: (len(p), text(p))) for level in levels]
    chains = [*product(*simple)]
    if any(len(level) > 1 for level in levels):
        orders = product(*(permutations(level) for level in levels))
        chains += [tuple(p for level in order for p in level) for order in islice(orders, MOST_LAYOUTS)]
    for chain in chains:
        flat = _layout((*chain, ONE), polys)
        if flat is not None:
            yield flat


def _primitive(p: Params) -> Params:
    """Without the number that divides it; the first term is positive."""
    sign = -1 if p[0][1] < 0 else 1
    return params((m, k // (sign * content(p))) for m, k in p)


def _layout(chain: tuple[Params, ...], polys: Sequence[Poly]) -> Flat | None:
    """These strides, times the numbers that all indices share."""
    split = [x for x in (_split(poly, chain) for poly in polys) if x is not None]
    if len(split) < len(polys):
        return None
    strides: list[Params] = []
    common = 0
    for d, p in enumerate(chain):
        numbers = (k for x in split for k in (*x[d].counts.values(), *(v for _, v in x[d].offset)))
        common = gcd(common, *numbers) if p != ONE else 1
        strides.append(times(p, common or 1))
    extents: list[Params | None] = [None]
    for outer, inner in pairwise(strides):
        if not _formula(outer, inner):
            return None
        quotient, rest = divide(outer, inner)
        extents.append(None if rest or degree(quotient) > 1 else quotient)
    return Flat(tuple(strides), tuple(extents))


def _split(poly: Poly, strides: Sequence[Params]) -> tuple[Index, ...] | None:
    """The indices of a subscript, with nothing carried; None where they are not affine."""
    counts: list[dict[Variable, int]] = [{} for _ in strides]
    offsets = [params(()) for _ in strides]
    for variable, rest in factors(poly).items():
        for d, stride in enumerate(strides):
            quotient, rest = divide(rest, stride)
            if degree(quotient) > (variable == CONSTANT):
                return None
            if variable == CONSTANT:
                offsets[d] = quotient
            elif quotient:
                counts[d][variable] = quotient[0][1]
    return tuple(Index(c, o) for c, o in zip(counts, offsets, strict=True))


# -- extents that are not affine ------------------------------------------------------------------------


def _formula(outer: Params, inner: Params) -> str:
    """How often a stride fits into the one around it, as C that overflows nowhere; empty where there is none."""
    quotient, rest = divide(outer, inner)
    if not rest and len(quotient) == 1:
        (names, k), = quotient
        words = [f"(unsigned long long){x}" for x in ([str(k)] if k != 1 or not names else []) + list(names)]
        return f"(long)({' * '.join(words)})" if len(words) > 1 else f"(long){[str(k), *names][-1]}"
    if not rest and degree(quotient) == 1:
        return text(quotient)
    if len(outer) == len(inner) == 1 and degree(outer) == degree(inner) == 1 and outer[0][1] <= MOST_FACTOR:
        (names, k), = outer
        return f"{f'{k} * (long)' if k > 1 else ''}{names[0]} / {text(inner)}"
    return ""


def _measured(flat: Flat, uses: Sequence[SubscriptUse], affiner: Affiner) -> Flat:
    """The layout with a parameter for each extent that is not affine. It is evaluated where the rows inside are."""
    extents = list(flat.extents)
    for d in range(1, len(extents)):
        if extents[d] is not None:
            continue
        outer, inner = flat.strides[d - 1], flat.strides[d]
        name = _evaluated(outer, inner, uses, affiner)
        if name:
            extents[d] = params([((name,), 1)])
            continue
        formula = _formula(outer, inner)
        if formula not in affiner.computed:
            divisors = (text(inner),) if " / " in formula else ()
            raise MissingParameter(ComputedCandidate(formula, formula, divisors, (), LONG))
        name, _ = affiner.computed[formula]
        for use in uses:
            where = use.frame.domain
            if " / " in formula:
                where = where.intersect(_value(Index({}, inner), use.frame, affiner).gt_set(use.frame.zero()))
            here = where.params()
            affiner.evaluated[name] = affiner.evaluated.get(name, here).union(here).coalesce()
        extents[d] = params([((name,), 1)])
    return Flat(flat.strides, tuple(extents))


def _evaluated(outer: Params, inner: Params, uses: Sequence[SubscriptUse], affiner: Affiner) -> str:
    """The parameter for a product that the source itself evaluates wherever the array is used; empty if there is none.
    Unsigned ones may have wrapped around."""
    quotient, rest = divide(outer, inner)
    if rest or len(quotient) != 1 or quotient[0][1] != 1:
        return ""
    for source, (name, ctype) in sorted(affiner.computed.items()):
        factors = tuple(sorted(re.split(r"[ ()]*\*[ ()]*", source.strip("()"))))
        same = factors == quotient[0][0] and ctype.signed and name in affiner.evaluated
        if same and all(u.frame.domain.params().is_subset(affiner.evaluated[name]) for u in uses):
            return name
    return ""


# -- subscripts of 32 bits ------------------------------------------------------------------------------


def fitting_rows(use: SubscriptUse, flat: Flat, affiner: Affiner) -> isl.PwAff | None:
    """How many rows have subscripts below 2^31, as a parameter that is evaluated where the stride is positive; None
    where no formula has the stride as a divisor."""
    stride = flat.strides[0]
    if len(stride) > 1 and degree(stride) > 1:
        return None
    names = [((name,), 1) for name in stride[0][0]] if len(stride) == 1 else []
    divisors = [params([f]) for f in names] if len(stride) == 1 else [stride]
    number = [str(stride[0][1])] if len(stride) == 1 and stride[0][1] != 1 else []
    formula = " / ".join([f"{MOST_32}l", *number, *(text(d) for d in divisors)])
    if formula not in affiner.computed:
        found = ComputedCandidate(formula, formula, tuple(text(d) for d in divisors), (), INT, stem="rows")
        raise MissingParameter(found)
    name, _ = affiner.computed[formula]
    where = use.frame.domain
    for d in divisors:
        where = where.intersect(_value(Index({}, d), use.frame, affiner).gt_set(use.frame.zero()))
    here = where.params()
    affiner.evaluated[name] = affiner.evaluated.get(name, here).union(here).coalesce()
    return use.frame.param(name)


# -- rows ----------------------------------------------------------------------------------------------


def place(use: SubscriptUse, flat: Flat, affiner: Affiner) -> tuple[RowIndex, ...]:
    """The indices of one access: rows are carried from the innermost dimension outwards, so that each index is in its
    row if that can be."""
    index = _split(use.poly, flat.strides)
    assert index is not None
    domain = use.frame.domain.intersect_params(affiner.ranges)
    found: list[RowIndex] = []
    for d in reversed(range(len(index))):
        rows = found[-1].rows if found else 0
        mine, extent = Index(index[d].counts, plus(index[d].offset, times(ONE, rows))), flat.extents[d]
        if d and extent is not None:
            outer = next((k for m, k in index[d - 1].offset if not m), 0)
            found.append(_in_row(mine, extent, outer, domain, use.frame, affiner))
        else:
            value = _value(mine, use.frame, affiner)
            low = d > 0 and not domain.intersect(value.lt_set(use.frame.zero())).is_empty()
            found.append(RowIndex(value, low=low, high=d > 0))
    return tuple(reversed(found))


def _in_row(index: Index, extent: Params, outer: int, domain: isl.Set, frame: Frame, affiner: Affiner) -> RowIndex:
    """An index with the rows taken from it that leave the fewest doubts; `outer` is how many there are by now."""
    zero, room = frame.zero(), _value(Index({}, extent), frame, affiner)
    doubtful: list[tuple[RowIndex, isl.Set]] = []
    for rows in dict.fromkeys((*CARRIES, -outer)):
        value = _value(Index(index.counts, plus(index.offset, times(extent, -rows))), frame, affiner)
        low, high = domain.intersect(value.lt_set(zero)), domain.intersect(value.ge_set(room))
        row = RowIndex(value, room, rows, not low.is_empty(), not high.is_empty())
        if not row.doubts:
            return row
        doubtful.append((row, low.union(high)))
    sizes = domain.params()
    return min((_for_sizes(row, sizes, outside) for row, outside in doubtful), key=lambda row: row.doubts)


def _for_sizes(row: RowIndex, sizes: isl.Set, outside: isl.Set) -> RowIndex:
    """With what is to be said of the sizes for which nothing is outside."""
    fitting = sizes.subtract(outside.params())
    never = bool(fitting.is_empty())
    return replace(row, never=never, rarely=not never and _equations(fitting) > _equations(sizes))


def _equations(sizes: isl.Set) -> int:
    """That hold for all of them."""
    return sum(c.is_equality() for c in sizes.affine_hull().get_constraints())


def _value(index: Index, frame: Frame, affiner: Affiner) -> isl.PwAff:
    value = frame.zero()
    for variable, k in index.counts.items():
        one = frame.lift(variable.value) if isinstance(variable, Atom) else frame.dim(variable)
        value = value.add(_times(one, k))
    for names, k in index.offset:
        one = frame.param(affiner.params[names[0]][0]) if names else frame.constant(1)
        value = value.add(_times(one, k))
    return value


def _times(value: isl.PwAff, k: int) -> isl.PwAff:
    return value.scale_val(isl.Val.read_from_str(value.get_ctx(), str(k)))
