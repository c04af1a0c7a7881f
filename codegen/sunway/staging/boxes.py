"""Boxes around the elements that a part of the C tree touches: first coordinates and lengths, as expressions of the
loops around it, which count as parameters of the sets here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import islpy as isl

from codegen.ast.ctree import Bin, CExpr, Fun, Int
from codegen.ast.isl_expressions import value_expr
from codegen.record import record

# Sides of boxes that fall into more cases are taken from the hull.
CASES = 8
_PARAM, _SET, _IN, _OUT = isl.dim_type.param, isl.dim_type.set, isl.dim_type.in_, isl.dim_type.out


@record
class BoxSide:
    """A side of a box by the constraints of its hull: the greatest of some values, and the least of others."""

    lows: tuple[isl.PwAff, ...]
    highs: tuple[isl.PwAff, ...]


@record
class Box:
    """The smallest box around some elements. `lens` are numbers of elements, `most` upper bounds of them.

    Where least and greatest coordinates fall into many cases, `limits` has their hull's instead."""

    lows: tuple[isl.PwAff, ...]
    lens: tuple[isl.PwAff, ...]
    most: tuple[int, ...]
    elements: isl.Set
    limits: tuple[BoxSide, ...] = ()

    def texts(self, context: isl.Set) -> tuple[tuple[CExpr, ...], tuple[CExpr, ...]]:
        """First coordinates and lengths as C expressions, where `context` holds."""
        if not self.limits:
            return tuple(value_expr(v, context) for v in self.lows), tuple(value_expr(v, context) for v in self.lens)
        lows = tuple(_extreme("max", x.lows, context) for x in self.limits)
        highs = tuple(_extreme("min", x.highs, context) for x in self.limits)
        return lows, tuple(Bin("+", Bin("-", b, a), Int(1)) for a, b in zip(lows, highs, strict=True))


def _extreme(name: str, values: Sequence[isl.PwAff], context: isl.Set) -> CExpr:
    texts = [value_expr(v, context) for v in values]
    return texts[0] if len(texts) == 1 else Fun(name, tuple(texts))


def box_of(touched: isl.Set, context: isl.Set, region: Callable[[], isl.Set]) -> Box | None:
    """None when a side has no constant bound. `region` gives all elements that the region touches."""
    lows, lens, most = [], [], []
    touched = touched.intersect_params(context)
    touched = touched.remove_divs() if _in_colours(touched) else touched
    whole = isl.Set.universe(touched.get_space())
    for k in range(touched.dim(_SET)):
        if not (touched.dim_has_any_lower_bound(_SET, k) and touched.dim_has_any_upper_bound(_SET, k)):
            return None
        low, high = touched.dim_min(k), touched.dim_max(k)
        few = low.n_piece() <= CASES and high.n_piece() <= CASES  # else the difference takes minutes
        size = high.sub(low).add_constant_val(isl.Val(1)).coalesce() if few else low
        if not few or size.n_piece() > CASES:
            return _hull_box(touched, context, region)
        top = _greatest(size)
        if top is None:
            return None
        whole = whole.intersect(_side(_between(low, high), k, touched))
        lows.append(low.gist(context).coalesce())
        lens.append(size.gist(context).coalesce())
        most.append(top)
    return Box(tuple(lows), tuple(lens), tuple(most), whole.coalesce())


def _between(low: isl.PwAff, high: isl.PwAff) -> isl.Set:
    """The points of a line from the one value to the other."""
    first, last = isl.Set.from_pw_aff(low), isl.Set.from_pw_aff(high)
    pairs = isl.Map.universe(first.get_space().map_from_set())
    return first.apply(pairs.order_le(_IN, 0, _OUT, 0)).intersect(last.apply(pairs.order_ge(_IN, 0, _OUT, 0)))


def _side(line: isl.Set, k: int, like: isl.Set) -> isl.Set:
    """All elements of an array whose subscript `k` is on the line."""
    wide = line.insert_dims(_SET, 1, like.dim(_SET) - k - 1).insert_dims(_SET, 0, k)
    return wide.set_tuple_name(like.get_tuple_name())


def _in_colours(touched: isl.Set) -> bool:
    """Does a remainder of several subscripts together tell which elements are touched, as of points in two colours?
    The box around them is that around all of them, but for the smallest; isl takes minutes for its exact sides."""
    n = touched.dim(_SET)
    for part in touched.compute_divs().get_basic_sets():
        for k in range(part.dim(isl.dim_type.div)):
            aff = part.get_div(k)
            if sum(not aff.get_coefficient_val(isl.dim_type.in_, d).is_zero() for d in range(n)) > 1:
                return True
    return False


@record
class Line:
    """The values that a subscript takes."""

    values: isl.Set

    @cached_property
    def width(self) -> int | None:
        """The greatest number of elements from one value to another, with both ends. None when there is none."""
        pairs = isl.Map.from_domain_and_range(self.values, self.values).deltas()
        pairs = pairs.project_out(_PARAM, 0, pairs.dim(_PARAM))
        most = pairs.dim_max_val(0)
        return None if pairs.is_empty() or not most.is_int() else int(most.to_str()) + 1


Lines = tuple[Line, ...]  # one for each subscript


def lines(touched: isl.Set, context: isl.Set) -> Lines:
    """The values of each subscript by itself, which is all that the sides of a box are made of."""
    touched = touched.intersect_params(context)
    touched = touched.remove_divs() if _in_colours(touched) else touched
    return tuple(Line(_line(touched, k)) for k in range(touched.dim(_SET)))


def _line(touched: isl.Set, k: int) -> isl.Set:
    line = touched.project_out(_SET, k + 1, touched.dim(_SET) - k - 1).project_out(_SET, 0, k)
    return line.reset_tuple_id() if line.has_tuple_id() else line


def joined(one: Lines, other: Lines) -> Lines:
    """Those of both. Of the points of a stencil, which are many, few differ in one subscript."""
    return tuple(_both(a, b) for a, b in zip(one, other, strict=True))


def _both(a: Line, b: Line) -> Line:
    if b.values.is_subset(a.values):
        return a
    return b if a.values.is_subset(b.values) else Line(a.values.union(b.values).coalesce())


def widths(subscripts: Lines) -> tuple[int, ...] | None:
    """What `most` of the box would be: the greatest number of elements between two of them along each dimension, and
    these included. None when there is none."""
    found: list[int] = []
    for line in subscripts:
        if line.width is None:
            return None
        found.append(line.width)
    return tuple(found)


def _hull_box(touched: isl.Set, context: isl.Set, region: Callable[[], isl.Set]) -> Box | None:
    """The box by the hulls of all sides: it may hold a little more, and its bounds are few. What is more ends where the
    region's elements end, as the array may."""
    n, limits, most = touched.dim(_SET), [], []
    whole = isl.Set.universe(touched.get_space())
    for k in range(n):
        line = _line(touched, k)
        hull = isl.Set.from_basic_set(line.intersect_params(context).simple_hull()).gist_params(context)
        hull = isl.Set.from_basic_set(hull.simple_hull().remove_redundancies())
        found = _limits(hull.simple_hull())
        pairs = isl.Map.from_domain_and_range(line, line).intersect_params(context).deltas()
        pairs = pairs.project_out(_PARAM, 0, pairs.dim(_PARAM))
        top = isl.Set.from_basic_set(pairs.simple_hull()).dim_max_val(0)
        if found is None or not top.is_int():
            return None
        found, hull = _within(found, hull, region(), k)
        limits.append(found)
        most.append(int(top.to_str()) + 1)
        whole = whole.intersect(_side(hull, k, touched))
    return Box((), (), tuple(most), whole, tuple(limits))


def _within(side: BoxSide, hull: isl.Set, region: isl.Set, k: int) -> tuple[BoxSide, isl.Set]:
    """A side and its points, cut where they go beyond subscript `k` of all elements of the region."""
    region = region.remove_divs() if _in_colours(region) else region
    if not (region.dim_has_any_lower_bound(_SET, k) and region.dim_has_any_upper_bound(_SET, k)):
        return side, hull
    low, high = (v.coalesce().align_params(hull.get_space()) for v in (region.dim_min(k), region.dim_max(k)))
    inside = _between(low, high)
    if low.n_piece() > CASES or high.n_piece() > CASES or hull.is_subset(inside):
        return side, hull
    return BoxSide((*side.lows, low), (*side.highs, high)), hull.intersect(inside)


def _limits(hull: isl.BasicSet) -> BoxSide | None:
    """The bounds of a line of points, if each is an expression without quotients."""
    lows, highs = [], []
    for c in hull.get_constraints():
        factor = c.get_coefficient_val(_SET, 0)
        if factor.is_zero():
            continue
        if not factor.abs().is_one() or hull.dim(isl.dim_type.div):
            return None
        bound = isl.PwAff.from_aff(c.get_bound(_SET, 0).project_domain_on_params())
        if c.is_equality() or factor.is_pos():
            lows.append(bound)
        if c.is_equality() or not factor.is_pos():
            highs.append(bound)
    return BoxSide(tuple(lows), tuple(highs)) if lows and highs else None


def _greatest(value: isl.PwAff) -> int | None:
    """The largest value, or None when there is none."""
    image = isl.Set.from_pw_aff(value)
    image = image.project_out(_PARAM, 0, image.dim(_PARAM))
    if image.is_empty() or not image.dim_has_any_upper_bound(_SET, 0):
        return None
    top = image.dim_max_val(0)
    return int(top.to_str()) if top.is_int() else None
